package adversary

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/randsketch"
	"github.com/fdridge/fdridge/ridge"
)

// mostCondition is up to which κ(H) the reference is trusted to be exact.
const mostCondition = 0x1p330

// Evaluate streams the problem of g through the library and compares all that is
// certified with the truth. A panic is reported as the certificate "panic: …".
func Evaluate(g Genome) *Report { return evaluate(newProblem(g)) }

func evaluate(p *problem) (r *Report) {
	r = &Report{Ratios: map[string]float64{}, Refused: map[string]int{}}
	defer func() {
		if e := recover(); e != nil {
			r.worst(fmt.Sprintf("panic: %v", e), math.Inf(1))
		}
	}()
	e := &evaluation{Report: r, p: p}
	if e.refused("preparation", p.prepare()) || !e.solved() {
		return r
	}
	var err error
	if e.sum, err = p.summary(p.g.Size); e.refused("summary", err) {
		return r
	}
	e.sketch()
	e.oneShot()
	e.predictor()
	e.path()
	if p.g.cycles() > 1 {
		if p.replay() {
			e.iterate()
			e.exact()
		}
		return r
	}
	e.sizeFor()
	if p.replay() {
		e.iterate()
		e.passes()
		e.exact()
		e.crossValidate()
		e.random()
	}
	return r
}

// solved makes the reference and the exact solution at γ, where that is a γ.
func (e *evaluation) solved() bool {
	p, g := e.p, e.p.g
	p.moments = p.reference(g.Intercept, everything)
	trace := refbig.Float(0)
	for j := range p.moments.K {
		trace.Add(trace, p.moments.K[j][j])
	}
	if trace.Sign() == 0 {
		trace = refbig.Float(1)
	}
	gamma := refbig.Float(math.Pow(10, g.Gamma))
	if !g.Absolute {
		gamma.Mul(gamma, trace)
	}
	p.gamma, _ = gamma.Float64()
	if !(p.gamma > 0) || math.IsInf(p.gamma, 0) {
		e.Refused["γ out of range"]++
		return false
	}
	e.truth = e.solve(p.gamma)
	return e.truth != nil
}

// An evaluation is under way.
type evaluation struct {
	*Report
	p     *problem
	sum   *ridge.Summary
	truth *refbig.Solution
	fits  []*ridge.Solution // to narrow predictions by
}

// refused books an error. Only those that the library documents for bad data are
// expected; any other is a false certificate of its kind.
func (e *evaluation) refused(what string, err error) bool {
	if err == nil {
		return false
	}
	var outOfRange *fd.RangeError
	var singular *ridge.SingularError
	var gamma *ridge.GammaError
	var scale *ridge.ScaleError
	switch {
	case badInput(err), errors.As(err, &outOfRange), errors.As(err, &singular), errors.As(err, &gamma), errors.As(err, &scale),
		errors.Is(err, ridge.ErrNoRange):
		e.Refused[what]++
	default:
		e.worst("error: "+what+": "+err.Error(), math.Inf(1))
	}
	return true
}

// solve is the exact solution, nil where the reference cannot tell.
func (e *evaluation) solve(gamma float64) *refbig.Solution {
	if !exactEnough(e.p.moments, gamma) {
		e.Refused["beyond the reference"]++
		return nil
	}
	s, err := e.p.moments.Solve(gamma)
	if err != nil {
		e.Refused["reference"]++
		return nil
	}
	return s
}

// exactEnough: γ is not too small beside tr K.
func exactEnough(p *refbig.Problem, gamma float64) bool {
	limit := new(big.Float).Mul(refbig.Float(gamma), refbig.Float(mostCondition))
	for j := range p.K {
		if p.K[j][j].Cmp(limit) > 0 {
			return false
		}
	}
	return true
}

// certificate holds all that f claims against the truth.
func (e *evaluation) certificate(name string, f *ridge.Solution, truth *refbig.Solution) {
	p := e.p.moments
	name += ": "
	rank := float64(min(p.D, p.N))
	if p.Intercept {
		rank = float64(min(p.D, p.N-1))
	}
	e.within(name+"effective dimension", f.EffectiveDimension, truth.EffectiveDimension, refbig.Float(float64(p.D)), 0, rank)
	for j := range p.T {
		c := f.Targets[j]
		x := c.Coef
		if !finite(x) || !finite([]float64{c.Intercept}) {
			e.worst(name+"finite weights", math.Inf(1))
			return
		}
		off, size := distance(x, truth.Coef[j]), normOf(truth.Coef[j])
		e.atMost(name+"weights", off, c.ErrorBound)
		if size.Sign() > 0 {
			relative := new(big.Float).Quo(off, size)
			e.atMost(name+"relative", relative, c.RelativeErrorBound)
		}
		e.atMost(name+"intercept", new(big.Float).Abs(new(big.Float).Sub(refbig.Float(c.Intercept), truth.Intercept[j])), c.InterceptBound)
		e.atMost(name+"energy", p.Energy(f.Gamma, x, truth.Coef[j]), c.EnergyBound)
		e.within(name+"TSS", c.TSS, p.YY[j], p.YY[j], 0, math.Inf(1))
		e.within(name+"RSS", c.RSS, p.RSS(j, x), p.YY[j], 0, math.Inf(1))
		e.within(name+"objective", c.Objective, truth.Objective[j], p.YY[j], 0, math.Inf(1))
		if truth.GCV[j] == nil {
			if !math.IsInf(c.GCV.Hi, 1) {
				e.worst(name+"GCV", math.Inf(1))
			}
		} else {
			e.within(name+"GCV", c.GCV, truth.GCV[j], truth.GCV[j], 0, math.Inf(1))
		}
	}
}

// oneShot is the two fits from the summary alone.
func (e *evaluation) oneShot() {
	robust, err := e.sum.Fit(e.p.gamma)
	if !e.refused("one-shot RFD", err) {
		e.certificate("one-shot RFD", robust, e.truth)
		e.contraction("one-shot RFD", true, robust)
	}
	plain, err := e.sum.FitFD(e.p.gamma)
	if !e.refused("one-shot FD", err) {
		e.certificate("one-shot FD", plain, e.truth)
		e.contraction("one-shot FD", false, plain)
		e.fits = append(e.fits, plain)
	}
}

// iterate is what the genome's solver returns, converged or not, and what it said on
// the way.
func (e *evaluation) iterate() {
	g := e.p.g
	name := g.Method.String()
	opts := ridge.SolveOptions{
		Method: g.Method, PlainFD: g.PlainFD, Tol: math.Pow(10, g.Tol), MaxPasses: g.Passes,
		Observe: func(it ridge.Iterate) {
			if it.Measured {
				e.relative(name+": iterates", it.Coef, it.Target, it.RelativeError)
			}
		},
	}
	f := e.run(name, opts)
	if f == nil {
		return
	}
	e.certificate(name, f, e.truth)
	e.fits = append(e.fits, f)
}

// run is ridge.Solve, or the best that it had.
func (e *evaluation) run(name string, opts ridge.SolveOptions) *ridge.Solution {
	f, err := ridge.Solve(context.Background(), e.p.source, e.sum, e.p.gamma, opts)
	var short *ridge.NotConvergedError
	if errors.As(err, &short) {
		e.Refused[name+" did not converge"]++
		return short.Solutions[0]
	}
	if e.refused(name, err) {
		return nil
	}
	return f
}

// relative records the relative error of weights x for target j.
func (e *evaluation) relative(name string, x []float64, j int, bound float64) {
	if size := normOf(e.truth.Coef[j]); size.Sign() > 0 && finite(x) {
		e.atMost(name, new(big.Float).Quo(distance(x, e.truth.Coef[j]), size), bound)
	}
}

// exact is both factorizations, at γ and for least squares.
func (e *evaluation) exact() {
	for _, factor := range []ridge.Factor{ridge.Cholesky, ridge.QR} {
		name := factor.String()
		opts := ridge.ExactOptions{Factor: factor, Intercept: e.p.g.Intercept}
		fits, err := ridge.Exact(context.Background(), e.p.source, []float64{e.p.gamma}, opts)
		if !e.refused(name, err) {
			e.certificate(name, fits[0], e.truth)
			e.fits = append(e.fits, fits[0])
		}
		if e.p.g.cycles() > 1 {
			continue
		}
		fits, err = ridge.Exact(context.Background(), e.p.source, []float64{0}, opts)
		if e.refused(name+" at 0", err) {
			continue
		}
		if truth, err := e.p.moments.Solve(0); err == nil {
			e.certificate(name+" at 0", fits[0], truth)
			continue
		}
		for _, o := range fits[0].Targets { // nothing may be promised
			if !math.IsInf(o.ErrorBound, 1) {
				e.worst(name+" at 0: weights", math.Inf(1))
			}
		}
	}
}

// predictor is the intervals for rows of the data and for some far from them.
func (e *evaluation) predictor() {
	pr, err := e.sum.Predictor(e.p.gamma)
	if e.refused("prediction", err) {
		return
	}
	e.predict("prediction", pr)
	for _, f := range e.fits {
		if err := pr.Narrow(f); !e.refused("narrowed prediction", err) {
			e.predict("narrowed prediction", pr)
		}
	}
}

func (e *evaluation) predict(name string, pr *ridge.Predictor) {
	d, t := e.p.g.Cols, e.p.g.Targets
	var x []float64
	add := func(row []float64, factor float64) {
		for _, v := range row {
			x = append(x, math.Max(-1e149, math.Min(1e149, v*factor)))
		}
	}
	for i, factor := range []float64{1, -3, 1e6, 0} {
		add(e.p.x[i%len(e.p.x)], factor)
	}
	add(e.p.x[len(e.p.x)-1], 1) // of another level, if any is
	n := len(x) / d
	dst := make([]ridge.Interval, n*t)
	if e.refused(name, pr.Predict(dst, dataset.Block{N: n, X: x})) {
		return
	}
	for i := range n {
		for j := range t {
			y := new(big.Float).Set(e.truth.Intercept[j])
			scale := new(big.Float).Abs(y)
			for k, v := range x[i*d : (i+1)*d] {
				term := new(big.Float).Mul(refbig.Float(v), e.truth.Coef[j][k])
				y.Add(y, term)
				scale.Add(scale, term.Abs(term))
			}
			e.within(name, dst[i*t+j], y, scale, math.Inf(-1), math.Inf(1))
		}
	}
}

// path is what is said of the choice of γ by GCV.
func (e *evaluation) path() {
	var gammas []float64
	var truths []*refbig.Solution
	for _, f := range []float64{1, 1e-4, 1e-2, 10} {
		gamma := e.p.gamma * f
		if !(gamma > 0x1p-1000) || math.IsInf(gamma, 0) {
			continue
		}
		if s := e.solve(gamma); s != nil {
			gammas, truths = append(gammas, gamma), append(truths, s)
		}
	}
	if len(gammas) == 0 {
		return
	}
	fits, err := e.sum.Path(gammas)
	if e.refused("path", err) {
		return
	}
	for i, f := range fits {
		e.certificate("path", f, truths[i])
	}
	choice, err := ridge.ChooseGCV(fits, 0)
	if e.refused("choice", err) {
		return
	}
	var scores []*big.Float
	for _, s := range truths {
		scores = append(scores, s.GCV[0])
	}
	e.choice("choice by GCV", choice, scores)
}

// choice holds a choice against the true scores, nil being infinite.
func (e *evaluation) choice(name string, c ridge.Choice, scores []*big.Float) {
	least := -1
	for i, v := range scores {
		if v != nil && (least < 0 || v.Cmp(scores[least]) < 0) {
			least = i
		}
	}
	if least < 0 {
		return
	}
	chosen := scores[c.Index]
	if chosen == nil {
		if !math.IsInf(c.Excess, 1) { // its score is infinite
			e.worst(name, math.Inf(1))
		}
		return
	}
	excess := new(big.Float).Sub(chosen, scores[least])
	if slack := new(big.Float).SetMantExp(chosen, -400); excess.Cmp(slack) <= 0 {
		excess = refbig.Float(0)
	}
	if c.Certain && excess.Sign() > 0 {
		e.worst(name, math.Inf(1))
		return
	}
	e.atMost(name, excess, c.Excess)
}

// sizeFor builds the sketch of the size that is proved to suffice.
func (e *evaluation) sizeFor() {
	const want = 0.1
	m, _, err := e.sum.SizeFor(want, e.p.gamma)
	if err != nil { // round-off leaves no such size
		e.Refused["size"]++
		return
	}
	sum, err := e.p.summary(m)
	if e.refused("size", err) {
		return
	}
	f, err := sum.Fit(e.p.gamma)
	if e.refused("size", err) {
		return
	}
	for j, o := range f.Targets {
		e.relative("proved size", o.Coef, j, want)
	}
}

// random is the preconditioners of randsketch, of the rows as they came.
func (e *evaluation) random() {
	g := e.p.g
	if e.p.weights != nil {
		return
	}
	raw := e.p.moments
	if g.Intercept {
		raw = e.p.reference(false, everything)
		if !exactEnough(raw, e.p.gamma) {
			return
		}
	}
	ny, err := randsketch.NewNystrom(randsketch.NystromConfig{Rank: g.Size, Dim: g.Cols, Seed: g.Seed})
	if e.refused("Nyström", err) || e.refused("Nyström", ny.AppendSource(context.Background(), e.p)) {
		return
	}
	spec, err := ny.Spectrum()
	if e.refused("Nyström", err) {
		return
	}
	e.hessian("Nyström", raw, spec)
	if !g.Intercept {
		f := e.run("cg by Nyström", ridge.SolveOptions{Tol: math.Pow(10, g.Tol), MaxPasses: g.Passes, Hessian: spec})
		if f != nil {
			e.certificate("cg by Nyström", f, e.truth)
		}
	}
	kind := []randsketch.Kind{randsketch.Gaussian, randsketch.SJLT}[g.Seed%2]
	sk, err := randsketch.New(randsketch.Config{Kind: kind, Rows: g.Size, Dim: g.Cols, Seed: g.Seed})
	if e.refused("random sketch", err) || e.refused("random sketch", sk.AppendSource(context.Background(), e.p)) {
		return
	}
	if spec, err = sk.Spectrum(); !e.refused("random sketch", err) {
		e.hessian("random sketch", raw, spec)
	}
}

// hessian holds the bounds on K − K̂ and on Ĥ⁻¹H.
func (e *evaluation) hessian(name string, raw *refbig.Problem, s *randsketch.Spectrum) {
	approx := gram(s.Dim, s.Lambda, s.V)
	least, most := extremes(combine(raw.K, approx, -1), raw.K)
	e.atMost(name+": Over", most, s.Over)
	e.atMost(name+": Under", new(big.Float).Neg(least), s.Under)

	h, hhat := combine(raw.K, raw.K, 0), combine(approx, approx, 0)
	projector := gram(s.Dim, ones(len(s.Lambda)), s.V)
	for i := range h {
		h[i][i] = sum(h[i][i], refbig.Float(e.p.gamma))
		hhat[i][i] = sum(hhat[i][i], refbig.Float(e.p.gamma))
		for j := range h {
			rest := new(big.Float).Neg(projector[i][j])
			if i == j {
				rest.Add(rest, refbig.Float(1))
			}
			hhat[i][j] = sum(hhat[i][j], rest.Mul(rest, refbig.Float(s.Floor)))
		}
	}
	spectrum, err := refbig.Pencil(h, hhat)
	if err != nil || spectrum[len(spectrum)-1].Cmp(refbig.Float(0x1p100)) > 0 { // the reference is off by 2⁻¹⁹⁰ of the largest
		return
	}
	lo, hi := s.Range(e.p.gamma)
	e.atMost(name+": Range above", spectrum[len(spectrum)-1], hi)
	if lo > 0 {
		e.worst(name+": Range below", oneSided(refbig.Float(lo), spectrum[0], new(big.Float).Sub(refbig.Float(lo), spectrum[0]), refbig.Float(0)))
	}
}
