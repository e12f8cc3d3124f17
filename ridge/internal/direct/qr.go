package direct

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// tsqr keeps the triangular factor R of [A Y] = QR for d features A and t targets Y. It stacks new rows below R and
// factors the stack. R has the blocks
//
//	R = | R_A  Z |
//	    |  0   P |
//
// For each target b, let z and ρ be its columns of Z and P. Then ‖Ax − b‖² = ‖R_A x − z‖² + ‖ρ‖².
//
// To solve at a penalty γ, tsqr factors R stacked on √γ·[I 0]. The factor has the same form, with blocks R_γ and
// z_γ such that R_γᵀR_γ = AᵀA + γI. The ridge solution x solves R_γ x = z_γ.
type tsqr struct {
	be    engine.Backend
	d, t  int
	stack []float64 // R above the new rows; (q + max(roundoff.StageRows, q))×q
	r     []float64 // q×q, R after the last fold
	by    *folder
	col   []float64

	folds   int
	longest int // largest number of rows in a fold
	// share bounds the sum of the backward errors of all factorizations so far, relative to the norms of the final
	// columns.
	share float64
	off   []float64 // bounds the norm of the total backward error in each column
}

// NewQR returns a factorization that accumulates the triangular factor of [A Y], for d features A and t targets Y.
// It always supports [System.Gram].
func NewQR(be engine.Backend, d, t int, _ bool) Factorization {
	q := d + t
	rows := q + max(roundoff.StageRows, q)
	return &tsqr{
		be:    be,
		d:     d,
		t:     t,
		col:   make([]float64, q),
		off:   make([]float64, q),
		stack: make([]float64, rows*q),
		r:     make([]float64, q*q),
		by:    newFolder(be, q, rows-q),
	}
}

func (e *tsqr) buffer() []float64 {
	q := e.d + e.t
	return e.stack[q*q:]
}

func (e *tsqr) fold(m int) {
	share := e.factor(m)
	e.share += share
	e.norms(e.col)
	for j, size := range e.col {
		e.off[j] += share*size + roundoff.LostFold(float64(e.d+e.t), float64(m))
	}
	e.folds++
	e.longest = max(e.longest, m)
}

// factor replaces R, at the top of the stack, by the triangular factor of R and the m rows below it. The result
// share bounds the backward error of each column, relative to the norm of the column.
func (e *tsqr) factor(m int) (share float64) {
	q := e.d + e.t
	factor := engine.View(q, q, e.stack)
	rows := engine.View(m, q, e.stack[q*q:])
	motion := e.by.fold(factor, rows)
	return roundoff.Unit * roundoff.QRFold(float64(q), float64(m), motion)
}

// norms overwrites col with the norms of R's columns.
func (e *tsqr) norms(col []float64) {
	q := e.d + e.t
	clear(col)
	for i := range q {
		for j := i; j < q; j++ {
			col[j] = math.Hypot(col[j], e.stack[i*q+j])
		}
	}
}

func (e *tsqr) columns() []float64 {
	copy(e.r, e.stack)
	return e.col
}

// gram returns RᵀR as an approximation of [A Y]ᵀ[A Y], with a bound on its error. The error comes from the product
// and from the backward error E of R, because RᵀR = ([A Y] + E)ᵀ([A Y] + E).
func (e *tsqr) gram() (k []float64, rounding float64) {
	q := e.d + e.t
	k = make([]float64, q*q)
	e.be.Syrk(true, 1, engine.View(q, q, e.r), 0, engine.View(q, q, k))
	share := secondOrder(e.share, e.share)
	inProduct := roundoff.GramSum(float64(q)) * (1 + share) * (1 + share)
	return k, inProduct + share*(2+share)/roundoff.Unit
}

// backward returns a bound on the norm of the backward error of the computed factor in column j of [A Y]. This
// error is the change of the column that makes the factor exact. The bound includes the errors of solving with
// the factor and of evaluating Ax − b.
func (e *tsqr) backward(j int) float64 {
	solving := roundoff.Unit * roundoff.QRSolve(float64(e.d+e.t))
	return secondOrder(e.share, e.off[j]+solving*e.col[j])
}

// secondOrder adds the second-order terms to off, a bound on backward errors. share is the same bound relative to
// the norms of the columns. If share is not small, no bound is known, and secondOrder returns MaxFloat64.
func secondOrder(share, off float64) float64 {
	if !(share <= 0x1p-10) {
		return math.MaxFloat64 // not +Inf, because its product with zero must be zero
	}
	return off * roundoff.Inflate
}

// triangle stacks the factor of the rows on √γ·I, and writes the triangular factor of this stack to the top of
// e.stack. The result stacked bounds the backward error of this step in each column, relative to the norm of the
// column. It is 0 for γ = 0, because nothing is stacked then.
func (e *tsqr) triangle(gamma float64) (stacked float64) {
	d := e.d
	q := e.d + e.t
	copy(e.stack, e.r)
	if gamma == 0 {
		return 0
	}
	below := e.stack[q*q : (q+d)*q]
	clear(below)
	for i := range d {
		below[i*q+i] = math.Sqrt(gamma)
	}
	stacked = e.factor(d) + roundoff.Unit // and the rounding of √γ
	return secondOrder(stacked, stacked)
}

func (e *tsqr) solve(gamma float64) (*certify.Factored, int) {
	d := e.d
	t := e.t
	q := e.d + e.t
	stacked := e.triangle(gamma) // backward error of factoring with √γ·I
	if gamma == 0 {
		longest := float64(e.longest)
		folds := float64(e.folds)
		pivot := roundoff.Unit * roundoff.QRPivot(float64(q), longest, folds)
		for j := range d {
			if !(math.Abs(e.r[j*q+j]) > pivot*e.col[j]) {
				return nil, j
			}
		}
	}
	s := &certify.Factored{
		Gamma:    gamma,
		X:        make([]float64, t*d),
		Triangle: certify.Triangle{R: e.stack, Ld: q},
		Data:     make([]float64, q),
		Residual: make([]float64, t*d),
		RSS:      make([]float64, t),
		RSSRound: make([]float64, t),
	}

	root := math.Sqrt(gamma)
	lost := roundoff.LostFold(float64(q), float64(d))
	inFactor := make([]float64, d) // for each column, the backward error of factoring with √γ·I
	for j := range d {
		inFactor[j] = stacked*math.Hypot(e.col[j], root) + lost
	}
	solving := roundoff.Inflate * roundoff.Unit * roundoff.QRSolve(float64(q))
	for j := range q {
		s.Data[j] = e.backward(j)
		if j < d {
			s.Data[j] += inFactor[j] + solving*root
		} else {
			s.Data[j] += stacked*e.col[j] + lost
		}
	}

	for j := range t {
		x := s.X[j*d : (j+1)*d]
		for i := range x {
			x[i] = e.stack[i*q+d+j]
		}
		backSubstitute(d, e.stack, q, x)
	}
	// If √γ is far larger than the norm of a column, √γ determines the backward error of the column. The normal
	// equations are then well conditioned, and one step of refinement removes this error.
	frob := vec.Norm(e.col[:d])
	if gamma > 1000*float64(d)*roundoff.Eps*frob*frob {
		e.refine(s)
		s.Stacked = inFactor
	}

	v := make([]float64, q)
	for j := range t {
		x := s.X[j*d : (j+1)*d]
		rn := vec.Norm(e.residual(v, x, j))
		s.RSS[j] = rn * rn
	}
	return s, -1
}

// residual overwrites v with R·[−x; e] and returns v, which has the norm ‖Ax − b‖. v must have d+t elements,
// for d features and t targets. R is the factor of [A Y], and x has the coefficients of the target b with index j.
// e is the unit vector of this target.
func (e *tsqr) residual(v, x []float64, j int) []float64 {
	d := e.d
	q := e.d + e.t
	for i := range v {
		v[i] = e.r[i*q+d+j]
		if i < d {
			row := e.r[i*q+i : i*q+d]
			v[i] -= vec.Dot(row, x[i:])
		}
	}
	return v
}

// gradient overwrites g with the negative gradient Aᵀ(b − Ax) − γx for the target b with index j. It uses the
// triangular factor of the rows. v receives the result of residual.
func (e *tsqr) gradient(g, v, x []float64, j int, gamma float64) {
	d := e.d
	q := e.d + e.t
	clear(g)
	vec.Axpy(-gamma, x, g)
	e.residual(v, x, j)
	for i := range d {
		row := e.r[i*q+i : i*q+d]
		vec.Axpy(v[i], row, g[i:])
	}
}

// refine adds to each solution x the correction H⁻¹(c − Hx), where H = AᵀA + γI and c = Aᵀb for the target b.
// The triangular factor in s solves the systems with H. This is the method of corrected seminormal equations (Å.
// Björck, Linear Algebra Appl. 88/89, 1987). refine stores bounds on the gradients at the new solutions in s.
func (e *tsqr) refine(s *certify.Factored) {
	d := e.d
	q := e.d + e.t
	g := make([]float64, d)
	v := make([]float64, q)
	for j := range e.t {
		x := s.X[j*d : (j+1)*d]
		e.gradient(g, v, x, j, s.Gamma)
		forwardSubstitute(d, s.R, s.Ld, g)
		backSubstitute(d, s.R, s.Ld, g)
		vec.Axpy(1, g, x)
		e.gradient(g, v, x, j, s.Gamma)
		// rn bounds the round-off of products with v. The error of v itself is part of the bounds in s.Data.
		rn := vec.Norm(v[:d])
		round := roundoff.Unit * roundoff.SeminormalResidual(float64(d))
		for i := range d {
			terms := e.col[i]*rn + s.Gamma*math.Abs(x[i])
			s.Residual[j*d+i] = math.Abs(g[i]) + round*terms
		}
	}
	for j := range d {
		s.Data[j] = e.backward(j)
	}
	s.Above = true
}

// Correct solves RᵀR·step = g, where R is the triangular factor in f. It also returns half = R⁻ᵀg.
func Correct(f *certify.Factored, g []float64) (half, step []float64) {
	d := len(g)
	half = slices.Clone(g)
	forwardSubstitute(d, f.R, f.Ld, half)
	step = slices.Clone(half)
	backSubstitute(d, f.R, f.Ld, step)
	return half, step
}

// backSubstitute solves Rx = b for an upper triangular d×d matrix R, given in r. On entry x holds b.
func backSubstitute(d int, r []float64, ldr int, x []float64) {
	for i := d - 1; i >= 0; i-- {
		beyond := r[i*ldr+i+1 : i*ldr+d]
		x[i] = (x[i] - vec.Dot(beyond, x[i+1:])) / r[i*ldr+i]
	}
}

// forwardSubstitute solves Rᵀx = b for an upper triangular d×d matrix R, given in r. On entry x holds b.
func forwardSubstitute(d int, r []float64, ldr int, x []float64) {
	for i := range d {
		x[i] /= r[i*ldr+i]
		beyond := r[i*ldr+i+1 : i*ldr+d]
		vec.Axpy(-x[i], beyond, x[i+1:])
	}
}
