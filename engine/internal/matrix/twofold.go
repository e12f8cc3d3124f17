package matrix

// A Twofold is a matrix of sums that are kept as two numbers each, with bounds of their
// errors. See engine.Twofold.
type Twofold struct{ Hi, Lo, Err Matrix }

// IsTwofold panics unless all three matrices have so many rows and columns.
func IsTwofold(m *Twofold, rows, cols int) {
	Is(&m.Hi, rows, cols)
	Is(&m.Lo, rows, cols)
	Is(&m.Err, rows, cols)
}

// GradientTwofold checks the operands of R = A·Xᵀ − B + 1cᵀ, G = G + (W·R)ᵀ·A; a B without Data,
// and c and w without elements, are none.
func GradientTwofold(a, x, b *Matrix, c, w []float64, g, r *Twofold) {
	Check(a)
	Is(x, x.Rows, a.Cols)
	IsTwofold(g, x.Rows, a.Cols)
	IsTwofold(r, a.Rows, x.Rows)
	if b.Data != nil {
		Is(b, a.Rows, x.Rows)
	}
	if c != nil {
		Vector(x.Rows, len(c))
	}
	if w != nil {
		Vector(a.Rows, len(w))
	}
}
