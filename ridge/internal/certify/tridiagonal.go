package certify

import (
	"math"

	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Tridiagonal is T of K ≈ QTQᵀ, Q orthogonal and T tridiagonal: K + γI and T + γI have the
// same eigenvalues but for what K is off by. It serves every γ.
type Tridiagonal struct {
	Diagonal []float64
	Beside   []float64 // one less
	Columns  []float64 // norms of the columns of A
	Streamed float64   // bounds ‖K̃ − K‖, of which K̃ is what was summed
	Reduced  float64   // bounds ‖K̃ − QTQᵀ‖ for an orthogonal Q
	Skew     float64   // bounds how far the Q that was computed is from this Q
	norm     float64   // bounds ‖T‖
	least    float64   // at most λ_min(T)
}

// NewTridiagonal keeps the slices, see [Tridiagonal]. Reduced and Skew are for the caller to set.
func NewTridiagonal(diagonal, beside, columns []float64, streamed float64) *Tridiagonal {
	t := &Tridiagonal{Diagonal: diagonal, Beside: beside, Columns: columns, Streamed: streamed}
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

// pivot is the next one of LDLᵀ after p, for the element a of the diagonal and e beside it.
func pivot(a, e, p float64) float64 { return a - float64(e/p*e) }

// pivots overwrites p with those of T + sI = LDLᵀ, from the first row down. They are exact for a
// matrix that is off by rounding(s) at most: each rounds its own element of the diagonal, and
// the element beside it three times. positive says that all are, so that this matrix is
// positive definite.
func (t *Tridiagonal) pivots(s float64, p []float64) (positive bool) {
	for i, a := range t.Diagonal {
		if p[i] = a + s; i > 0 {
			p[i] = pivot(p[i], t.Beside[i-1], p[i-1])
		}
		if !(p[i] > 0) {
			return false
		}
	}
	return true
}

// rounding bounds, in norm, the change to T + sI for which computed pivots, or the diagonal of
// the inverse that is made of them, are exact but for two roundings.
func (t *Tridiagonal) rounding(s float64) float64 {
	return 8*eps*(t.norm+math.Abs(s)) + 8*roundoff.Underflow
}

// leastEigenvalue is found by bisection: where all pivots of T − sI are positive, none of T's
// eigenvalues is below s but for rounding.
func (t *Tridiagonal) leastEigenvalue() float64 {
	lo, hi := -t.norm, t.norm
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

// inverseTrace is γ·tr (T̃ + sI)⁻¹, but for some eps of itself, of a T̃ that is off by rounding(s)
// at most: another one for each element of the diagonal, which is 1/(pᵢ + qᵢ − tᵢᵢ − s) with
// the pivots p from the first row down and q from the last one up. ok is false where not all
// of these matrices are positive definite.
func (t *Tridiagonal) inverseTrace(gamma, s float64) (trace float64, ok bool) {
	d := len(t.Diagonal)
	p := make([]float64, d)
	if !t.pivots(s, p) {
		return 0, false
	}
	var sum neumaier.Sum
	below := 0.0
	for i := d - 1; i >= 0; i-- {
		a := t.Diagonal[i] + s
		q := a
		if i+1 < d {
			q = pivot(a, t.Beside[i], below)
		}
		v := p[i] + q - a
		if !(q > 0) || !(v > 0) {
			return 0, false
		}
		sum.Add(gamma / v)
		below = q
	}
	return sum.Value(), true
}

// dimension brackets d − γ·tr H⁻¹ where the eigenvalues of H are those of T + γI but for off.
func (t *Tridiagonal) dimension(gamma, off, limit float64) interval.Interval {
	d := float64(len(t.Diagonal))
	out := interval.Interval{Hi: limit}
	if gamma == 0 {
		return interval.Interval{Lo: limit, Hi: limit}
	}
	const round = 16 * eps
	off = (off + t.rounding(gamma+off)) * inflate
	if most, ok := t.inverseTrace(gamma, gamma-off); ok {
		out.Lo = math.Min(limit, math.Max(0, d-most*(1+round)-round*d))
	}
	if least, ok := t.inverseTrace(gamma, gamma+off); ok {
		out.Hi = math.Min(limit, math.Max(0, d-least*(1-round)+round*d))
	}
	return out
}

// tridiagonal is what T tells of H. The columns of A are off by off, in norm. A singular value of
// A is moved by ‖off‖ at most, so λ of K by ‖off‖(2‖A‖ + ‖off‖).
func (e *Streamed) tridiagonal(f *Factored, off []float64) spectrum {
	t, gamma, d := f.T, f.Gamma, float64(e.Dim)
	offNorm := vec.Norm(off) * inflate
	size := vec.Norm(t.Columns)*inflate + offNorm // bounds ‖A‖_F
	moved := offNorm * 2 * size
	known := t.Streamed + t.Reduced
	root := math.Max(0, math.Sqrt(math.Max(0, t.least-known*inflate))*(1-few*eps)-offNorm) // squared, at most λ_min(K)
	s := spectrum{
		sigma: math.Hypot(math.Sqrt(gamma), root) * (1 - few*eps), inverse: make([]float64, e.Dim),
		df:     t.dimension(gamma, (known+moved)*inflate, float64(rank(e.Rows, e.Dim, e.Intercept))),
		factor: nearness{upper: 1, columns: make([]float64, e.Dim)},
	}
	for j, c := range t.Columns {
		s.inverse[j] = 1 / s.sigma * (1 + few*eps)
		s.factor.columns[j] = math.Hypot(c+off[j], math.Sqrt(gamma)) * inflate
	}
	s.apart = (t.Streamed + moved + roundoff.Unit*roundoff.GammaResidual(d)*(size*size+gamma)) * inflate
	s.factor.solved = (s.apart + t.Reduced) / s.sigma / s.sigma
	return s
}

// Serves says that a factor tells enough of H at its γ: solving with it leaves no more than a
// thousandth of an error.
func (e *Streamed) Serves(f *Factored) bool {
	_, s := e.moved(f)
	return s.factor.solved <= 0x1p-10
}

// MayGain says that the bounds of a factorisation that does not depend on the units of the columns
// may be a hundred times better: ‖A‖_F/σ, which takes the place of Σ ‖aⱼ‖√(H⁻¹)ⱼⱼ with T, is
// that much more than this sum can be, (H⁻¹)ⱼⱼ being 1/Hⱼⱼ at least.
func (e *Streamed) MayGain(f *Factored) bool {
	_, s := e.moved(f)
	least := 0.0
	for _, c := range f.T.Columns {
		least += c / math.Hypot(c, math.Sqrt(f.Gamma))
	}
	return vec.Norm(f.T.Columns)/s.sigma > 100*math.Max(least, 1)
}

// stepped is what T leaves to know of x⁺ = x − step for a step that is near to H⁻¹g: with
// l = g − K̃·step − γ·step as computed, δ the error of g and K off by apart,
//
//	x − step − x* = H⁻¹(g − H·step + δ),   ‖g − H·step‖ ≤ ‖l‖ + apart·‖step‖ + few·eps·‖g‖,
//	‖H^{½}step‖² = stepᵀ(g − (g − H·step)).
//
// Nothing of it rests on T itself but for σ.
func (r *Refiner) stepped(c *Corrected) afterStep {
	s, d := r.s, float64(r.rows.Dim)
	round, tiny := 1+(d+few)*eps, (d+few)*roundoff.Underflow
	step, g, left := vec.Norm(c.Step)*round, vec.Norm(c.Gradient)*round, vec.Norm(c.Left)*round
	lost := vec.Norm(c.Bounds) * round
	open := (left + s.apart*step + few*eps*(g+left) + tiny) * inflate
	inner := ((open+lost)/s.sigma+r.share*c.Residual)*round + tiny
	square := vec.Dot(c.Step, c.Gradient) - vec.Dot(c.Step, c.Left)
	off := (step*(open-left) + (d+few)*eps*step*(g+left) + tiny) * inflate
	from := math.Sqrt(math.Max(0, square-off)) * (1 - few*eps)
	to := math.Sqrt(math.Max(0, square+off)) * (1 + few*eps)
	return afterStep{
		error: inner/s.sigma*round + tiny, inner: inner, step: to,
		before: interval.Interval{Lo: math.Max(0, from-inner), Hi: to + inner},
	}
}
