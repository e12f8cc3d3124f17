package certify

import (
	"math"

	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Tridiagonal is a tridiagonal matrix T with AᵀA ≈ QTQᵀ, for an orthogonal matrix Q. Up to the error of this
// reduction, AᵀA + γI and T + γI have the same eigenvalues for every γ. In the comments of the fields, K is AᵀA.
type Tridiagonal struct {
	Diagonal []float64
	Beside   []float64 // the subdiagonal, d−1 elements
	Columns  []float64 // norms of the columns of A
	Streamed float64   // bounds ‖K̃ − K‖ for the computed matrix K̃ of AᵀA
	Reduced  float64   // bounds ‖K̃ − QTQᵀ‖ for an exactly orthogonal Q
	Skew     float64   // bounds the distance of the computed Q from the exactly orthogonal one
	norm     float64   // bounds ‖T‖
	least    float64   // a lower bound on the eigenvalues of T
}

// NewTridiagonal returns a Tridiagonal with the given fields, for a matrix with diagonal and beside as its diagonal
// and subdiagonal. The caller has to set the fields Reduced and Skew.
func NewTridiagonal(diagonal, beside, columns []float64, streamed float64) *Tridiagonal {
	t := &Tridiagonal{
		Diagonal: diagonal,
		Beside:   beside,
		Columns:  columns,
		Streamed: streamed,
	}
	for i, a := range diagonal {
		row := math.Abs(a)
		if i > 0 {
			row += math.Abs(beside[i-1])
		}
		if i < len(beside) {
			row += math.Abs(beside[i])
		}
		t.norm = math.Max(t.norm, row*(1+4*eps))
	}
	t.least = t.leastEigenvalue()
	return t
}

// pivot returns the next pivot of the factorisation LDLᵀ of a tridiagonal matrix. The argument p is the pivot
// before it, a is the diagonal element of its row, and e is the subdiagonal element between both rows.
func pivot(a, e, p float64) float64 { return a - float64(e/p*e) }

// pivots factors T + sI = LDLᵀ from the first row down, and writes the pivots to p. It stops and returns false at a
// pivot that is not positive. The computed pivots are the exact pivots of a matrix close to T + sI: the difference
// is at most rounding(s). If all pivots are positive, that matrix is positive definite.
func (t *Tridiagonal) pivots(s float64, p []float64) (positive bool) {
	for i, a := range t.Diagonal {
		p[i] = a + s
		if i > 0 {
			p[i] = pivot(p[i], t.Beside[i-1], p[i-1])
		}
		if !(p[i] > 0) {
			return false
		}
	}
	return true
}

// rounding bounds the distance between T + sI and the matrix whose exact pivots are the computed pivots of T + sI.
// For each pivot, the diagonal element is rounded once and the subdiagonal element three times. inverseTrace adds
// two roundings.
func (t *Tridiagonal) rounding(s float64) float64 {
	return 8*eps*(t.norm+math.Abs(s)) + 8*roundoff.Underflow
}

// leastEigenvalue returns a lower bound on the eigenvalues of T. It uses bisection: if all pivots of T − sI are
// positive, no eigenvalue of T is below s, up to round-off.
func (t *Tridiagonal) leastEigenvalue() float64 {
	lo := -t.norm
	hi := t.norm
	for _, a := range t.Diagonal {
		hi = math.Min(hi, a)
	}
	p := make([]float64, len(t.Diagonal))
	for range 60 {
		middle := lo + (hi-lo)/2
		if t.pivots(-middle, p) {
			lo = middle
		} else {
			hi = middle
		}
	}
	return lo - t.rounding(lo)
}

// inverseTrace returns gamma times the trace of (T + sI)⁻¹, up to round-off (docs/math.md §8). ok is false if a
// pivot of T + sI is not positive.
func (t *Tridiagonal) inverseTrace(gamma, s float64) (trace float64, ok bool) {
	d := len(t.Diagonal)
	p := make([]float64, d)
	if !t.pivots(s, p) {
		return 0, false
	}
	var sum twofold.Total
	below := 0.0
	for i := d - 1; i >= 0; i-- {
		a := t.Diagonal[i] + s
		q := a
		if i+1 < d {
			q = pivot(a, t.Beside[i], below)
		}
		// p[i] is the pivot of row i in the elimination from the first row down. q is the pivot of row i in the
		// elimination from the last row up.
		v := p[i] + (q - a) // 1/v is diagonal element i of the inverse; p[i] + q may overflow
		if !(q > 0) || !(v > 0) {
			return 0, false
		}
		sum.Add(gamma / v)
		below = q
	}
	return sum.Value(), true
}

// dimension returns a bracket of d − γ·tr (AᵀA + γI)⁻¹ for d features. The eigenvalues of AᵀA + γI and of
// T + γI must differ by at most distance. limit must be an upper bound on the result.
func (t *Tridiagonal) dimension(gamma, distance, limit float64) interval.Interval {
	d := float64(len(t.Diagonal))
	out := interval.Interval{Hi: limit}
	if gamma == 0 {
		return interval.Interval{Lo: limit, Hi: limit}
	}
	const round = 16 * eps
	distance = (distance + t.rounding(gamma+distance)) * inflate
	if most, ok := t.inverseTrace(gamma, gamma-distance); ok {
		lo := d - most*(1+round) - round*d
		out.Lo = math.Min(limit, math.Max(0, lo))
	}
	if least, ok := t.inverseTrace(gamma, gamma+distance); ok {
		hi := d - least*(1-round) + round*d
		out.Hi = math.Min(limit, math.Max(0, hi))
	}
	return out
}

// tridiagonal bounds the eigenvalues, the inverse and the effective dimension of AᵀA + γI by the tridiagonal form
// f.T. off[j] bounds the norm of the error in column j of A. These errors together change each singular value of A
// by at most ‖off‖. They change each eigenvalue of AᵀA by at most ‖off‖(2‖A‖ + ‖off‖).
func (e *Streamed) tridiagonal(f *Factored, off []float64) spectrum {
	t := f.T
	gamma := f.Gamma
	d := float64(e.Dim)
	offNorm := vec.Norm(off) * inflate
	size := vec.Norm(t.Columns)*inflate + offNorm // bounds ‖A‖_F
	moved := offNorm * 2 * size
	known := t.Streamed + t.Reduced
	root := math.Max(0, math.Sqrt(math.Max(0, t.least-known*inflate))*downward-offNorm) // root² ≤ λ_min(K)
	distance := (known + moved) * inflate
	limit := rank(e.Rows, e.Dim, e.Intercept)
	s := spectrum{
		sigma:   math.Hypot(math.Sqrt(gamma), root) * downward,
		inverse: make([]float64, e.Dim),
		df: Dimension{
			t.dimension(gamma, distance, float64(limit)),
			t.logDet(gamma, distance),
		},
		factor: nearness{upper: 1, columns: make([]float64, e.Dim)},
	}
	for j, c := range t.Columns {
		s.inverse[j] = 1 / s.sigma * upward
		s.factor.columns[j] = math.Hypot(c+off[j], math.Sqrt(gamma)) * inflate
	}
	inProduct := roundoff.Unit * roundoff.GammaResidual(d) * (size*size + gamma)
	s.apart = (t.Streamed + moved + inProduct) * inflate
	s.factor.solved = (s.apart + t.Reduced) / s.sigma / s.sigma
	return s
}

// Serves reports whether the factorisation f is accurate enough. This is the case if the relative error of a solve
// with f is at most 2⁻¹⁰.
func (e *Streamed) Serves(f *Factored) bool {
	_, s := e.columnErrors(f)
	return s.factor.solved <= 0x1p-10
}

// MayGain reports whether a Cholesky factor may give an error bound that is 100 times smaller than the bound by the
// tridiagonal form f.T. docs/math.md §8 ("Certificate of Tridiagonal") compares the two bounds.
func (e *Streamed) MayGain(f *Factored) bool {
	_, s := e.columnErrors(f)
	least := 0.0
	for _, c := range f.T.Columns {
		least += c / math.Hypot(c, math.Sqrt(f.Gamma))
	}
	return vec.Norm(f.T.Columns)/s.sigma > 100*math.Max(least, 1)
}

// stepped returns the bounds for the coefficients in c before and after its correction step, which was computed
// with a tridiagonal form. docs/math.md §8, "Certificate of Tridiagonal", has the proof.
func (r *Refiner) stepped(c *Corrected) afterStep {
	s := r.s
	d := float64(r.rows.Dim)
	round := 1 + (d+few)*eps
	tiny := (d + few) * roundoff.Underflow
	step := vec.Norm(c.Step) * round
	g := vec.Norm(c.Gradient) * round
	left := vec.Norm(c.Left) * round
	lost := vec.Norm(c.Bounds) * round
	// open bounds ‖g − H·step‖, the norm of the step's residual for the gradient g and H = AᵀA + γI. s.apart
	// bounds the error of a product with H, divided by the norm of the vector.
	open := (left + s.apart*step + few*eps*(g+left) + tiny) * inflate
	inner := ((open+lost)/s.sigma+r.share*c.Residual)*round + tiny
	square := vec.Dot(c.Step, c.Gradient) - vec.Dot(c.Step, c.Left)
	off := (step*(open-left) +
		(d+few)*eps*step*(g+left) +
		tiny) * inflate
	from := math.Sqrt(math.Max(0, square-off)) * downward
	to := math.Sqrt(math.Max(0, square+off)) * upward
	return afterStep{
		error:  inner/s.sigma*round + tiny,
		inner:  inner,
		step:   to,
		before: interval.Interval{Lo: math.Max(0, from-inner), Hi: to + inner},
	}
}
