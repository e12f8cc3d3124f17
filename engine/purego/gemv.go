package purego

import (
	"github.com/fdridge/fdridge/engine/internal/matrix"
)

// A matvec holds the operands of the product y = alpha·A·x + beta·y, or y = alpha·Aᵀ·x + beta·y if trans is
// true. A is m×n.
type matvec struct {
	be          *Backend
	trans       bool
	m, n        int
	alpha, beta float64
	a           []float64
	lda         int
	x, y        []float64
	parts       int
}

type matvecTeam struct {
	team
	matvec
}

var matvecs pool[matvecTeam]

// Gemv computes the vector y = alpha·A·x + beta·y for the matrix A. If trans is true, it computes
// y = alpha·Aᵀ·x + beta·y.
func (b *Backend) Gemv(
	trans bool,
	alpha float64,
	a matrix.Matrix,
	x []float64,
	beta float64,
	y []float64,
) {
	ny := matrix.CheckMatVec(trans, &a, x, y)
	if a.Rows == 0 || a.Cols == 0 || alpha == 0 {
		scaleRow(beta, y[:ny])
		return
	}
	v := matvec{
		be:    b,
		trans: trans,
		m:     a.Rows,
		n:     a.Cols,
		alpha: alpha,
		beta:  beta,
		a:     a.Data,
		lda:   a.Stride,
		x:     x,
		y:     y,
		parts: 1,
	}
	if a.Rows*a.Cols >= minParallel/2 {
		v.parts = min(free(), ny/64+1)
	}
	if v.parts == 1 {
		v.doPart(0, nil)
		return
	}
	t := matvecs.get()
	t.matvec = v
	t.run(&t.matvec, v.parts)
	t.matvec = matvec{}
	matvecs.put(t)
}

func (v *matvec) doPart(i int, _ *scratch) {
	if v.trans {
		v.columns(partStart(v.n, i, v.parts, 8), partStart(v.n, i+1, v.parts, 8))
	} else {
		v.rows(partStart(v.m, i, v.parts, 4), partStart(v.m, i+1, v.parts, 4))
	}
}

// rows computes elements lo to hi of y = alpha·A·x + beta·y, hi excluded.
func (v *matvec) rows(lo, hi int) {
	k := v.be.kernel
	a := v.a
	lda := v.lda
	n := v.n
	x := &v.x[0]
	i := lo
	for ; i+4 <= hi; i += 4 {
		s0, s1, s2, s3 := k.Dot4(n, &a[i*lda], lda, x)
		y := v.y[i : i+4 : i+4]
		y[0], y[1], y[2], y[3] = v.sum(s0, y[0]), v.sum(s1, y[1]), v.sum(s2, y[2]), v.sum(s3, y[3])
	}
	for ; i < hi; i++ {
		v.y[i] = v.sum(k.Dot1(n, &a[i*lda], x), v.y[i])
	}
}

func (v *matvec) sum(s, y float64) float64 {
	if v.beta == 0 {
		return v.alpha * s
	}
	return v.alpha*s + v.beta*y
}

// strip is the number of columns of A that the method columns processes together. The elements of y for these
// columns stay in the first-level cache.
const strip = 2048

// columns computes elements lo to hi of y = alpha·Aᵀ·x + beta·y, hi excluded.
func (v *matvec) columns(lo, hi int) {
	k := v.be.kernel
	a := v.a
	lda := v.lda
	m := v.m
	for ; lo < hi; lo += strip {
		n := min(strip, hi-lo)
		scaleRow(v.beta, v.y[lo:lo+n])
		y := &v.y[lo]
		i := 0
		for ; i+4 <= m; i += 4 {
			x := v.x[i : i+4 : i+4]
			k.Axpy4(
				n,
				v.alpha*x[0],
				v.alpha*x[1],
				v.alpha*x[2],
				v.alpha*x[3],
				&a[i*lda+lo],
				lda,
				y,
			)
		}
		for ; i < m; i++ {
			k.Axpy1(n, v.alpha*v.x[i], &a[i*lda+lo], y)
		}
	}
}

// Symv computes y = A·x for a symmetric n×n matrix A. It reads each entry of the lower triangle once, and uses the
// entry for its row and for its column.
func (b *Backend) Symv(sym matrix.Matrix, x, y []float64) {
	n := matrix.CheckSquare(&sym)
	matrix.CheckLength(n, len(x))
	matrix.CheckLength(n, len(y))
	clear(y[:n])
	b.symvRows(0, n, sym, x, y)
}

// symvRows adds a part of the product A·x to y. The part comes from rows lo to hi of the lower triangle of A, hi
// excluded. Elements lo to hi of y must be zero on entry.
func (b *Backend) symvRows(lo, hi int, sym matrix.Matrix, x, y []float64) {
	a, lda := sym.Data, sym.Stride
	i := lo
	for ; i+4 <= hi; i += 4 {
		c := x[i : i+4 : i+4]
		s := y[i : i+4 : i+4]
		s[0], s[1], s[2], s[3] = b.kernel.Symv4(
			i,
			c[0],
			c[1],
			c[2],
			c[3],
			&a[i*lda],
			lda,
			&x[0],
			&y[0],
		)
		symvTriangle(4, a[i*lda+i:], lda, c, s)
	}
	for ; i < hi; i++ {
		row := &a[i*lda]
		y[i] += b.kernel.Dot1(i, row, &x[0]) + a[i*lda+i]*x[i]
		b.kernel.Axpy1(i, x[i], row, &y[0])
	}
}

// symvTriangle adds A·x to y for a small symmetric n×n matrix A. It reads only the lower triangle of A.
func symvTriangle(n int, a []float64, lda int, x, y []float64) {
	for i := range n {
		for j, v := range a[i*lda : i*lda+i] {
			y[i] += v * x[j]
			y[j] += v * x[i]
		}
		y[i] += a[i*lda+i] * x[i]
	}
}
