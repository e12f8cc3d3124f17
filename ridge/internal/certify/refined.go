package certify

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// Corrected holds what one correction of the coefficients X + Low of a target computes. g denotes the gradient at
// X + Low, computed with twice the digits of float64. The step is (RᵀR)⁻¹g, for a triangular factor R of
// H = AᵀA + γI. Instead of R, a tridiagonal form T of H may be used.
type Corrected struct {
	X, Low   []float64         // x rounded to float64, and the rounding error, which may be nil
	Bounds   []float64         // bounds |eᵢ|, where Aᵀδ + e is the error of g
	Residual float64           // bounds ‖δ‖, where δ is the error of the computed Ax − b
	RSS      interval.Interval // ‖Ax − b‖²
	Shift    twofold.Number    // the mean of Xx − y
	// meanOff bounds the part of Shift's error that comes from errors of the features, see [Columns.Unround].
	meanOff float64
	Step    []float64 // R⁻¹R⁻ᵀg as computed, approximately X + Low − x*
	Half    []float64 // R⁻ᵀg as computed; unused if the tridiagonal form T is used

	// HalfLow and StepLow are R⁻ᵀ and R⁻¹R⁻ᵀ times the low part of g, which is the part that float64 cannot
	// hold. Half and Step already include them. They may be nil, and they are unused with the tridiagonal form T.
	HalfLow, StepLow []float64

	// The following fields are only used with T.
	Gradient []float64 // g
	Left     []float64 // g − H·Step as computed
}

// Next returns the corrected coefficients X − moved as a rounded value x and its rounding error low. moved is the
// rounded value of Step − Low.
func (c *Corrected) Next() (x, low, moved []float64) {
	x = make([]float64, len(c.X))
	low = make([]float64, len(c.X))
	moved = c.Step
	if c.Low != nil {
		moved = make([]float64, len(c.X))
		floats.SubTo(moved, c.Step, c.Low)
	}
	for i, v := range c.X {
		x[i], low[i] = twofold.Sum(v, -moved[i])
	}
	return x, low, moved
}

// A Refiner bounds the error of coefficients that were corrected with a factorisation of AᵀA + γI. This is a
// triangular factor R or a tridiagonal form T.
type Refiner struct {
	rows  *Streamed
	gamma float64
	s     spectrum
	share float64 // bounds ‖H^{-½}Aᵀ‖
	omega float64 // (1−ω)RᵀR ⪯ H ⪯ (1+ω)RᵀR
	byT   bool    // T is used instead of R
}

// NewRefiner returns the Refiner for the factorisation f. It returns nil if the factorisation is too inaccurate.
func NewRefiner(e *Streamed, f *Factored) *Refiner {
	off, s := e.columnErrors(f)
	n := s.factor
	share := e.share(f.Gamma, off)
	if f.T != nil {
		if !(n.solved < 0.5) {
			return nil
		}
		return &Refiner{
			rows:  e,
			gamma: f.Gamma,
			s:     s,
			share: share,
			byT:   true,
		}
	}
	omega := math.Max(1-n.lower*n.lower, n.upper*n.upper-1) * upward
	if !(n.lower > 0) || !(omega < 0.5) {
		return nil
	}
	return &Refiner{
		rows:  e,
		gamma: f.Gamma,
		s:     s,
		share: share,
		omega: omega,
	}
}

// A Refinement holds corrected coefficients and their bounds.
type Refinement struct {
	X, Low  []float64 // the coefficients rounded to float64, and the rounding error
	Weights Weights
	Error   float64 // bounds ‖X + Low − x*‖
	// Before is a lower bound on the error of the coefficients x before the correction, ‖H^{½}(x − x*)‖. Here x* is
	// the exact solution, and H is AᵀA + γI.
	Before float64
}

// alongMeans returns a bound on Σ|āⱼ||vⱼ| for the means āⱼ of the features and every vector v with
// ‖H^{½}v‖ ≤ e. Here H is AᵀA + γI. It uses |vⱼ| ≤ √(H⁻¹)ⱼⱼ·‖H^{½}v‖.
func (r *Refiner) alongMeans(e float64) float64 {
	if r.rows.Means == nil {
		return 0
	}
	means := r.rows.Means[:r.rows.Dim]
	return vec.AbsDot(r.s.inverse, means) * e * inflate
}

// An afterStep holds bounds for coefficients x and for the corrected coefficients x − step. At first, x is X + Low
// and step is Step, in the fields of [Corrected]. The method withLow changes this to x = X and step = Step − Low.
type afterStep struct {
	error  float64           // bounds ‖x − step − x*‖
	inner  float64           // bounds ‖H^{½}(x − step − x*)‖
	step   float64           // ‖H^{½}step‖ is at most upper·step
	before interval.Interval // brackets ‖H^{½}(x − x*)‖
}

// withLow turns bounds for x = X + Low and step = Step into bounds for x = X and step = Step − Low. X, Low and
// Step are fields of c. moved is the rounded value of Step − Low.
func (a *afterStep) withLow(c *Corrected, moved []float64, n *nearness) {
	if c.Low == nil {
		return
	}
	const unit = roundoff.Unit * upward
	low := n.upper * vec.AbsDot(n.columns, c.Low) * inflate // bounds ‖H^{½}Low‖
	a.error += unit * vec.Norm(moved) * inflate
	a.inner += unit * n.upper * vec.AbsDot(n.columns, moved) * inflate
	a.step += vec.AbsDot(n.columns, c.Low) * inflate
	a.before = interval.Interval{
		Lo: math.Max(0, a.before.Lo-low),
		Hi: a.before.Hi + low,
	}
}

// Next bounds the error of the corrected coefficients X + Low − Step of target j, without another pass over the
// rows. The bound includes the rounding of the coefficients to float64. known is false if a square overflowed,
// because no bound is known then.
func (r *Refiner) Next(j int, c *Corrected) (next Refinement, known bool) {
	s := r.s
	n := r.s.factor
	d := float64(r.rows.Dim)
	x, low, moved := c.Next()
	xn := vec.Norm(x)
	rounding := vec.Norm(low) * upward
	if !(vec.Norm(c.X) <= math.MaxFloat64) ||
		!(xn <= math.MaxFloat64) ||
		math.IsInf(c.RSS.Hi, 1) {
		return next, false
	}
	round := 1 + (d+8)*eps
	var a afterStep
	if r.byT {
		a = r.stepped(c)
	} else {
		a = r.solved(c)
	}
	a.withLow(c, moved, &n)
	next.X = x
	next.Low = low
	next.Error = a.error
	lowR := vec.AbsDot(n.columns, low) * round // bounds ‖R·low‖, or ‖H^{½}low‖ if T is used
	energy := (a.inner + n.upper*lowR) * round
	bound := next.Error + rounding

	// The minimum f* of the objective f follows from f(x) − f* = ½‖H^{½}(x − x*)‖².
	next.Before = a.before.Lo
	objective := objectiveNear(r.gamma, vec.Norm(c.X), a.before, d, c.RSS)
	rss := interval.WidenRoot(c.RSS, n.upper*(a.step+lowR)*round)
	rss.Lo, rss.Hi = rss.Lo*downward, rss.Hi*upward
	rss = interval.Intersect(rss, rssAbove(objective, r.gamma, xn, energy, d))
	landing := &Landing{c.Shift, moved, low}
	intercept := r.rows.interceptAfter(landing, next.Error, r.alongMeans(a.inner))
	next.Weights = Weights{
		Error:     bound,
		Relative:  Relative(bound, xn*(1-(d+2)*eps)),
		Energy:    energy,
		Scattered: r.rows.Scattered(x),
		Intercept: intercept.moved(c.meanOff),
		TSS:       r.rows.totalSquares(j, r.rows.lost()),
		RSS:       rss,
		Objective: objective,
	}
	next.Weights = next.Weights.scored(r.rows.Rows, r.rows.Intercept, r.rows.Projected, &optimum{
		gamma:  r.gamma,
		target: j,
		dim:    len(x),
		x:      x,
		xError: bound,
		tss:    r.rows.totalSquares(j, r.rows.lost()),
		df:     s.df,
		rss:    rssNear(r.gamma, energy, rss),
	})
	return next, true
}

// solved computes the bounds for a correction with the factor R of H = AᵀA + γI (docs/math.md §8, "Correction").
// Let x be X + Low and δ the error of the gradient g, with |δᵢ| ≤ Bounds[i]. Let s be the error of the solve:
// step + s = (RᵀR)⁻¹g. Let ω = r.omega bound the relative distance of RᵀR from H, and let σ² be a lower
// bound on the eigenvalues of H. Then
//
//	x − step − x* = (H⁻¹ − (RᵀR)⁻¹)g + s + H⁻¹δ,
//	‖(H⁻¹ − (RᵀR)⁻¹)g‖ ≤ ω/(1−ω)·‖R⁻¹‖·‖R⁻ᵀg‖,
//	‖H^{½}(H⁻¹ − (RᵀR)⁻¹)g‖ ≤ ω/√(1−ω)·‖R⁻ᵀg‖,
//	‖H⁻¹δ‖ ≤ ‖H^{-½}δ‖/σ,   ‖H^{-½}δ‖ ≤ min(‖δ‖/σ, Σ|δᵢ|√(H⁻¹)ᵢᵢ).
//
// Half and Step are rounded sums of two vectors, for the high and the low part of g. Each of the two has the relative
// error of a solve.
func (r *Refiner) solved(c *Corrected) (a afterStep) {
	s := r.s
	n := r.s.factor
	d := float64(r.rows.Dim)
	round := 1 + (d+8)*eps
	tiny := (d + 8) * roundoff.Underflow
	under := 2 * (d*math.Sqrt(d) + vec.Norm(n.columns)) * roundoff.Underflow // underflow in R⁻ᵀg and in the step
	transposed := n.transposed + eps
	half := vec.Norm(c.Half) * round
	step := vec.Norm(c.Step) * round
	// halves and steps bound the sum of the norms of the two vectors, for the high and the low part of g.
	halves := half + 2*vec.Norm(c.HalfLow)*round
	steps := step + 2*vec.Norm(c.StepLow)*round
	ofGradient := math.Min(vec.Norm(c.Bounds)/s.sigma, vec.AbsDot(s.inverse, c.Bounds))
	lost := ofGradient*round + r.share*c.Residual
	off := halves * transposed
	exact := half + off + n.inverse*under // bounds ‖R⁻ᵀg‖
	// Backward error of solving R·step = R⁻ᵀg.
	along := vec.AbsDot(n.columns, c.Step)
	if c.StepLow != nil {
		along += 2 * vec.AbsDot(n.columns, c.StepLow)
	}
	backward := ((d+1)*eps*along+under)*round + n.inverse*under
	solved := off + backward // bounds ‖Rs‖
	inSolving := math.Min(
		steps*(n.solved+eps)+n.inverse*(1+n.inverse)*under,
		n.inverse*backward,
	)
	whole := r.omega/(1-r.omega)*n.inverse*exact +
		n.inverse*off +
		inSolving +
		lost/s.sigma
	a.error = whole*round + tiny
	a.inner = (r.omega/n.lower*exact+n.upper*solved+lost)*round + tiny
	a.step = exact + solved
	a.before = interval.Interval{
		Lo: math.Max(0, (half-off)/n.upper/round/round-lost),
		Hi: (exact/n.lower+lost)*round + tiny,
	}
	return a
}
