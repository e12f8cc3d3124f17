package adversary

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
)

// mostTwofold is up to which tr K/γ + 1 pairs of float64 are trusted, and twofoldUnit
// what they round by.
const (
	mostTwofold = 0x1p34
	twofoldUnit = 0x1p-103
)

// A wide is an evaluation of a large problem under way.
type wide struct {
	*Report
	p      *problem
	ref    *Twofold
	gammas []float64
	truths []*TwofoldSolution
	sum    *ridge.Summary
}

// EvaluateLarge is [Evaluate] with pairs of float64 for a reference.
func EvaluateLarge(g Large) (r *Report) {
	r = &Report{Ratios: map[string]float64{}, Refused: map[string]int{}}
	defer func() {
		if e := recover(); e != nil {
			r.worst(fmt.Sprintf("panic: %v", e), math.Inf(1))
		}
	}()
	p := newProblem(Genome(g))
	e := &wide{Report: r, p: p}
	if e.refused("preparation", p.prepare()) {
		return r
	}
	if !e.solve() {
		return r
	}
	var err error
	e.sum, err = p.summary(g.Size)
	if e.refused("summary", err) {
		return r
	}
	e.oneShot()
	if p.replay() {
		e.iterate()
		e.exact()
	}
	return r
}

// refused is [evaluation.refused] for the report of a large problem.
func (e *wide) refused(what string, err error) bool {
	return (&evaluation{Report: e.Report}).refused(what, err)
}

// solve makes the reference, and the solutions at γ and two others.
func (e *wide) solve() bool {
	p := e.p
	e.ref = p.twofold()
	trace := e.ref.Trace
	if trace == 0 {
		trace = 1
	}
	gamma := trace * math.Pow(10, p.g.Gamma)
	for _, f := range []float64{1, 100, 1e-2} {
		if !((trace+gamma*f)/(gamma*f) <= mostTwofold) {
			continue
		}
		s, err := e.ref.Solve(gamma * f)
		if err != nil {
			e.Refused["reference"]++
			continue
		}
		e.gammas, e.truths = append(e.gammas, gamma*f), append(e.truths, s)
	}
	if len(e.gammas) == 0 {
		e.Refused["beyond the reference"]++
	}
	return len(e.gammas) > 0
}

// twofold is reference for many features.
func (p *problem) twofold() *Twofold {
	w, next := zeros(len(p.x)), 0
	for i, id := range p.stream {
		for next < len(p.betas) && p.decayAt(next) <= i {
			next++
		}
		w[id].Add(w[id], p.left(i, next))
	}
	var x, y [][]float64
	var weights []Pair
	for id, v := range w {
		if v.Sign() > 0 {
			x, y, weights = append(x, p.x[id]), append(y, p.y[id]), append(weights, PairOf(v))
		}
	}
	if len(x) == 0 {
		x, y, weights = p.x[:1], p.y[:1], make([]Pair, 1)
	}
	ref := NewTwofold(x, y, weights, p.g.Intercept)
	ref.N = len(p.stream)
	return ref
}

// scaled returns v·2⁴⁰⁰: [Report.within] allows for an error of 2⁻⁴⁰⁰ times its scale, here v.
func scaled(v float64) *big.Float { return new(big.Float).SetMantExp(refbig.Float(v), 400) }

// certificate holds all that f claims against the truth.
func (e *wide) certificate(name string, f *ridge.Solution, truth *TwofoldSolution) {
	ref := e.ref
	name += ": "
	d, n := float64(ref.D), float64(ref.N)
	rank := min(ref.D, ref.N)
	if ref.Intercept {
		rank = min(ref.D, ref.N-1)
	}
	unit := twofoldUnit * (n + d) * (ref.Trace/truth.Gamma + 1)
	e.within(
		name+"effective dimension",
		f.EffectiveDimension,
		truth.EffectiveDimension.Big(),
		scaled(d*unit),
		0,
		float64(rank),
	)
	for j := range ref.T {
		c := f.Targets[j]
		x := c.Coef
		if !finite(x) || !finite([]float64{c.Intercept}) {
			e.worst(name+"finite weights", math.Inf(1))
			return
		}
		off, size := distances(x, truth.Coef[j])
		e.atMost(name+"weights", off, c.ErrorBound)
		if size.Sign() > 0 {
			e.atMost(name+"relative", new(big.Float).Quo(off, size), c.RelativeErrorBound)
		}
		at := make([]Pair, len(x))
		norm2 := 0.0
		for i, v := range x {
			at[i].Hi = v
			norm2 += v * v
		}
		yy := ref.YY[j].Hi
		e.within(name+"RSS", c.RSS, ref.RSS(j, at).Big(), scaled(twofoldUnit*n*d*(yy+ref.Trace*norm2)), 0, math.Inf(1))
		e.within(name+"objective", c.Objective, truth.Objective[j].Big(), scaled(unit*yy), 0, math.Inf(1))
		free := truth.Free
		if !(free.Hi > 1e6*d*unit) {
			continue // n = df, as far as pairs can tell
		}
		gcv := truth.RSS[j].Mul(Pair{Hi: n}).Quo(free.Mul(free))
		e.within(
			name+"GCV",
			c.GCV,
			gcv.Big(),
			scaled(gcv.Hi*2*d*unit/free.Hi+unit*yy*n/free.Hi/free.Hi),
			0,
			math.Inf(1),
		)
	}
}

// distances are ‖x − y‖ and ‖y‖.
func distances(x []float64, y []Pair) (off, size *big.Float) {
	var a, b Pair
	for i, v := range y {
		diff := Pair{Hi: x[i]}.Sub(v)
		a, b = a.Add(diff.Mul(diff)), b.Add(v.Mul(v))
	}
	return a.Sqrt().Big(), b.Sqrt().Big()
}

// oneShot is all that the summary says by itself.
func (e *wide) oneShot() {
	gamma := e.gammas[0]
	robust, err := e.sum.Fit(gamma)
	if !e.refused("one-shot RFD", err) {
		e.certificate("one-shot RFD", robust, e.truths[0])
	}
	plain, err := e.sum.FitFD(gamma)
	if !e.refused("one-shot FD", err) {
		e.certificate("one-shot FD", plain, e.truths[0])
	}
	fits, err := e.sum.Path(e.gammas)
	if !e.refused("path", err) {
		for i, f := range fits {
			e.certificate("path", f, e.truths[i])
		}
	}
	e.predict("prediction", nil)
	if plain != nil {
		e.predict("narrowed prediction", plain)
	}
}

// iterate checks the results of the genome's solver for all γ, converged or not.
func (e *wide) iterate() {
	g := e.p.g
	name := g.Method.String()
	opts := ridge.SolveOptions{Method: g.Method, PlainFD: g.PlainFD, Tol: math.Pow(10, g.Tol), MaxPasses: g.Passes}
	fits, err := ridge.SolvePath(context.Background(), e.p.source, e.sum, e.gammas, opts)
	if short, ok := errors.AsType[*ridge.NotConvergedError](err); ok {
		e.Refused[name+" did not converge"]++
		fits = short.Solutions
	} else if e.refused(name, err) {
		return
	}
	for _, f := range fits {
		for i, gamma := range e.gammas {
			if f.Gamma == gamma {
				e.certificate(name, f, e.truths[i])
			}
		}
	}
	if len(fits) > 0 && fits[0].Gamma == e.gammas[0] {
		e.predict("prediction by "+name, fits[0])
	}
}

// exact is Cholesky, the reduction to tridiagonal form, and QR where it takes no longer than the
// reference.
func (e *wide) exact() {
	for _, factor := range []ridge.Method{ridge.Cholesky, ridge.Tridiagonal, ridge.QR} {
		if factor == ridge.QR && e.p.g.Cols > 200 && e.p.g.Seed%4 > 0 {
			continue
		}
		fits, err := ridge.SolveExact(
			context.Background(),
			e.p.source,
			e.gammas,
			ridge.ExactOptions{Method: factor, Intercept: e.p.g.Intercept},
		)
		if e.refused(factor.String(), err) {
			continue
		}
		for i, f := range fits {
			e.certificate(factor.String(), f, e.truths[i])
		}
		e.predict("prediction by "+factor.String(), fits[0])
	}
}

// predict is the intervals at γ for rows near the data and far from them, narrowed by
// a fit if there is one.
func (e *wide) predict(name string, f *ridge.Solution) {
	d, t := e.p.g.Cols, e.p.g.Targets
	pr, err := e.sum.Predictor(e.gammas[0])
	if e.refused(name, err) || (f != nil && e.refused(name, pr.Narrow(f))) {
		return
	}
	var x []float64
	for i, factor := range []float64{1, -3, 1e6, 0} {
		for _, v := range e.p.x[i%len(e.p.x)] {
			x = append(x, v*factor)
		}
	}
	x = append(x, e.p.x[len(e.p.x)-1]...)
	n := len(x) / d
	dst := make([]ridge.Interval, n*t)
	if e.refused(name, pr.Predict(dst, dataset.Block{N: n, X: x})) {
		return
	}
	truth := e.truths[0]
	unit := twofoldUnit * float64(e.ref.N+d) * (e.ref.Trace/truth.Gamma + 1)
	for i := range n {
		for j := range t {
			y, size := truth.Intercept[j], 0.0
			for k, v := range x[i*d : (i+1)*d] {
				term := truth.Coef[j][k].Mul(Pair{Hi: v})
				y, size = y.Add(term), size+math.Abs(term.Hi)
			}
			e.within(
				name,
				dst[i*t+j],
				y.Big(),
				scaled(unit*(math.Abs(truth.Intercept[j].Hi)+size)),
				math.Inf(-1),
				math.Inf(1),
			)
		}
	}
}
