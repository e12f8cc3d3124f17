package matrix

// A Twofold is a matrix with about twice the digits of float64. Each element is stored as two numbers whose sum is
// its value, and has an error bound. See engine.Twofold.
type Twofold struct{ Hi, Lo, Err Matrix }

// CheckTwofold panics unless all three matrices are rows×cols.
func CheckTwofold(m *Twofold, rows, cols int) {
	CheckShape(&m.Hi, rows, cols)
	CheckShape(&m.Lo, rows, cols)
	CheckShape(&m.Err, rows, cols)
}

// CheckGradientTwofold panics unless the shapes fit R = A·Xᵀ − B + 1·cᵀ and G = G + (W·R)ᵀ·A. Here 1 is a
// column of ones, and W is the diagonal matrix of the weights w. The matrices x, b and g may have no Data, and c
// and w may be nil.
func CheckGradientTwofold(
	a, x, b *Matrix,
	c, w []float64,
	g, r *Twofold,
) {
	Check(a)
	if x.Data != nil {
		CheckShape(x, x.Rows, a.Cols)
	}
	if g.Hi.Data != nil {
		CheckTwofold(g, x.Rows, a.Cols)
	}
	CheckTwofold(r, a.Rows, x.Rows)
	if b.Data != nil {
		CheckShape(b, a.Rows, x.Rows)
	}
	if c != nil {
		CheckLength(x.Rows, len(c))
	}
	if w != nil {
		CheckLength(a.Rows, len(w))
	}
}
