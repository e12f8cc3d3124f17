package purego

import (
	"math"

	"github.com/fdridge/fdridge/engine/internal/matrix"
)

const (
	// qrPanel is the number of columns in a panel. A panel is reduced before the columns right of it are updated.
	// In a panel, qrLeaf columns at a time are reduced one by one.
	qrPanel = 64
	qrLeaf  = 16
	// max(qrRows, n) rows of A (m×n) are processed together.
	qrRows = 1024
)

// QR overwrites the upper trapezoid of A with R of A = Q·R, by Householder reflections H = I − τ·vᵀv. Because
// only R is needed, a tall A is reduced in blocks of rows, each together with the R of the rows above. So A is read
// from memory once. A block is reduced in panels of w columns. The reflections of a panel are applied to the columns
// to its right in compact WY form,
//
//	H₍w₎·…·H₁ = I − Vᵀ·T·V,   T lower triangular.
//
// V is w×(w+r), for the w rows of R and the r rows of the block. It is transposed, so that columns of the panel are
// contiguous.
//
// Sources: Schreiber, Van Loan, SIAM J. Sci. Stat. Comput. 10 (1989); Demmel, Grigori, Hoemmen, Langou, SIAM J. Sci.
// Comput. 34 (2012).
func (b *Backend) QR(a matrix.Matrix, work []float64) {
	matrix.Check(&a)
	m, n := a.Rows, a.Cols
	matrix.CheckWork(b.QRWork(m, n), len(work))
	q := min(m, n)
	rows := max(qrRows, n)
	for begin := 0; begin < m && q > 0; begin += rows {
		end := min(begin+rows, m)
		for j := 0; j < q; j += qrPanel {
			w := min(qrPanel, q-j)
			p := panel{
				b:     b,
				w:     w,
				n:     n - j - w,
				top:   a.Slice(j, j+w, j, n),
				below: a.Slice(end, end, j, n),
			}
			if from := max(begin, j+w); from < end {
				p.below = a.Slice(from, end, j, n)
			}
			p.cut(work)
			p.reduce()
		}
	}
}

// QRWork returns the length of the workspace of QR for an m×n matrix.
func (b *Backend) QRWork(m, n int) int {
	if m <= 0 || n <= 0 {
		return 0
	}
	w := min(qrPanel, m, n)
	return w*(w+min(m, max(qrRows, n))) + w*w + 2*w*max(n, w)
}

// A panel is a set of w columns to reduce. Its matrices have w rows of the factor R and r rows of A below them. n
// is the number of columns right of the panel.
type panel struct {
	b          *Backend
	w, n       int
	top, below matrix.Matrix // each contains the panel and the columns to its right

	v    matrix.Matrix // w×(w+r)
	t    matrix.Matrix // w×w
	x, y []float64     // w×max(n, w)
}

func (p *panel) cut(work []float64) {
	length := p.w + p.below.Rows
	size := p.w * max(p.n, p.w)
	p.v = matrix.View(p.w, length, work[:p.w*length])
	work = work[p.w*length:]
	p.t = matrix.View(p.w, p.w, work[:p.w*p.w])
	work = work[p.w*p.w:]
	p.x = work[:size]
	p.y = work[size : 2*size]
}

// reduce reduces the columns of the panel and writes their rows of the factor R to top, with zeros below the
// diagonal. The product of the reflections of the panel is I − Vᵀ·T·V, where the rows of V are their vectors
// and T is lower triangular. reduce applies this product to the columns C right of the panel:
//
//	C ← C − Vᵀ·(T·(V·C)).
func (p *panel) reduce() {
	b := p.b
	w := p.w
	n := p.n
	length := p.v.Cols
	r := p.below.Rows
	above := p.v.Slice(0, w, 0, w)
	under := p.v.Slice(0, w, w, length)
	b.transpose(p.top.Slice(0, w, 0, w), above)
	b.transpose(p.below.Slice(0, r, 0, w), under)
	for i := range w {
		clear(p.top.Row(i)[:i])
	}
	clear(p.t.Data)
	p.columns(0, w)
	if n == 0 {
		return
	}
	top := p.top.Slice(0, w, w, w+n)
	below := p.below.Slice(0, r, w, w+n)
	x, y := matrix.View(w, n, p.x), matrix.View(w, n, p.y)
	b.Gemm(false, false, 1, above, top, 0, x)
	if r > 0 {
		b.Gemm(false, false, 1, under, below, 1, x)
	}
	b.Gemm(false, false, 1, p.t, x, 0, y)
	b.Gemm(true, false, -1, above, y, 1, top)
	if r > 0 {
		b.Gemm(true, false, -1, under, y, 1, below)
	}
}

// columns reduces columns lo to hi of the panel, hi excluded, and computes the triangular factor T of their
// reflections. Row c of v holds column c. The reflections of the columns before lo must have been applied. More
// than qrLeaf columns are split in half. If the rows of V₁ and V₂ are the reflections of the halves, with factors
// T₁ and T₂, then
//
//	T = [ T₁            ]
//	    [−T₂·V₂·V₁ᵀ·T₁ T₂].
//
// Source: Elmroth, Gustavson, IBM J. Res. Dev. 44 (2000).
func (p *panel) columns(lo, hi int) {
	if hi-lo <= qrLeaf {
		for c := lo; c < hi; c++ {
			p.column(lo, c)
		}
		return
	}
	b, length := p.b, p.v.Cols
	mid := lo + (hi-lo)/2
	h, k := mid-lo, hi-mid
	v1 := p.v.Slice(lo, mid, lo, length)
	v2 := p.v.Slice(mid, hi, lo, length)
	t1 := p.t.Slice(lo, mid, lo, mid)
	t21 := p.t.Slice(mid, hi, lo, mid)
	t2 := p.t.Slice(mid, hi, mid, hi)
	x, y := matrix.View(k, h, p.x), matrix.View(k, h, p.y)

	// The first call reduces the first half. Its reflections are then in V₁, with the factor T₁. The rows of V₂
	// hold the columns of the second half. The update V₂ ← V₂ − ((V₂·V₁ᵀ)·T₁ᵀ)·V₁ applies the
	// reflections to them.
	p.columns(lo, mid)
	b.Gemm(false, true, 1, v2, v1, 0, x)
	b.Gemm(false, true, 1, x, t1, 0, y)
	b.Gemm(false, false, -1, y, v1, 1, v2)
	p.columns(mid, hi)

	b.Gemm(false, true, 1, v2, v1, 0, x)
	b.Gemm(false, false, -1, t2, x, 0, y)
	b.Gemm(false, false, 1, y, t1, 0, t21)
}

// column applies reflections lo to c−1 to column c of the panel, and then reduces the column. Row c of v holds
// column c. The part of the column above the diagonal is copied to the factor R and set to zero in v.
func (p *panel) column(lo, c int) {
	b := p.b
	done := c - lo
	v := p.v.Slice(lo, c, lo, p.v.Cols)
	column := p.v.Row(c)
	x := column[lo:]
	t := p.t.Slice(lo, c+1, lo, c+1)
	s := p.x[:done]
	y := p.y[:done]

	b.Gemv(false, 1, v, x, 0, s)
	for i := range y {
		y[i] = 0
		for q, f := range t.Row(i)[:i+1] {
			y[i] += f * s[q]
		}
	}
	b.Gemv(true, -1, v, y, 1, x)

	for i := range c {
		p.top.Row(i)[c] = column[i]
	}
	clear(column[:c])
	beta, tau := b.reflector(x[done:])
	p.top.Row(c)[c] = beta

	// Compute row c of the triangular factor T. The rows of V are the reflections lo to c−1, and v is reflection c
	// with the factor τ. Then row c is (−τ·(V·v)ᵀ·T, τ).
	b.Gemv(false, -tau, v, x, 0, s)
	row := t.Row(done)
	for q := range done {
		row[q] = 0
		for i := q; i < done; i++ {
			row[q] += s[i] * t.Data[i*t.Stride+q]
		}
	}
	row[done] = tau
}

// transpose writes the transpose of the m×n matrix from to the n×m matrix to.
func (b *Backend) transpose(from, to matrix.Matrix) {
	m := from.Rows
	n := from.Cols
	a := from.Data
	lda := from.Stride
	x := to.Data
	ldx := to.Stride
	unit := b.kernel.Unit
	i := 0
	for ; i+unit <= m; i += unit {
		b.kernel.PackT(n, &a[i*lda], lda, &x[i], ldx)
	}
	for ; i < m; i++ {
		for j, v := range a[i*lda : i*lda+n] {
			x[j*ldx+i] = v
		}
	}
}

// reflector computes the reflection H = I − tau·vᵀv that maps the vector x to (beta, 0, …, 0), and overwrites x
// with v. The first element of v is 1.
func (b *Backend) reflector(x []float64) (beta, tau float64) {
	n := len(x)
	norm2 := b.kernel.Dot1(n, &x[0], &x[0])
	exp := 0
	if !(0x1p-900 <= norm2 && norm2 <= 0x1p1000) { // squares may have overflowed or underflowed
		exp = normalise(x)
		norm2 = b.kernel.Dot1(n, &x[0], &x[0])
	}
	if norm2 == 0 {
		x[0] = 1
		return 0, 2
	}
	alpha := x[0]
	beta = -math.Copysign(math.Sqrt(norm2), alpha)
	f := 1 / (alpha - beta)
	for i := range x {
		x[i] *= f
	}
	x[0] = 1
	return math.Ldexp(beta, exp), (beta - alpha) / beta
}

// normalise multiplies x by a power of two, 2⁻ᵉˣᵖ, so that the largest magnitude is in [½, 1). If x is zero
// or not finite, it does not change x.
func normalise(x []float64) (exp int) {
	var top float64
	for _, v := range x {
		top = max(top, math.Abs(v))
	}
	_, exp = math.Frexp(top)
	for i, v := range x {
		x[i] = math.Ldexp(v, -exp)
	}
	return exp
}
