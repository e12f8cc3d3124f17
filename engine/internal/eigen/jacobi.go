package eigen

import (
	"math"

	"github.com/fdridge/fdridge/engine/internal/matrix"
)

// SVDKernels are the operations of engine.Backend that SVD uses.
type SVDKernels interface {
	Gemm(transA, transB bool, alpha float64, a, b matrix.Matrix, beta float64, c matrix.Matrix)
	Syrk(trans bool, alpha float64, a matrix.Matrix, beta float64, c matrix.Matrix)
	Gemv(trans bool, alpha float64, a matrix.Matrix, x []float64, beta float64, y []float64)
	SymEig(a matrix.Matrix, w []float64, v matrix.Matrix, work []float64) (ok bool)
	SymEigWork(n, k int) int
	QR(a matrix.Matrix, work []float64)
	QRWork(m, n int) int
}

const (
	// orthogonal is the largest cosine of the angle between two rows that are treated as orthogonal.
	orthogonal = 4 * eps
	// A row counts as zero if its norm is below negligibleRow·‖A‖. Inner products of smaller rows would underflow.
	negligibleRow = 0x1p-400
	// sweeps is the largest number of sweeps over all pairs of rows. Cyclic Jacobi iterations need fewer in
	// practice.
	sweeps = 40
)

// SVD computes the singular values and right singular vectors of A. It uses one-sided Jacobi rotations of the rows
// (Hestenes 1958; J. Demmel, K. Veselić, "Jacobi's Method is More Accurate than QR", SIAM J. Matrix Anal. Appl. 13,
// 1992).
//
// Each rotation makes two rows orthogonal. At the end all rows are orthogonal. Their norms are the singular values.
// The rows, divided by their norms, are the right singular vectors. The rotations are computed from the rows, not
// from a rounded product A·Aᵀ, so that small singular values have small relative errors.
//
// Two steps before the rotations save time. If A has more rows than columns, it is replaced by the factor R of its
// QR factorisation. The rows are then multiplied by the eigenvectors of A·Aᵀ. After this step, only rows of norm
// below √eps·‖A‖ still need rotations.
//
// LAPACK's dgesdd and gonum's Dgesvd are less accurate. After a hundred shrinks of a sketch their errors would
// exceed the tolerances of our tests.
//
// The arguments are the arguments of SVD in engine.Backend and must be valid.
func SVD(
	b SVDKernels,
	a matrix.Matrix,
	s []float64,
	vt matrix.Matrix,
	work []float64,
) (ok bool) {
	m, n := a.Rows, a.Cols
	q := min(m, n)
	if q == 0 {
		return true
	}
	exp, ok := matrix.Normalise(a, false)
	if !ok {
		return false
	}
	if m > n {
		b.QR(a, work)
		for i := range n {
			clear(a.Row(i)[:i])
		}
	}
	j := jacobi{
		be: b,
		m:  q,
		n:  n,
		a:  a.Slice(0, q, 0, n),
	}
	j.gram = work[:q*q]
	j.dots = work[q*q : q*q+3]
	work = work[q*q+3:]
	if !j.precondition(work) || !j.rotate() {
		return false
	}
	j.finish(s[:q], vt, work)
	for i := range q {
		s[i] = math.Ldexp(s[i], exp)
	}
	return true
}

// SVDWork returns the length of the workspace of [SVD].
func SVDWork(b SVDKernels, m, n int) int {
	q := min(m, n)
	if q <= 0 {
		return 0
	}
	pre := q*q + q + max(b.SymEigWork(q, q), q*panel)
	return q*q + 3 + max(pre, q+n, b.QRWork(m, n))
}

// A jacobi holds the m×n matrix A whose rows are rotated until they are orthogonal. It has at most as many rows as
// columns.
type jacobi struct {
	be   SVDKernels
	m, n int
	a    matrix.Matrix
	gram []float64 // m×m, lower triangle of A·Aᵀ
	dots []float64 // workspace of pair, 3
}

func (j *jacobi) row(i int) []float64 { return j.a.Row(i) }

// panel is the number of columns of A that precondition multiplies by the eigenvectors at a time.
const panel = 128

// precondition replaces A by U·A, where the rows of U are the eigenvectors of A·Aᵀ. The rows of U·A are nearly
// orthogonal. It returns false if the eigensolver does not converge.
func (j *jacobi) precondition(work []float64) bool {
	m := j.m
	u := work[:m*m]
	w := work[m*m : m*m+m]
	work = work[m*m+m:]
	j.be.Syrk(false, 1, j.a, 0, matrix.View(m, m, j.gram))
	gram := matrix.View(m, m, j.gram)
	if !j.be.SymEig(gram, w, matrix.View(m, m, u), work) {
		return false
	}
	for c := 0; c < j.n; c += panel {
		k := min(panel, j.n-c)
		for i := range m {
			copy(work[i*k:(i+1)*k], j.row(i)[c:])
		}
		vectors := matrix.View(m, m, u)
		columns := matrix.View(m, k, work)
		j.be.Gemm(false, false, 1, vectors, columns, 0, j.a.Slice(0, m, c, c+k))
	}
	return true
}

// rotate makes all pairs of rows orthogonal, relative to their norms. A sweep goes through all pairs of rows and
// rotates those that are not orthogonal yet. Before each sweep, rotate computes A·Aᵀ, and then skips pairs that are
// orthogonal according to this product. It returns false if pairs are left after the largest number of sweeps.
func (j *jacobi) rotate() bool {
	m := j.m
	for range sweeps {
		j.be.Syrk(false, 1, j.a, 0, matrix.View(m, m, j.gram))
		rotated := false
		for i := range m {
			for k := range i {
				p := j.gram[k*m+k]
				q := j.gram[i*m+i]
				g := j.gram[i*m+k]
				if math.Abs(g) <= orthogonal*math.Sqrt(p)*math.Sqrt(q) {
					continue
				}
				if j.pair(k, i) {
					rotated = true
				}
			}
		}
		if !rotated {
			return true
		}
	}
	return false
}

// pair rotates rows p and q, where p < q, so that they become orthogonal. It then returns true. If the rows are
// orthogonal already, or one of them is negligible, it changes nothing and returns false.
func (j *jacobi) pair(p, q int) bool {
	x := j.row(p)
	y := j.row(q)
	d := j.dots
	rows := matrix.Strided(2, j.n, j.a.Data[p*j.a.Stride:], (q-p)*j.a.Stride)
	j.be.Gemv(false, 1, rows, y, 0, d)
	j.be.Gemv(false, 1, matrix.View(1, j.n, x), x, 0, d[2:])
	g := d[0]
	a := math.Sqrt(d[2])
	c := math.Sqrt(d[1])
	if a < negligibleRow || c < negligibleRow {
		return false
	}
	if math.Abs(g)/a/c <= orthogonal*math.Sqrt(float64(j.n)) {
		return false
	}
	// t is tan(φ) for the angle φ of the rotation that makes the rows x and y orthogonal. For the norm a of x, the
	// norm c of y and their inner product g, this angle satisfies tan(2φ) = 2g/(c² − a²).
	zeta := (c/a - a/c) / (2 * (g / a / c))
	t := math.Copysign(1/(math.Abs(zeta)+math.Hypot(1, zeta)), zeta)
	cos := 1 / math.Hypot(1, t)
	sin := cos * t
	// Rotate: x becomes cos·x − sin·y, and y becomes cos·y + sin·x. The rotation is computed as three shears. Each
	// shear adds a multiple of one row to the other.
	j.shear(-sin/(1+cos), y, x)
	j.shear(sin, x, y)
	j.shear(-sin/(1+cos), y, x)
	if a < c { // the larger row first; otherwise graded rows need many more sweeps (de Rijk 1989)
		for i, v := range x {
			x[i] = y[i]
			y[i] = v
		}
	}
	return true
}

var one = []float64{1}

// shear adds f·x to y.
func (j *jacobi) shear(f float64, x, y []float64) {
	j.be.Gemv(true, f, matrix.View(1, j.n, x), one, 1, y)
}

// norm returns the norm of row i, or 0 if the norm is below negligibleRow.
func (j *jacobi) norm(i int) float64 {
	x := j.row(i)
	j.be.Gemv(false, 1, matrix.View(1, j.n, x), x, 0, j.dots)
	if norm := math.Sqrt(j.dots[0]); norm >= negligibleRow {
		return norm
	}
	return 0
}

// finish writes the norms of the rows to s, largest first. In the same order, it writes the rows to vt, each
// divided by its norm. A row of norm zero is replaced by a unit vector that is orthogonal to all rows of vt before
// it.
func (j *jacobi) finish(s []float64, vt matrix.Matrix, work []float64) {
	m := j.m
	order := work[:m]  // row numbers, which float64 represents exactly
	for i := range m { // insertion sort, because they are nearly sorted
		norm := j.norm(i)
		k := i
		for ; k > 0 && s[k-1] < norm; k-- {
			s[k], order[k] = s[k-1], order[k-1]
		}
		s[k] = norm
		order[k] = float64(i)
	}
	for i := range m {
		v := vt.Row(i)
		if s[i] == 0 {
			complete(i, vt)
			continue
		}
		for k, x := range j.row(int(order[i])) {
			v[k] = x / s[i]
		}
	}
}

// complete overwrites row i of v with a unit vector that is orthogonal to the rows of v before row i. It starts
// from a coordinate vector that is not too close to the span of these rows, and orthogonalises it.
func complete(i int, v matrix.Matrix) {
	n := v.Cols
	row := v.Row(i)
	for c := range n {
		clear(row)
		row[c] = 1
		for range 2 {
			for k := range i {
				w := v.Row(k)
				var along float64
				for j, x := range w {
					along += x * row[j]
				}
				for j, x := range w {
					row[j] -= along * x
				}
			}
		}
		var q float64
		for _, x := range row {
			q += x * x
		}
		if q*float64(n) >= 0.25 { // such a c exists, because the squares sum to n−i ≥ 1 over all c
			f := 1 / math.Sqrt(q)
			for j := range row {
				row[j] *= f
			}
			return
		}
	}
}
