// Package jacobi computes singular value decompositions for backends, from their
// own matrix products, symmetric eigensolver and QR.
package jacobi

import "math"

// Kernels are the operations of engine.Backend under the decomposition.
type Kernels interface {
	Gemm(transA, transB bool, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int)
	Syrk(trans bool, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int)
	Gemv(trans bool, m, n int, alpha float64, a []float64, lda int, x []float64, beta float64, y []float64)
	SymEig(n, k int, a []float64, lda int, w []float64, v []float64, ldv int, work []float64) (ok bool)
	SymEigWork(n, k int) int
	QR(m, n int, a []float64, lda int, work []float64)
	QRWork(m, n int) int
}

const (
	eps = 0x1p-52
	// orthogonal is the cosine below which two rows count as orthogonal.
	orthogonal = 4 * eps
	// negligible is the norm, relative to ‖A‖, below which inner products would
	// underflow and a row is taken for zero.
	negligible = 0x1p-400
	// sweeps is more than cyclic Jacobi is known to need.
	sweeps = 40
)

// SVD computes the singular values and right singular vectors by one-sided
// Jacobi rotations of the rows (Hestenes 1958; J. Demmel, K. Veselić, "Jacobi's
// Method is More Accurate than QR", SIAM J. Matrix Anal. Appl. 13, 1992), which
// are A·Aᵀ made diagonal without being formed: singular values come out accurate
// relative to themselves, and the rows end as Σ·Vᵀ. The eigenvectors of A·Aᵀ,
// applied first, leave only rows below √eps·‖A‖ to rotate. A tall A is reduced to
// its R before.
//
// LAPACK's dgesdd and gonum's Dgesvd are less accurate, enough so that a hundred
// shrinks of a sketch add up to more than is allowed.
//
// The arguments are those of engine.Backend's SVD, and have been checked.
func SVD(b Kernels, m, n int, a []float64, lda int, s []float64, vt []float64, ldvt int, work []float64) (ok bool) {
	q := min(m, n)
	if q == 0 {
		return true
	}
	exp, ok := normalise(m, n, a, lda)
	if !ok {
		return false
	}
	if m > n {
		b.QR(m, n, a, lda, work)
		for i := range n {
			clear(a[i*lda : i*lda+i])
		}
	}
	j := jacobi{be: b, m: q, n: n, a: a, lda: lda}
	j.gram, j.dots, work = work[:q*q], work[q*q:q*q+3], work[q*q+3:]
	if !j.precondition(work) || !j.rotate() {
		return false
	}
	j.finish(s[:q], vt, ldvt, work)
	for i := range q {
		s[i] = math.Ldexp(s[i], exp)
	}
	return true
}

// Work is the workspace of [SVD].
func Work(b Kernels, m, n int) int {
	q := min(m, n)
	if q <= 0 {
		return 0
	}
	pre := q*q + q + max(b.SymEigWork(q, q), q*panel)
	return q*q + 3 + max(pre, q+n, b.QRWork(m, n))
}

// normalise scales A by a power of two so that its largest entry is in [½, 1) and
// returns the exponent that undoes it; not ok for a NaN or an infinity.
func normalise(m, n int, a []float64, lda int) (exp int, ok bool) {
	var bits uint64 // of the largest magnitude: they order like numbers, NaN last
	for i := range m {
		for _, v := range a[i*lda : i*lda+n] {
			bits = max(bits, math.Float64bits(v)&^(1<<63))
		}
	}
	largest := math.Float64frombits(bits)
	if !(largest <= math.MaxFloat64) {
		return 0, false
	}
	_, exp = math.Frexp(largest)
	// The factor may itself be out of range, so it is applied in two halves.
	f, g := math.Ldexp(1, -exp/2), math.Ldexp(1, -exp-(-exp/2))
	for i := range m {
		row := a[i*lda : i*lda+n]
		for j, v := range row {
			row[j] = v * f * g
		}
	}
	return exp, true
}

// jacobi is the m×n matrix whose rows are being made orthogonal, m <= n.
type jacobi struct {
	be   Kernels
	m, n int
	a    []float64
	lda  int
	gram []float64 // m×m, lower triangle of A·Aᵀ
	dots []float64 // 3, see pair
}

func (j *jacobi) row(i int) []float64 { return j.a[i*j.lda : i*j.lda+j.n] }

// panel is how many columns are rotated at a time.
const panel = 128

// precondition replaces A by U·A, the rows of U being the eigenvectors of A·Aᵀ.
func (j *jacobi) precondition(work []float64) bool {
	m := j.m
	u, w, work := work[:m*m], work[m*m:m*m+m], work[m*m+m:]
	j.be.Syrk(false, m, j.n, 1, j.a, j.lda, 0, j.gram, m)
	if !j.be.SymEig(m, m, j.gram, m, w, u, m, work) {
		return false
	}
	for c := 0; c < j.n; c += panel {
		k := min(panel, j.n-c)
		for i := range m {
			copy(work[i*k:(i+1)*k], j.a[i*j.lda+c:])
		}
		j.be.Gemm(false, false, m, k, m, 1, u, m, work, k, 0, j.a[c:], j.lda)
	}
	return true
}

// rotate makes cyclic sweeps until every pair of rows is orthogonal relative to
// its own norms. Pairs that A·Aᵀ, formed once a sweep, shows to be orthogonal are
// passed over.
func (j *jacobi) rotate() bool {
	m := j.m
	for range sweeps {
		j.be.Syrk(false, m, j.n, 1, j.a, j.lda, 0, j.gram, m)
		rotated := false
		for i := range m {
			for k := range i {
				p, q, g := j.gram[k*m+k], j.gram[i*m+i], j.gram[i*m+k]
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

// pair makes rows p and q, p < q, orthogonal and reports whether they were not.
func (j *jacobi) pair(p, q int) bool {
	x, y, d := j.row(p), j.row(q), j.dots
	j.be.Gemv(false, 2, j.n, 1, j.a[p*j.lda:], (q-p)*j.lda, y, 0, d)
	j.be.Gemv(false, 1, j.n, 1, x, j.n, x, 0, d[2:])
	g, a, c := d[0], math.Sqrt(d[2]), math.Sqrt(d[1])
	if a < negligible || c < negligible {
		return false
	}
	if math.Abs(g)/a/c <= orthogonal*math.Sqrt(float64(j.n)) {
		return false
	}
	// tan of the angle that solves tan(2φ) = 2g/(a² − c²).
	zeta := (c/a - a/c) / (2 * (g / a / c))
	t := math.Copysign(1/(math.Abs(zeta)+math.Hypot(1, zeta)), zeta)
	cos := 1 / math.Hypot(1, t)
	sin := cos * t
	// (x, y) ← (cos·x − sin·y, cos·y + sin·x) as three shears.
	j.shear(-sin/(1+cos), y, x)
	j.shear(sin, x, y)
	j.shear(-sin/(1+cos), y, x)
	if a < c { // larger rows first: without it graded rows take many more sweeps (de Rijk 1989)
		for i, v := range x {
			x[i], y[i] = y[i], v
		}
	}
	return true
}

var one = []float64{1}

// shear adds f·x to y.
func (j *jacobi) shear(f float64, x, y []float64) {
	j.be.Gemv(true, 1, j.n, f, x, j.n, one, 1, y)
}

// norm returns the norm of row i, zero if that is negligible.
func (j *jacobi) norm(i int) float64 {
	x := j.row(i)
	j.be.Gemv(false, 1, j.n, 1, x, j.n, x, 0, j.dots)
	if norm := math.Sqrt(j.dots[0]); norm >= negligible {
		return norm
	}
	return 0
}

// finish writes the norms of the rows, descending, to s and the rows of length
// one to vt. Rows of norm zero are completed to an orthonormal set.
func (j *jacobi) finish(s, vt []float64, ldvt int, work []float64) {
	m, n := j.m, j.n
	order := work[:m]  // row numbers, exact as float64
	for i := range m { // by insertion: they are nearly sorted already
		norm := j.norm(i)
		k := i
		for ; k > 0 && s[k-1] < norm; k-- {
			s[k], order[k] = s[k-1], order[k-1]
		}
		s[k], order[k] = norm, float64(i)
	}
	for i := range m {
		v := vt[i*ldvt : i*ldvt+n]
		if s[i] == 0 {
			complete(i, n, vt, ldvt)
			continue
		}
		for k, x := range j.row(int(order[i])) {
			v[k] = x / s[i]
		}
	}
}

// complete writes to row i of v a unit vector orthogonal to the rows before it:
// the first unit vector e_c that is far enough from their span, less what lies in
// it.
func complete(i, n int, v []float64, ldv int) {
	row := v[i*ldv : i*ldv+n]
	for c := range n {
		clear(row)
		row[c] = 1
		for range 2 {
			for k := range i {
				w := v[k*ldv : k*ldv+n]
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
		if q*float64(n) >= 0.25 { // the squares sum to n−i ≥ 1 over all c
			f := 1 / math.Sqrt(q)
			for j := range row {
				row[j] *= f
			}
			return
		}
	}
}
