package certify

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// Dual describes the n rows A of a problem that is solved by the n×n matrix G = AAᵀ.
type Dual struct {
	Backend   engine.Backend
	Rows      int64
	Dim       int
	Intercept bool
	// Projected describes how columns without penalty were projected out of the rows. It is nil if all columns have
	// a penalty.
	Projected *Projection
	TSS       []twofold.Number // ‖b‖² of each target
	Size      float64          // bounds ‖A‖_F
	// Off[j] bounds the norm of the error of row j of A. G was computed from the rows with these errors.
	Off []float64
	// With an intercept, AAᵀ has the eigenvalue 0, and the computed G has the eigenvalue Shift instead. Without an
	// intercept, Shift is 0.
	Shift float64
	// Scaled bounds the norm of the rounding errors in each scaled column, as in [Columns]. It is nil if the
	// entries are exact.
	Scaled []float64
	Root   float64 // a lower bound on √Σw
}

// Scattered returns a bound on ‖Fx‖ for coefficients x, where the matrix F holds the rounding errors of scaled
// features; see [Columns.Scattered].
func (e *Dual) Scattered(x []float64) float64 {
	c := Columns{Scaled: e.Scaled}
	return c.Scattered(x)
}

// A DualPoint holds residuals and norms at coefficients x ≈ Aᵀα with dual coefficients α. They were computed with
// twice the digits. x is stored as X + Low, with an error of norm at most Slack.
type DualPoint struct {
	Gamma  float64
	X, Low []float64
	Apart  float64        // bounds ‖x − Aᵀα‖
	Slack  float64        // bounds the norm of x − (X + Low)
	Norm   float64        // bounds ‖b − Ax − γα‖
	RSS    twofold.Number // ‖Ax − b‖²
	Mean   twofold.Number // the mean of y − Xx for the rows X and targets y before centring; 0 without an intercept
	// MeanNorm is a bound on the norm of the vector of column means. It is 0 without an intercept.
	MeanNorm float64
	Alpha    float64 // bounds ‖α‖

	scattered float64 // bounds ‖F(X + Low)‖ for the rounding F of scaled features
}

// unround widens the bounds in p, which hold for the rows as read, with scaled and rounded features. Afterwards
// they hold for the exact rows, whose scaled features are not rounded.
func (e *Dual) unround(p *DualPoint) {
	if e.Scaled == nil {
		return
	}
	p.scattered = (e.Scattered(p.X) + e.Scattered(p.Low)) * inflate
	size := vec.Norm(e.Scaled) * inflate // bounds ‖F‖
	p.scattered += size * p.Slack * inflate
	p.Norm += p.scattered
	p.Apart += size * p.Alpha * inflate
	if e.Intercept {
		p.MeanNorm += size / e.Root * inflate
	}
}

// Weights returns the error bounds of the coefficients p.X for target j. df brackets the effective dimension.
// docs/math.md §8 ("Fewer rows than features: Dual") has the proof.
func (e *Dual) Weights(j int, p *DualPoint, df Dimension) Weights {
	e.unround(p)
	d := float64(e.Dim)
	root := math.Sqrt(p.Gamma) * upward
	least := math.Sqrt(p.Gamma) * downward
	// tiny bounds the errors of products that underflow to 0, which p.Apart does not include. Each of the d
	// elements has at most one such product per row.
	round := 1 + few*eps
	tiny := float64(e.Rows+1) * (d + few) * roundoff.Underflow
	// e.Size/γ or p.Norm/γ may underflow. The bound stays valid because the smallest positive number is added.
	along := math.Min(
		(e.Size/p.Gamma+roundoff.Underflow)*p.Norm,
		(p.Norm/p.Gamma+roundoff.Underflow)*e.Size,
	)
	fromResidual := math.Min(1/(2*least)*p.Norm, along)
	near := certain(fromResidual*round + p.Apart*round + tiny)
	share := math.Min(1, e.Size/least+roundoff.Underflow)
	energy := certain(share*p.Norm*round + root*(p.Apart*round+tiny) + tiny)
	xn := vec.Norm(p.X)
	low := certain((vec.Norm(p.Low)+p.Slack)*(1+(d+few)*eps) + tiny)
	// near is a bound for X + Low. Rounding X + Low to X adds at most low.
	bound := (near + low) * round

	v, off := p.RSS.Round()
	at := interval.Outward(v, off)
	at.Lo = math.Max(0, at.Lo)
	at = widen(at, p.scattered)
	objective := objectiveNear(p.Gamma, xn, interval.Interval{Hi: energy}, d+few, at)
	// ½γ‖x‖² differs from ½γ‖X‖² by at most rounded.
	rounded := (p.Gamma*low*(xn*(1+(d+few)*eps)+low/2) +
		4*roundoff.Underflow*(1+xn+low)) * round
	objective = interval.Interval{
		Lo: math.Max(0, objective.Lo-rounded),
		Hi: objective.Hi + rounded,
	}
	if objective.IsNaN() {
		objective = interval.Nonnegative()
	}
	whole := (energy + math.Hypot(e.Size, root)*low) * round
	rss := interval.WidenRoot(at, e.Size*low*round)
	rss.Lo, rss.Hi = rss.Lo*downward, rss.Hi*upward
	rss = interval.Intersect(rss, rssAbove(objective, p.Gamma, xn, whole, d+few))

	total, lost := e.TSS[j].Round()
	w := Weights{
		Error:     bound,
		Relative:  Relative(bound, xn*(1-(d+few)*eps)),
		Energy:    whole,
		Scattered: e.Scattered(p.X),
		TSS:       interval.Outward(total, lost),
		RSS:       rss,
		Objective: objective,
	}.scored(e.Rows, e.Intercept, e.Projected, &optimum{
		gamma:  p.Gamma,
		target: j,
		dim:    e.Dim,
		x:      p.X,
		xError: bound,
		tss:    interval.Outward(total, lost),
		df:     df,
		rss:    rssNear(p.Gamma, energy, at),
	})
	if e.Intercept {
		value, moved := p.Mean.Round()
		w.Intercept = Intercept{
			Value: value,
			Error: certain((moved + p.MeanNorm*near) * inflate),
			Own:   certain((moved + p.MeanNorm*low) * inflate),
		}
		if p.scattered > 0 {
			w.Intercept = w.Intercept.moved(p.scattered / e.Root * inflate)
		}
	}
	return w
}

// LeastSquaresDimension returns a bracket of the effective dimension at γ = 0, which is the rank of A.
func (e *Dual) LeastSquaresDimension() interval.Interval {
	return interval.Interval{Hi: float64(rank(e.Rows, e.Dim, e.Intercept))}
}

// MinimumNorm returns the bounds for the coefficients p.X of target j at γ = 0. It is for the case that nothing is
// known of the smallest singular value of the features A. The error of the coefficients then has no bound. The
// bracket RSS of ‖A·p.X − b‖² for the target b is still proved, see docs/math.md, Proposition 8.11.
func (e *Dual) MinimumNorm(j int, p *DualPoint) Weights {
	e.unround(p)
	d := float64(e.Dim)
	round := 1 + few*eps
	tiny := float64(e.Rows+1) * (d + few) * roundoff.Underflow
	low := certain((vec.Norm(p.Low)+p.Slack)*(1+(d+few)*eps) + tiny)
	v, off := p.RSS.Round()
	rss := interval.Outward(v, off)
	rss.Lo = math.Max(0, rss.Lo)
	rss = interval.WidenRoot(widen(rss, p.scattered), e.Size*low*round)
	rss.Lo, rss.Hi = rss.Lo*downward, rss.Hi*upward

	total, lost := e.TSS[j].Round()
	tss := interval.Outward(total, lost)
	w := Weights{
		Error:     math.Inf(1),
		Relative:  math.Inf(1),
		Energy:    math.Inf(1),
		Scattered: e.Scattered(p.X),
		TSS:       tss,
		RSS:       rss,
		Objective: interval.Interval{Hi: rss.Hi / 2},
		GCV: scored(e.Rows, e.Intercept, e.Projected, &optimum{
			target: j,
			dim:    e.Dim,
			x:      p.X,
			xError: math.Inf(1),
			tss:    tss,
			df:     Dimension{Interval: e.LeastSquaresDimension()},
			rss:    interval.Interval{Hi: rss.Hi},
		}),
	}
	if e.Intercept {
		value, moved := p.Mean.Round()
		w.Intercept = Intercept{
			Value: value,
			Error: math.Inf(1),
			Own:   certain((moved + p.MeanNorm*low) * inflate),
		}
		if p.scattered > 0 {
			w.Intercept = w.Intercept.moved(p.scattered / e.Root * inflate)
		}
	}
	return w
}

// Unformed returns bounds for the coefficients x = Aᵀα of target j, given α, without computing x. The argument b
// is the target, and remainder bounds ‖b − (AAᵀ + γI)α‖. docs/math.md, Proposition 8.8, has the bounds. The
// intercept has no bound.
func (e *Dual) Unformed(
	j int,
	gamma float64,
	alpha, b []float64,
	remainder float64,
	df Dimension,
) Weights {
	round := (float64(len(alpha)) + few) * eps
	least := math.Sqrt(gamma) * downward
	size := vec.Norm(alpha)
	bn := vec.Norm(b)
	missed, r := gamma*size, remainder*inflate
	at := interval.Squared(missed*downward-r, missed*upward+r)
	at.Lo, at.Hi = at.Lo*downward, at.Hi*upward
	along := vec.Dot(alpha, b)
	off := 2 * round * bn * size * inflate                         // of bᵀα
	xn2 := math.Max(0, along-off-gamma*size*size*(1+round)-r*size) // at most ‖x‖²
	xn := math.Sqrt(xn2) * (1 - round)
	total, lost := e.TSS[j].Round()
	w := Weights{
		Error:     certain(math.Min(1/(2*least), e.Size/gamma) * r),
		Energy:    certain(math.Min(1, e.Size/least) * r),
		Intercept: Intercept{Value: math.NaN(), Error: math.Inf(1)},
		TSS:       interval.Outward(total, lost),
		RSS:       at,
		Objective: interval.Interval{
			Lo: math.Max(0, gamma/2*(along-off)-r*bn/2),
			Hi: gamma/2*(along+off) + r*bn/2,
		},
	}
	w.Relative = Relative(w.Error, xn)
	return w.scored(e.Rows, e.Intercept, e.Projected, &optimum{
		gamma:  gamma,
		target: j,
		dim:    e.Dim,
		xError: math.Inf(1),
		tss:    interval.Outward(total, lost),
		df:     df,
		rss:    at,
	})
}

// certain returns bound. If bound is NaN because of an overflow, it returns +Inf.
func certain(bound float64) float64 {
	if math.IsNaN(bound) {
		return math.Inf(1)
	}
	return bound
}

// Rank returns a bracket of the effective dimension at the penalty γ that needs no factor of a matrix. The bracket
// is from 0 to the smaller of ‖A‖²_F/γ and a bound on the rank of A.
func (e *Dual) Rank(gamma float64) Dimension {
	limit := float64(rank(e.Rows, e.Dim, e.Intercept))
	// e.Size/γ underflows only if e.Size < 4, because γ < 2¹⁰²⁴. Adding 8·2⁻¹⁰⁷⁴ covers the error of the
	// underflow.
	byTrace := e.Size/gamma*e.Size*upward + 8*roundoff.Underflow
	return Dimension{
		interval.Interval{Hi: math.Min(limit, byTrace)},
		interval.Nonnegative(),
	}
}

// largest limits γ. Up to this limit, the reciprocals of the elements of AAᵀ + γI and of its factors are not
// subnormal. So relative bounds on their round-off hold.
const largest = 0x1p1000

// Dimension returns a bracket of the effective dimension n − γ·tr (G + γI)⁻¹, where G = AAᵀ for n rows A. f
// is a factor of G + γI, or a reduction of G to tridiagonal form. If Shift > 0, G has the eigenvalue Shift where
// AAᵀ has the eigenvalue 0. Dimension then subtracts Shift/(Shift+γ). For γ above largest, it returns
// [Dual.Rank].
func (e *Dual) Dimension(f *Factored) Dimension {
	if f.Gamma > largest {
		return e.Rank(f.Gamma)
	}
	df := e.spectrum(f).df
	limit := e.Rank(f.Gamma)
	more := e.Shift / (e.Shift + f.Gamma)
	df.Lo = math.Max(0, df.Lo-more*upward)
	df.Hi = df.Hi - more*downward + float64(len(e.Off))*eps
	return Dimension{
		interval.Interval{
			Lo: math.Min(df.Lo*downward, limit.Hi),
			Hi: math.Min(math.Max(df.Hi*upward, 0), limit.Hi),
		},
		e.logDet(f.Gamma, df.LogDet),
	}
}

// spectrum returns the bounds on G + γI.
func (e *Dual) spectrum(f *Factored) spectrum {
	rows := &Streamed{
		Backend: e.Backend,
		Rows:    e.Rows,
		Dim:     len(e.Off),
	}
	if f.T != nil {
		return rows.tridiagonal(f, e.Off)
	}
	return rows.spectrum(f, e.Off)
}

// DualLeft holds the data from which the leave-one-out error of one target is computed.
type DualLeft struct {
	Diagonal []float64 // diagonal of (G + γI)⁻¹, computed with the tridiagonal form T
	Norms    []float64 // bounds on the norms of the rows of A
	Share    []float64 // w/Σw of each row; nil without an intercept
	Missed   []float64 // b − Ax for coefficients x
	Off      float64   // bounds the error of each element of Missed
	Energy   float64   // bounds ‖H^{½}(x − x*)‖
	// Levers is nil, or receives the leverage of each row. An element stays zero if no bound on the leverage is
	// known.
	Levers []Leverage
}

// LeftOut returns a bracket of the leave-one-out error, see [Dual.LeftOutOf]. Let G = AAᵀ for the rows A. For row i
// of weight w and leverage h, and the sum Σw of all weights,
//
//	1 − h = γ·((G + γI)⁻¹)ᵢᵢ − (w/Σw)·γ/(Shift + γ).
//
// With an intercept, G has the eigenvalue Shift where AAᵀ has the eigenvalue 0. Without an intercept, the last term
// is 0. docs/math.md §8 bounds the error of the first term.
func (e *Dual) LeftOut(f *Factored, l *DualLeft) interval.Interval {
	if f.Gamma > largest {
		return interval.Nonnegative()
	}
	s := e.spectrum(f)
	n := float64(len(l.Diagonal))
	sigma2 := s.sigma * s.sigma * downward
	omega := (s.factor.solved + 4*f.T.rounding(f.Gamma)/sigma2) * inflate
	if !(omega < 0.5) {
		return interval.Nonnegative()
	}
	skew := 2 * f.T.Skew / sigma2 * inflate
	frees := make([]interval.Interval, len(l.Diagonal))
	for i, v := range l.Diagonal {
		round := 2*n*eps + few*eps
		free := interval.Interval{
			Lo: f.Gamma * (v*(1-round)/(1+omega) - skew),
			Hi: f.Gamma * (v*(1+round)/(1-omega) + skew),
		}
		if !(v <= math.MaxFloat64) || !(skew <= math.MaxFloat64) {
			return interval.Nonnegative() // the reciprocal of γ overflows
		}
		share := 0.0
		if l.Share != nil {
			share = l.Share[i]
		}
		along := share * f.Gamma / (e.Shift + f.Gamma)
		frees[i] = interval.Interval{
			Lo: free.Lo - along*upward,
			Hi: free.Hi - along*downward,
		}
	}
	return e.LeftOutOf(f.Gamma, frees, l)
}

// LeftOutOf returns a bracket of the leave-one-out error Σ w·(r/(1 − h))²/n of the exact solution at the penalty
// γ. The sum is over n rows with weights w, residuals r and leverages h. free holds a bracket of 1 − h for each
// row. The norms of the rows give a second bracket of 1 − h, and LeftOutOf uses both.
func (e *Dual) LeftOutOf(
	gamma float64,
	free []interval.Interval,
	l *DualLeft,
) interval.Interval {
	if gamma > largest {
		return interval.Nonnegative()
	}
	var sum interval.Interval
	for i, free := range free {
		free = l.narrow(gamma, i, free)
		if l.Levers != nil {
			l.Levers[i] = Leverage{Free: free, Estimate: free.Mid()}
		}
		v := l.squared(i, free)
		sum.Lo += v.Lo
		sum.Hi += v.Hi
	}
	round := (float64(len(free)) + few) * eps
	out := interval.Interval{
		Lo: math.Max(0, sum.Lo/float64(e.Rows)*(1-round)-roundoff.Underflow),
		Hi: sum.Hi / float64(e.Rows) * (1 + round),
	}
	if out.IsNaN() || !(out.Hi <= math.MaxFloat64/2) {
		return interval.Nonnegative()
	}
	return out
}

// narrow returns the part of free that is also inside the bounds that follow from the norm of row i. The argument
// free is a bracket of 1 − h for the leverage h of this row.
func (l *DualLeft) narrow(gamma float64, i int, free interval.Interval) interval.Interval {
	others := 1.0
	if l.Share != nil {
		others = math.Max(0, 1-l.Share[i]-few*eps)
	}
	free.Hi = math.Min(1, free.Hi)
	far := l.Norms[i] * upward
	if v := others * gamma / (gamma + far*far/others) * downward; v > free.Lo { // false if v is NaN
		free.Lo = v
	}
	free.Lo = math.Min(free.Lo, free.Hi)
	return free
}

// squared returns a bracket of w·(r/(1 − h))² for row i with weight w, residual r and leverage h. free brackets
// 1 − h.
func (l *DualLeft) squared(i int, free interval.Interval) interval.Interval {
	off := (l.Off + l.Energy) * upward // Energy bounds the error of √w·aᵀx for row a
	lo := math.Max(0, math.Abs(l.Missed[i])-off) / free.Hi
	hi := (math.Abs(l.Missed[i]) + off) / free.Lo
	if !(free.Lo > 0) || !(free.Hi > 0) {
		lo = 0
		hi = math.Inf(1)
		if l.Missed[i] == 0 && off == 0 {
			hi = 0
		}
	}
	return interval.Interval{
		Lo: lo * lo * downward,
		Hi: hi*hi*upward + roundoff.Underflow,
	}
}

// Spread adds to widths[i] the width of the bracket of w·(r/(1 − h))², for row i of weight w, residual r and
// leverage h. The argument free holds a bracket of 1 − h for each row. A large width means that 1 − h should be
// known better.
func (l *DualLeft) Spread(gamma float64, free []interval.Interval, widths []float64) {
	for i, free := range free {
		v := l.squared(i, l.narrow(gamma, i, free))
		widths[i] += v.Hi - v.Lo
	}
}

// DimensionOf returns a bracket of the effective dimension: the sum of the leverages h of all rows, minus 1 if
// there is an intercept. The argument free holds a bracket of 1 − h for each row.
func (e *Dual) DimensionOf(gamma float64, free []interval.Interval) Dimension {
	total := interval.Total(free)
	n := float64(len(free))
	if e.Intercept {
		n--
	}
	limit := e.Rank(gamma)
	df := interval.Interval{
		Lo: math.Max(0, n-total.Hi-few*eps*n),
		Hi: math.Max(0, n-total.Lo+few*eps*n),
	}
	if df.IsNaN() {
		return limit
	}
	return Dimension{
		interval.Interval{
			Lo: math.Min(df.Lo, limit.Hi),
			Hi: math.Min(df.Hi, limit.Hi),
		},
		interval.Nonnegative(),
	}
}
