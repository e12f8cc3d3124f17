package certify

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// Corrected is what was found at weights x of a target, with twice the digits, and what a
// factor of H makes of it.
//
// Low are what is to be added to the weights: the gradient is that of x + Low.
type Corrected struct {
	X, Low   []float64         // Low may be nil
	Bounds   []float64         // of the error of each component of the gradient g, but for Aᵀδ
	Residual float64           // bounds ‖δ‖, δ being what Ax − b was off by
	RSS      interval.Interval // ‖Ax − b‖²
	Shift    twofold.Number    // the mean of Xx − y
	Step     []float64         // R⁻¹R⁻ᵀg as computed: about x + Low − x*
	Half     []float64         // R⁻ᵀg as computed; not with T

	// What of Half and Step, each a sum of two, is made of what rounding has taken from g; may be
	// nil, and is with T.
	HalfLow, StepLow []float64

	// With T:
	Gradient []float64 // g
	Left     []float64 // g − H·Step as computed
}

// Next are the weights x + Low − Step, rounded to float64, and what rounding has taken from them:
// x less what it has moved by, Step − Low, of which only that difference is rounded.
func (c *Corrected) Next() (x, low, moved []float64) {
	x, low, moved = make([]float64, len(c.X)), make([]float64, len(c.X)), c.Step
	if c.Low != nil {
		moved = make([]float64, len(c.X))
		floats.SubTo(moved, c.Step, c.Low)
	}
	for i, v := range c.X {
		x[i], low[i] = twofold.Sum(v, -moved[i])
	}
	return x, low, moved
}

// A Refiner bounds what corrections with the factor R of H(γ) lead to.
type Refiner struct {
	rows  *Streamed
	gamma float64
	s     spectrum
	share float64 // bounds ‖H^{-½}Aᵀ‖
	omega float64 // (1−ω)RᵀR ⪯ H ⪯ (1+ω)RᵀR
	byT   bool    // there is T in place of R
}

// NewRefiner returns nil where the factor says too little of H.
func NewRefiner(e *Streamed, f *Factored) *Refiner {
	off, s := e.moved(f)
	n, share := s.factor, e.share(f.Gamma, off)
	if f.T != nil {
		if !(n.solved < 0.5) {
			return nil
		}
		return &Refiner{rows: e, gamma: f.Gamma, s: s, share: share, byT: true}
	}
	omega := math.Max(1-n.lower*n.lower, n.upper*n.upper-1) * (1 + few*eps)
	if !(n.lower > 0) || !(omega < 0.5) {
		return nil
	}
	return &Refiner{rows: e, gamma: f.Gamma, s: s, share: share, omega: omega}
}

// A Refinement is what is known of corrected weights.
type Refinement struct {
	X, Low  []float64 // the weights, and what rounding them to float64 has taken
	Weights Weights
	Error   float64 // on the distance from x* before that
	Before  float64 // at least this was ‖H^{½}(x − x*)‖ before the correction
}

// alongMeans bounds Σ|x̄ⱼ||vⱼ| for a v of norm e in the norm of H: |vⱼ| ≤ √(H⁻¹)ⱼⱼ·‖H^{½}v‖.
func (r *Refiner) alongMeans(e float64) float64 {
	if r.rows.Means == nil {
		return 0
	}
	return vec.AbsDot(r.s.inverse, r.rows.Means[:r.rows.Dim]) * e * inflate
}

// An afterStep is what is known of x − step, and of x, where the step is what a factor makes of
// the gradient at x, which has Low in it.
type afterStep struct {
	error  float64           // bounds ‖x − step − x*‖
	inner  float64           // bounds ‖H^{½}(x − step − x*)‖
	step   float64           // times upper, bounds ‖H^{½}step‖
	before interval.Interval // brackets ‖H^{½}(x − x*)‖
}

// withLow makes of it what is known with the rounding of Step − Low, and of the weights without
// Low. upper times the norm of columns by a vector bounds that of the vector in the norm of H.
func (a *afterStep) withLow(c *Corrected, moved []float64, n *nearness) {
	if c.Low == nil {
		return
	}
	const unit = roundoff.Unit * (1 + few*eps)
	low := n.upper * vec.AbsDot(n.columns, c.Low) * inflate
	a.error += unit * vec.Norm(moved) * inflate
	a.inner += unit * n.upper * vec.AbsDot(n.columns, moved) * inflate
	a.step += vec.AbsDot(n.columns, c.Low) * inflate
	a.before = interval.Interval{Lo: math.Max(0, a.before.Lo-low), Hi: a.before.Hi + low}
}

// Next bounds x⁺ = x + low − step, of target j, without reading the rows again, by what the factor
// knows of it. What rounding x⁺ to float64 takes from it comes on top. known is false where
// squares have left the range of float64.
func (r *Refiner) Next(j int, c *Corrected) (next Refinement, known bool) {
	s, n, d := r.s, r.s.factor, float64(r.rows.Dim)
	x, low, moved := c.Next()
	xn, rounding := vec.Norm(x), vec.Norm(low)*(1+few*eps)
	if !(vec.Norm(c.X) <= math.MaxFloat64) || !(xn <= math.MaxFloat64) || math.IsInf(c.RSS.Hi, 1) {
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
	next.X, next.Low, next.Error = x, low, a.error
	lowR := vec.AbsDot(n.columns, low) * round // bounds ‖R·low‖; with T, ‖H^{½}low‖
	energy := (a.inner + n.upper*lowR) * round
	bound := next.Error + rounding

	// f* from x: f(x) − f* = ½‖H^{½}(x − x*)‖².
	next.Before = a.before.Lo
	objective := objectiveNear(r.gamma, vec.Norm(c.X), a.before, d, c.RSS)
	rss := interval.WidenRoot(c.RSS, n.upper*(a.step+lowR)*round)
	rss.Lo, rss.Hi = rss.Lo*(1-few*eps), rss.Hi*(1+few*eps)
	rss = interval.Intersect(rss, rssAbove(objective, r.gamma, xn, energy, d))
	next.Weights = Weights{
		Error: bound, Relative: Relative(bound, xn*(1-(d+2)*eps)), Energy: energy,
		Intercept: r.rows.landed(&Landing{c.Shift, moved, low}, next.Error, r.alongMeans(a.inner)),
		TSS:       r.rows.totalSquares(j, r.rows.lost()), RSS: rss,
		Objective: objective,
		GCV:       gcv(r.rows.Rows, r.rows.Intercept, s.df, rssNear(r.gamma, energy, rss)),
	}
	return next, true
}

// solved is what R leaves to know. With δ the error of the gradient g, |δᵢ| ≤ Boundsᵢ, and
// (RᵀR)⁻¹g = step + s,
//
//	x − step − x* = (H⁻¹ − (RᵀR)⁻¹)g + s + H⁻¹δ,
//	‖(H⁻¹ − (RᵀR)⁻¹)g‖ ≤ ω/(1−ω)·‖R⁻¹‖·‖R⁻ᵀg‖,   ω/√(1−ω)·‖R⁻ᵀg‖ in the norm of H,
//	‖H⁻¹δ‖ ≤ ‖H^{-½}δ‖/σ,   ‖H^{-½}δ‖ ≤ min(‖δ‖/σ, Σ|δᵢ|√(H⁻¹)ᵢᵢ),
//
// from H⁻¹ = R⁻¹(I + E)⁻¹R⁻ᵀ with ‖E‖ ≤ ω. Of an error Aᵀδ of the gradient
// ‖H^{-½}Aᵀδ‖ ≤ ‖H^{-½}Aᵀ‖‖δ‖. Half and Step are sums of two, each of which is off by as
// much of itself, and of their rounding.
func (r *Refiner) solved(c *Corrected) (a afterStep) {
	s, n, d := r.s, r.s.factor, float64(r.rows.Dim)
	round, tiny := 1+(d+8)*eps, (d+8)*roundoff.Underflow
	under := 2 * (d*math.Sqrt(d) + vec.Norm(n.columns)) * roundoff.Underflow // what R⁻ᵀg and the step lose
	transposed, half, step := n.transposed+eps, vec.Norm(c.Half)*round, vec.Norm(c.Step)*round
	halves, steps := half+2*vec.Norm(c.HalfLow)*round, step+2*vec.Norm(c.StepLow)*round // bound those of both parts
	lost := math.Min(vec.Norm(c.Bounds)/s.sigma, vec.AbsDot(s.inverse, c.Bounds))*round + r.share*c.Residual
	off := halves * transposed
	exact := half + off + n.inverse*under // bounds ‖R⁻ᵀg‖
	// Solving R·step = R⁻ᵀg is off by so much of it.
	along := vec.AbsDot(n.columns, c.Step)
	if c.StepLow != nil {
		along += 2 * vec.AbsDot(n.columns, c.StepLow)
	}
	backward := ((d+1)*eps*along+under)*round + n.inverse*under
	solved := off + backward // bounds ‖Rs‖
	a.error = (r.omega/(1-r.omega)*n.inverse*exact+n.inverse*off+math.Min(steps*(n.solved+eps)+n.inverse*(1+n.inverse)*under, n.inverse*backward)+lost/s.sigma)*round + tiny
	a.inner = (r.omega/n.lower*exact+n.upper*solved+lost)*round + tiny
	a.step = exact + solved
	a.before = interval.Interval{Lo: math.Max(0, (half-off)/n.upper/round/round-lost), Hi: (exact/n.lower+lost)*round + tiny}
	return a
}
