package matrix

// A Twofold is a matrix whose elements are unevaluated sums of two numbers, with error bounds. See engine.Twofold.
type Twofold struct{ Hi, Lo, Err Matrix }

// CheckTwofold panics unless all three matrices are rows×cols.
func CheckTwofold(m *Twofold, rows, cols int) {
	CheckShape(&m.Hi, rows, cols)
	CheckShape(&m.Lo, rows, cols)
	CheckShape(&m.Err, rows, cols)
}

// CheckGradientTwofold checks the operands of R = A·Xᵀ − B + 1cᵀ, G = G + (W·R)ᵀ·A. X, B and G without
// Data and empty c and w are valid.
func CheckGradientTwofold(a, x, b *Matrix, c, w []float64, g, r *Twofold) {
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
