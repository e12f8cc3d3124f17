package ridge

import (
	"context"
	"math"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/dual"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// mostMeasured is how often a dual solution is measured at most. Each time leaves of an error what
// the factor is off by.
const mostMeasured = 6

// A dualSystem is a target at a γ on its way: where it is measured next, what is left there of
// b − (G + γI)α, and the best that was found.
type dualSystem struct {
	dual.Point
	df     interval.Interval
	left   []float64
	norm   float64 // bounds that of left; +Inf before it was measured
	found  *dual.Found
	bounds certify.Weights
	ended  bool
}

// A dualSolver overwrites what is left of each system, of several γ, with (G + γI)⁻¹ of it, about.
type dualSolver func(open []*dualSystem) error

// A dualFit is what was found at one γ: a system for each target.
type dualFit struct {
	systems []*dualSystem
	by      Method
}

// certifiedTo says that all targets are certified to a relative error.
func (f *dualFit) certifiedTo(tol float64) bool {
	for _, s := range f.systems {
		if !(s.bounds.Relative <= tol) {
			return false
		}
	}
	return true
}

// finite says that all weights are.
func (f *dualFit) finite() bool {
	for _, s := range f.systems {
		for _, v := range s.found.X {
			if v-v != 0 { // NaN or infinite
				return false
			}
		}
	}
	return true
}

// solve solves for all γ.
func (e *dualExact) solve(ctx context.Context, gammas []float64) ([]*Solution, error) {
	fits := make([]*Solution, 0, len(gammas))
	for part := range slices.Chunk(gammas, e.batch()) {
		found, err := e.find(ctx, part)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			fits = append(fits, e.solution(f))
		}
	}
	return fits, nil
}

// find solves for some γ: for many by one reduction of G.
func (e *dualExact) find(ctx context.Context, gammas []float64) ([]*dualFit, error) {
	if e.by != DualCG && e.plan.reduces() {
		return e.byReduction(ctx, gammas)
	}
	fits := make([]*dualFit, 0, len(gammas))
	for _, g := range gammas {
		f, err := e.fit(ctx, g)
		if err != nil {
			return nil, err
		}
		fits = append(fits, f)
	}
	return fits, nil
}

// batch is how many γ are solved for together: what is measured at them takes no more than 64 MiB, or
// n² numbers.
func (e *dualExact) batch() int {
	n := float64(e.data.N())
	each := float64(e.t) * (8*float64(e.d) + 16*n)
	return max(1, int(math.Max(n*n, 8<<20)/each))
}

// fit solves for one γ, by conjugate gradients or a factor of its own.
func (e *dualExact) fit(ctx context.Context, gamma float64) (*dualFit, error) {
	if e.by == DualCG {
		f, converged, err := e.byCG(ctx, gamma)
		if err != nil || converged {
			return f, err
		}
		if err := e.fallBack(ctx); err != nil {
			return nil, err
		}
	}
	factored := e.gram.Cholesky(e.opts.Backend, gamma, e.work)
	if factored == nil {
		return nil, &SingularError{gamma, Dual, -1}
	}
	systems := e.systems(gamma, e.known.Dimension(factored))
	n := e.data.N()
	err := e.refine(ctx, systems, func(open []*dualSystem) error {
		all := leftOf(open)
		e.opts.Backend.CholeskySolve(engine.View(n, n, factored.R), engine.View(len(open), n, all))
		putLeft(open, all)
		return nil
	})
	if err != nil {
		return nil, err
	}
	found := &dualFit{systems, Dual}
	if !found.finite() {
		return nil, &SingularError{gamma, Dual, -1}
	}
	return found, nil
}

// byReduction solves for several γ together. Where T says too little of G + γI at one of them it is
// factored by itself.
func (e *dualExact) byReduction(ctx context.Context, gammas []float64) ([]*dualFit, error) {
	e.reduce()
	var served []*dualSystem
	for _, g := range gammas {
		if f, ok := e.reduced(g); ok {
			served = append(served, e.systems(g, e.known.Dimension(f))...)
		}
	}
	err := e.refine(ctx, served, func(open []*dualSystem) error {
		gammas := make([]float64, len(open))
		for i, s := range open {
			gammas[i] = s.Gamma
		}
		all := leftOf(open)
		e.turned.SolveEach(gammas, all) // of which each is positive definite
		putLeft(open, all)
		return nil
	})
	if err != nil {
		return nil, err
	}
	fits := make([]*dualFit, 0, len(gammas))
	for _, g := range gammas {
		var f *dualFit
		if len(served) > 0 && served[0].Gamma == g {
			f = &dualFit{served[:e.t], Dual}
			served = served[e.t:]
		}
		if f == nil || !f.certifiedTo(math.Max(e.tol(), dualTol)) {
			other, err := e.fit(ctx, g)
			if err != nil && (f == nil || !f.finite()) {
				return nil, err
			}
			if err == nil {
				f = other
			}
		}
		fits = append(fits, f)
	}
	return fits, nil
}

// reduce reduces G, once. Where that is beyond range e.turned stays nil.
func (e *dualExact) reduce() {
	if e.turned == nil {
		n := e.data.N()
		e.turned = e.gram.Reduce(e.opts.Backend, make([]float64, n*n))
	}
}

// reduced is what T tells of G + γI; not ok where that is as good as nothing.
func (e *dualExact) reduced(gamma float64) (f *certify.Factored, ok bool) {
	if e.turned == nil {
		return nil, false
	}
	_, _, ok = e.turned.Factor(gamma)
	return &certify.Factored{Gamma: gamma, T: e.turned.T}, ok
}

// leftOf is what is left of all, one behind the other.
func leftOf(open []*dualSystem) (all []float64) {
	for _, s := range open {
		all = append(all, s.left...)
	}
	return all
}

// putLeft puts it back.
func putLeft(open []*dualSystem, all []float64) {
	for i, s := range open {
		copy(s.left, all[i*len(s.left):])
	}
}

// systems are those of all targets at γ, at α = 0.
func (e *dualExact) systems(gamma float64, df interval.Interval) []*dualSystem {
	out := make([]*dualSystem, e.t)
	for j := range out {
		n := e.data.N()
		out[j] = &dualSystem{
			Point: dual.Point{Gamma: gamma, Target: j, Hi: make([]float64, n), Lo: make([]float64, n)},
			df:    df, left: slices.Clone(e.start[j]), norm: math.Inf(1),
		}
	}
	return out
}

// tol is the relative error to be certified.
func (e *dualExact) tol() float64 {
	if e.opts.Tol > 0 {
		return e.opts.Tol
	}
	return dualTol
}

// refine moves each α by what solve makes of what is left there, measures anew, and goes on as
// long as that is not certified to the tolerance and comes nearer.
func (e *dualExact) refine(ctx context.Context, systems []*dualSystem, solve dualSolver) error {
	for range mostMeasured {
		var open []*dualSystem
		for _, s := range systems {
			if !s.ended {
				open = append(open, s)
			}
		}
		if len(open) == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := solve(open); err != nil {
			return err
		}
		points := make([]dual.Point, len(open))
		for i, s := range open {
			e.move(s)
			points[i] = s.Point
		}
		if e.reads {
			e.passes++
		}
		found, err := e.data.Measure(ctx, e.opts.Backend, points)
		if err != nil {
			return err
		}
		for i, s := range open {
			e.take(s, found[i])
		}
	}
	return nil
}

// move adds what a solve has left in s.left, which is of α, to θ.
func (e *dualExact) move(s *dualSystem) {
	for i, v := range s.left {
		if root := e.data.Root(i); root > 0 {
			hi, lo := twofold.Sum(s.Hi[i], v/root)
			s.Hi[i], s.Lo[i] = twofold.Sum(hi, lo+s.Lo[i])
		}
	}
}

// take takes in what was measured.
func (e *dualExact) take(s *dualSystem, found *dual.Found) {
	bounds := e.known.Weights(s.Target, &certify.DualPoint{
		Gamma: s.Gamma, X: found.X, Low: found.Low, Apart: found.Apart, Slack: found.Slack, Norm: found.Norm,
		RSS: found.RSS, Mean: found.Mean, MeanNorm: found.MeanNorm,
	}, s.df)
	if s.found == nil || bounds.Error < s.bounds.Error {
		s.found, s.bounds = found, bounds
	}
	s.ended = bounds.Relative <= e.tol() || !(found.Norm < s.norm/2)
	s.norm = found.Norm
	copy(s.left, found.Residual)
}

// solution is what was found for all targets at a γ.
func (e *dualExact) solution(found *dualFit) *Solution {
	f := &Solution{Outcome: Outcome{
		Gamma: found.systems[0].Gamma, EffectiveDimension: Interval(found.systems[0].df),
		Method: found.by, Backend: e.opts.Backend.Name(), Rows: int64(e.data.N()), Passes: e.passes,
		Status: dualStatus(found.by),
	}}
	for j, s := range found.systems {
		total, _ := e.known.TSS[j].Round()
		f.Targets = append(f.Targets, newTarget(s.found.X, math.Max(0, total), s.bounds))
	}
	return f
}

// byCG solves by conjugate gradients on sparse rows, without G. converged is false where that takes
// longer than a factor of G would.
func (e *dualExact) byCG(ctx context.Context, gamma float64) (f *dualFit, converged bool, err error) {
	kept, ok := e.data.(*dual.Rows)
	if !ok {
		return nil, false, nil
	}
	systems := e.systems(gamma, e.known.Rank(gamma))
	cg := kept.NewCG(e.opts.Backend, gamma)
	if cg == nil {
		return nil, false, nil
	}
	converged = true
	// ‖x − x*‖ is at most so many times ‖r‖, see certify.Dual.
	far := math.Min(1/(2*math.Sqrt(gamma)), e.known.Size/gamma)
	err = e.refine(ctx, systems, func(open []*dualSystem) error {
		for _, s := range open {
			size := 0.0
			if s.found != nil {
				size = vec.Norm(s.found.X)
			}
			solved := cg.Solve(s.left, kept.Steps(), func(residual, weights float64) bool {
				return far*residual <= e.tol()/4*math.Max(size, weights) || ctx.Err() != nil
			})
			converged = converged && solved
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, false, err
	}
	f = &dualFit{systems, DualCG}
	return f, converged && f.certifiedTo(e.tol()), nil
}

// fallBack makes G after all.
func (e *dualExact) fallBack(ctx context.Context) error {
	if e.gram != nil {
		return nil
	}
	e.by = Dual
	if err := e.fits(int64(e.data.N())); err != nil {
		return err
	}
	return e.multiply(ctx)
}
