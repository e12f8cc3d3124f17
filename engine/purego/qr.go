package purego

import (
	"math"

	"github.com/fdridge/fdridge/internal/shape"
)

const (
	// qrPanel is the number of columns reduced between two updates of those right
	// of them, qrLeaf the number reduced one by one.
	qrPanel = 64
	qrLeaf  = 16
	// qrRows is the number of rows taken at a time, if there are not more columns.
	qrRows = 1024
)

// QR overwrites the upper trapezoid of A with R of A = Q·R by Householder
// reflections H = I − τ·vᵀv. As only R is wanted, a tall A is reduced in blocks of
// rows, each together with the R of those above it, so that it is read from memory
// once. In a block, panels of w columns are reduced in turn, and the reflections
// of each applied to the columns right of it in compact WY form,
//
//	H₍w₎·…·H₁ = I − Vᵀ·T·V,   T lower triangular,
//
// where V is w×(w+r) for the w rows of R and the r rows of the block that the
// panel lies in. V is the panel transposed, so that columns are contiguous.
//
// Sources: Schreiber, Van Loan, SIAM J. Sci. Stat. Comput. 10 (1989); Demmel,
// Grigori, Hoemmen, Langou, SIAM J. Sci. Comput. 34 (2012).
func (b *Backend) QR(m, n int, a []float64, lda int, work []float64) {
	shape.Matrix(m, n, lda, len(a))
	shape.Work(b.QRWork(m, n), len(work))
	q := min(m, n)
	rows := max(qrRows, n)
	for begin := 0; begin < m && q > 0; begin += rows {
		end := min(begin+rows, m)
		for j := 0; j < q; j += qrPanel {
			w := min(qrPanel, q-j)
			p := panel{b: b, w: w, n: n - j - w, top: a[j*lda+j:], lda: lda}
			if from := max(begin, j+w); from < end {
				p.r, p.below = end-from, a[from*lda+j:]
			}
			p.cut(work)
			p.reduce()
		}
	}
}

// QRWork is the workspace of QR: that of its largest panel.
func (b *Backend) QRWork(m, n int) int {
	if m <= 0 || n <= 0 {
		return 0
	}
	w := min(qrPanel, m, n)
	return w*(w+min(m, max(qrRows, n))) + w*w + 2*w*max(n, w)
}

// A panel is w columns to be reduced: w rows of R and r rows below, with n columns
// right of it.
type panel struct {
	b          *Backend
	w, r, n    int
	top, below []float64 // both begin with the panel and go on to the right
	lda        int

	v    []float64 // w×ldv
	ldv  int
	t    []float64 // w×w
	x, y []float64 // w×max(n, w)
}

func (p *panel) cut(work []float64) {
	p.ldv = p.w + p.r
	size := p.w * max(p.n, p.w)
	p.v, work = work[:p.w*p.ldv], work[p.w*p.ldv:]
	p.t, work = work[:p.w*p.w], work[p.w*p.w:]
	p.x, p.y = work[:size], work[size:2*size]
}

// reduce replaces top by R, zeros below its diagonal, and applies the reflections
// to the columns right of the panel:
//
//	C ← C − Vᵀ·(T·(V·C)).
func (p *panel) reduce() {
	b, w, n := p.b, p.w, p.n
	b.transpose(w, w, p.top, p.lda, p.v, p.ldv)
	b.transpose(p.r, w, p.below, p.lda, p.v[w:], p.ldv)
	for i := range w {
		clear(p.top[i*p.lda : i*p.lda+i])
	}
	clear(p.t)
	p.columns(0, w)
	if n == 0 {
		return
	}
	top := p.top[w:]
	b.Gemm(false, false, w, n, w, 1, p.v, p.ldv, top, p.lda, 0, p.x, n)
	if p.r > 0 {
		b.Gemm(false, false, w, n, p.r, 1, p.v[w:], p.ldv, p.below[w:], p.lda, 1, p.x, n)
	}
	b.Gemm(false, false, w, n, w, 1, p.t, w, p.x, n, 0, p.y, n)
	b.Gemm(true, false, w, n, w, -1, p.v, p.ldv, p.y, n, 1, top, p.lda)
	if p.r > 0 {
		b.Gemm(true, false, p.r, n, w, -1, p.v[w:], p.ldv, p.y, n, 1, p.below[w:], p.lda)
	}
}

// columns reduces columns lo to hi of the panel, rows of v, to which the
// reflections before lo have been applied, and computes their T. Many are taken
// by halves, V = [V₁; V₂]:
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
	b, w := p.b, p.w
	mid := lo + (hi-lo)/2
	h, k, length := mid-lo, hi-mid, p.ldv-lo
	v1, v2 := p.v[lo*p.ldv+lo:], p.v[mid*p.ldv+lo:]
	t1, t21, t2 := p.t[lo*w+lo:], p.t[mid*w+lo:], p.t[mid*w+mid:]

	// V₂ ← V₂ − ((V₂·V₁ᵀ)·T₁ᵀ)·V₁ are the columns of the second half.
	p.columns(lo, mid)
	b.Gemm(false, true, k, h, length, 1, v2, p.ldv, v1, p.ldv, 0, p.x, h)
	b.Gemm(false, true, k, h, h, 1, p.x, h, t1, w, 0, p.y, h)
	b.Gemm(false, false, k, length, h, -1, p.y, h, v1, p.ldv, 1, v2, p.ldv)
	p.columns(mid, hi)

	b.Gemm(false, true, k, h, length, 1, v2, p.ldv, v1, p.ldv, 0, p.x, h)
	b.Gemm(false, false, k, h, k, -1, t2, w, p.x, h, 0, p.y, h)
	b.Gemm(false, false, k, h, h, 1, p.y, h, t1, w, 0, t21, w)
}

// column reduces column c, row x of v, after applying the reflections from lo to
// c. What is above the diagonal moves to R and leaves zeros.
func (p *panel) column(lo, c int) {
	b, w, done := p.b, p.w, c-lo
	length := p.ldv - lo
	v, x := p.v[lo*p.ldv+lo:], p.v[c*p.ldv+lo:c*p.ldv+p.ldv]
	t, s, y := p.t[lo*w+lo:], p.x[:done], p.y[:done]

	b.Gemv(false, done, length, 1, v, p.ldv, x, 0, s)
	for i := range y {
		y[i] = 0
		for q, f := range t[i*w : i*w+i+1] {
			y[i] += f * s[q]
		}
	}
	b.Gemv(true, done, length, -1, v, p.ldv, y, 1, x)

	column := p.v[c*p.ldv:]
	for i := range c {
		p.top[i*p.lda+c] = column[i]
	}
	clear(column[:c])
	beta, tau := b.reflector(x[done:])
	p.top[c*p.lda+c] = beta

	// Row c of T is (−τ·(V·v)ᵀ·T, τ).
	b.Gemv(false, done, length, -tau, v, p.ldv, x, 0, s)
	row := t[done*w : done*w+done+1]
	for q := range done {
		row[q] = 0
		for i := q; i < done; i++ {
			row[q] += s[i] * t[i*w+q]
		}
	}
	row[done] = tau
}

// transpose copies the m×n matrix A to X (n×m).
func (b *Backend) transpose(m, n int, a []float64, lda int, x []float64, ldx int) {
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

// reflector overwrites x with the v, beginning with a one, of the reflection
// H = I − tau·vᵀv that takes x to (beta, 0, …, 0).
func (b *Backend) reflector(x []float64) (beta, tau float64) {
	n := len(x)
	norm2, exp := b.kernel.Dot1(n, &x[0], &x[0]), 0
	if !(0x1p-900 <= norm2 && norm2 <= 0x1p1000) { // squares may have been lost
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

// normalise multiplies x by the power of two 2⁻ᵉˣᵖ that brings its largest
// magnitude into [½, 1), if that is a finite number other than zero.
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
