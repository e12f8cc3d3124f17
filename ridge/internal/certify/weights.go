package certify

import (
	"math"

	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// Weights holds bounds for the coefficients x̂ of one target b. In the comments of the fields, x* is the exact
// solution at a penalty γ, and f* is its objective. H is AᵀA + γI.
type Weights struct {
	Error     float64 // bounds ‖x̂ − x*‖
	Relative  float64 // bounds ‖x̂ − x*‖/‖x*‖
	Energy    float64 // bounds ‖H^{½}(x̂ − x*)‖
	Intercept Intercept
	Objective interval.Interval // brackets f*
	TSS       interval.Interval // brackets ‖b‖²
	RSS       interval.Interval // brackets ‖Ax̂ − b‖²
	GCV       interval.Interval // brackets n·‖Ax* − b‖²/(n − df)²
	Marginal  Marginal          // the marginal likelihood at γ
	// Scattered bounds ‖Fx̂‖ for the rounding errors F of scaled features, see [Columns.Scattered].
	Scattered float64
}

// complete sets Energy, Scattered, Intercept, GCV and Marginal of w for the coefficients x of target j. xn is ‖x‖.
// Let x* be the exact solution, and H = AᵀA + γI. energy bounds ‖H^{½}(x − x*)‖, and move bounds
// ‖A(x − x*)‖.
func (a At) complete(
	w Weights,
	j int,
	x []float64,
	xn, energy, move float64,
) Weights {
	w.Energy = math.Min(energy, a.excess(xn, w.RSS, w.Objective))
	w.Scattered = a.Scattered(x)
	w.Intercept = a.intercept(j, x, xn, w.Error)
	return w.scored(a.Rows, a.Intercept, a.Projected, &optimum{
		gamma:  a.Gamma,
		target: j,
		dim:    len(x),
		x:      x,
		xError: w.Error,
		tss:    w.TSS,
		df:     a.dimension(),
		rss:    a.rssAtOptimum(j, xn, w.Error, move, w.Objective, w.RSS),
	})
}

// lostSquares bounds the underflow error of a few products such as γ‖x‖², where xn is ‖x‖.
func lostSquares(xn float64) float64 {
	return few * roundoff.Underflow * (1 + xn)
}

// excess returns a bound on √(2(f(x) − f*)) for coefficients x, where f* is the minimum of the objective f. For the
// exact solution x* and H = AᵀA + γI, this number equals ‖H^{½}(x − x*)‖. xn is ‖x‖, rss brackets
// ‖Ax − b‖² for the target b, and objective brackets f*.
func (a At) excess(xn float64, rss, objective interval.Interval) float64 {
	gap := math.Max(0, rss.Hi+a.Gamma*xn*xn*upward-2*objective.Lo)
	return math.Sqrt(gap+4*eps*rss.Hi+lostSquares(xn)) * (1 + 16*eps)
}

// rssAtOptimum returns a bracket of ‖Ax* − b‖² for the target b with index j and the exact solution x*, from
// coefficients x near x*. xn is ‖x‖, e bounds ‖x − x*‖, and move bounds ‖A(x − x*)‖. f brackets the
// smallest objective, and rss brackets ‖Ax − b‖². The result is the intersection of the brackets in docs/math.md
// §5.
func (a At) rssAtOptimum(
	j int,
	xn, e, move float64,
	f, rss interval.Interval,
) interval.Interval {
	far := xn + e
	near := math.Max(0, xn-e)
	lost := lostSquares(far)
	byObjectives := math.Max(0, a.TSS[j]+a.SquaresError(j)-2*f.Lo)
	most := math.Min(a.Gamma*far*far+lost, byObjectives) // bounds γ‖x*‖²
	byObjective := interval.Interval{
		Lo: math.Max(0, 2*f.Lo*(1-4*eps)-most*(1+4*eps)),
		Hi: 2*f.Hi*(1+4*eps) -
			a.Gamma*near*near*(1-4*eps) +
			lost,
	}
	move = math.Min(move, math.Sqrt(a.norm.largest2)*e)
	byMove := interval.Squared(math.Sqrt(rss.Lo)-move, math.Sqrt(rss.Hi)+move)
	byMove.Lo = byMove.Lo * (1 - 8*eps)
	byMove.Hi = byMove.Hi * (1 + 8*eps)
	return interval.Intersect(a.rssFromEnvelope(j), interval.Intersect(byObjective, byMove))
}

// rssFromEnvelope returns a bracket of the RSS of the exact solution for target j, without using coefficients.
// docs/math.md §5, "Training error of the exact solution", has the formula.
func (a At) rssFromEnvelope(j int) interval.Interval {
	c := &a.targets[j].c
	gamma := a.Gamma
	form := a.eigen.Norm(c, func(s2 float64) float64 {
		return math.Sqrt(a.middle(s2) * (1 + gamma*a.middle(s2)))
	})
	return a.envelope(j, &envelope{
		form: form,
		z:    a.normAbove(c, a.rootGap),
		zy: a.normAbove(c, func(s2 float64) float64 {
			return (1 + 2*gamma*a.middle(s2)) * a.rootGap(s2)
		}),
		lost: a.lostNorm(),
	})
}

// An envelope holds the norms in the bracket of the exact solution's RSS in docs/math.md §5. The sketch gives
// matrices M and D such that (AᵀA + γI)⁻¹ lies between M − ½D and M + ½D. For a target b, let c = Aᵀb,
// z = D^{½}c and y = D^{½}Mc.
//
//   - form is √(cᵀMc + γ‖Mc‖²), and lost bounds its underflow error
//   - z bounds ‖z‖, and zy bounds ‖z + 2γy‖
type envelope struct{ form, z, zy, lost float64 }

// envelope returns a bracket of the exact solution's RSS for target j, from the norms in e.
func (a At) envelope(j int, e *envelope) interval.Interval {
	c := &a.targets[j].c
	tss := a.TSS[j]
	gamma := a.Gamma
	middle := tss - e.form*e.form
	half := e.z * e.zy / 2
	radius := math.Sqrt(a.widestGap()) * e.z / 2
	// delta bounds the error of c = Aᵀb and of its projection onto the sketch. middle and half are quadratic forms of
	// c. The matrices of these forms have norms of at most 2·most. pad bounds the errors of middle and half.
	delta := a.CrossError(j) + a.factor.onto*eps*c.Norm
	most := a.inverse()
	pad := 16*math.Sqrt(tss*most)*delta +
		8*delta*delta*most +
		a.SquaresError(j) +
		4*(a.factor.along+few)*eps*(tss+half)
	if c.Norm > 0 {
		pad += e.lost * (1 + 2*e.form + e.lost)
	}
	return interval.Interval{
		Lo: math.Max(0, middle-half-gamma*radius*radius-pad),
		Hi: math.Max(0, middle+half+pad),
	}
}

// An optimum describes the exact ridge solution x* of one target b at the penalty gamma.
type optimum struct {
	gamma  float64
	target int
	dim    int               // number of features
	x      []float64         // coefficients near x*; nil if they are unknown
	xError float64           // bounds ‖x − x*‖
	tss    interval.Interval // brackets ‖b‖²
	df     Dimension
	rss    interval.Interval // brackets ‖Ax* − b‖²
	// brackets f*; only marginal needs it
	objective interval.Interval
}

// scored returns w with the fields GCV and Marginal for the exact solution o. It also sets o.objective to the
// objective of w.
func (w Weights) scored(rows int64, intercept bool, p *Projection, o *optimum) Weights {
	o.objective = w.Objective
	w.GCV = scored(rows, intercept, p, o)
	w.Marginal = marginal(rows, intercept, p, o)
	return w
}

// scored returns a bracket of the generalised cross-validation score. If p is not nil, the given rows are the
// result of the projection p, and the score is for the rows before this projection.
func scored(rows int64, intercept bool, p *Projection, o *optimum) interval.Interval {
	fixed := 0
	if intercept {
		fixed++
	}
	if p == nil {
		return gcv(rows, fixed, o.df.Interval, o.rss)
	}
	df, rss := p.original(o)
	return gcv(rows, fixed+len(p.Inverse), df, rss)
}

// gcv returns a bracket of the generalised cross-validation score n·RSS/(n − df − fixed)² for n rows. df brackets
// the effective dimension, and rss brackets the RSS. fixed is the number of coefficients without penalty, including
// the intercept.
func gcv(rows int64, fixed int, df, rss interval.Interval) interval.Interval {
	n := float64(rows)
	free := interval.Interval{
		Lo: n - df.Hi - float64(fixed),
		Hi: n - df.Lo - float64(fixed),
	}
	out := interval.Nonnegative()
	if free.Hi > 0 {
		lo := n * rss.Lo / free.Hi / free.Hi * (1 - 8*eps)
		out.Lo = math.Max(0, lo-4*roundoff.Underflow)
		if math.IsInf(out.Lo, 1) { // n·RSS overflowed, so there is no bound on GCV
			out.Lo = 0
		}
	}
	if free.Lo > 0 {
		out.Hi = n*rss.Hi/free.Lo/free.Lo*(1+8*eps) + 4*roundoff.Underflow
	}
	return out
}
