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

// maxMeasurements limits the number of corrections of a dual solution. Each correction is followed by a measurement of
// the residual.
const maxMeasurements = 6

// A dualSystem is the equation (G + γI)α = b for one target and one γ, with G = AAᵀ. It holds the current iterate α and
// the best solution so far.
type dualSystem struct {
	dual.Point
	df       interval.Interval // effective dimension
	residual []float64         // of α; a dualSolver overwrites it with a correction of α
	norm     float64           // bounds the norm of the residual; +Inf before the first measurement
	best     *dual.Found       // the measurement with the smallest error bound
	bounds   certify.Weights   // of best
	ended    bool
}

// A dualSolver overwrites the residual r of each system with an approximation of (AAᵀ + γI)⁻¹r. The systems may have
// different γ.
type dualSolver func(open []*dualSystem) error

// A dualFit holds the systems for one γ, one for each target.
type dualFit struct {
	systems []*dualSystem
	by      Method
}

// certifiedTo reports whether the relative error of every target is proved to be at most tol.
func (f *dualFit) certifiedTo(tol float64) bool {
	for _, s := range f.systems {
		if !(s.bounds.Relative <= tol) {
			return false
		}
	}
	return true
}

// isFinite reports whether all coefficients are finite.
func (f *dualFit) isFinite() bool {
	for _, s := range f.systems {
		for _, v := range s.best.X {
			if v-v != 0 { // NaN or infinite
				return false
			}
		}
	}
	return true
}

// solve returns the solution for each γ of gammas. It solves for batch() values of γ at a time.
func (e *dualExact) solve(ctx context.Context, gammas []float64) ([]*Solution, error) {
	fits := make([]*Solution, 0, len(gammas))
	for part := range slices.Chunk(gammas, e.batch()) {
		found, err := e.solveSystems(ctx, part)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			fits = append(fits, e.solution(f))
		}
	}
	return fits, nil
}

// solveSystems solves at every γ of gammas. For many γ it reduces G = AAᵀ to tridiagonal form once.
func (e *dualExact) solveSystems(ctx context.Context, gammas []float64) ([]*dualFit, error) {
	if e.method != DualCG && e.plan.shouldReduce() {
		return e.solveByReduction(ctx, gammas)
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

// batch returns the number of γ to solve for together. Their vectors take at most 64 MiB or n² numbers, if this is
// more.
func (e *dualExact) batch() int {
	n := float64(e.data.N())
	each := float64(e.t) * (8*float64(e.d) + 16*n)
	return max(1, int(math.Max(n*n, 8<<20)/each))
}

// fit solves for one γ, by conjugate gradients or by a factorisation of G + γI with G = AAᵀ.
func (e *dualExact) fit(ctx context.Context, gamma float64) (*dualFit, error) {
	if e.method == DualCG {
		f, converged, err := e.solveByCG(ctx, gamma)
		if err != nil || converged {
			return f, err
		}
		if err := e.switchToGram(ctx); err != nil {
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
		all := gatherResiduals(open)
		e.opts.Backend.CholeskySolve(engine.View(n, n, factored.R), engine.View(len(open), n, all))
		scatterResiduals(open, all)
		return nil
	})
	if err != nil {
		return nil, err
	}
	found := &dualFit{systems, Dual}
	if !found.isFinite() {
		return nil, &SingularError{gamma, Dual, -1}
	}
	return found, nil
}

// solveByReduction solves for several γ with the reduction of G = AAᵀ to a tridiagonal matrix T. If T is too inaccurate
// for a γ, it factors G + γI.
func (e *dualExact) solveByReduction(ctx context.Context, gammas []float64) ([]*dualFit, error) {
	e.reduce()
	var served []*dualSystem
	for _, g := range gammas {
		if f, ok := e.factorAt(g); ok {
			served = append(served, e.systems(g, e.known.Dimension(f))...)
		}
	}
	err := e.refine(ctx, served, func(open []*dualSystem) error {
		gammas := make([]float64, len(open))
		for i, s := range open {
			gammas[i] = s.Gamma
		}
		all := gatherResiduals(open)
		e.reduction.SolveEach(gammas, all) // each is positive definite
		scatterResiduals(open, all)
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
			if err != nil && (f == nil || !f.isFinite()) {
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

// reduce computes the tridiagonal form of G = AAᵀ, once. If numbers overflow, e.reduction stays nil.
func (e *dualExact) reduce() {
	if e.reduction == nil {
		n := e.data.N()
		e.reduction = e.gram.Reduce(e.opts.Backend, make([]float64, n*n))
	}
}

// factorAt returns the factor of T + γI with its bounds, where T is the tridiagonal form of AAᵀ. ok is false if T + γI
// is not positive definite.
func (e *dualExact) factorAt(gamma float64) (f *certify.Factored, ok bool) {
	if e.reduction == nil {
		return nil, false
	}
	_, _, ok = e.reduction.Factor(gamma)
	return &certify.Factored{Gamma: gamma, T: e.reduction.T}, ok
}

// gatherResiduals returns the residuals of all systems, one after the other.
func gatherResiduals(open []*dualSystem) (all []float64) {
	for _, s := range open {
		all = append(all, s.residual...)
	}
	return all
}

// scatterResiduals copies vectors, one for each system, to the residuals of the systems. It reverses gatherResiduals.
func scatterResiduals(open []*dualSystem, all []float64) {
	for i, s := range open {
		copy(s.residual, all[i*len(s.residual):])
	}
}

// systems returns the systems of all targets at γ, with α = 0. df brackets the effective dimension.
func (e *dualExact) systems(gamma float64, df interval.Interval) []*dualSystem {
	out := make([]*dualSystem, e.t)
	for j := range out {
		n := e.data.N()
		out[j] = &dualSystem{
			Point: dual.Point{Gamma: gamma, Target: j, Hi: make([]float64, n), Lo: make([]float64, n)},
			df:    df, residual: slices.Clone(e.start[j]), norm: math.Inf(1),
		}
	}
	return out
}

// tol returns the relative error to reach.
func (e *dualExact) tol() float64 {
	if e.opts.Tol > 0 {
		return e.opts.Tol
	}
	return dualTol
}

// refine improves the α of each system until its solution is certified to the tolerance or no longer improves. It
// repeats two steps: solve computes a correction of α from the residual, and a measurement computes the new residual.
func (e *dualExact) refine(ctx context.Context, systems []*dualSystem, solve dualSolver) error {
	for range maxMeasurements {
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
			e.addCorrection(s)
			points[i] = s.Point
		}
		if e.measuresRead {
			e.passes++
		}
		found, err := e.data.Measure(ctx, e.opts.Backend, points)
		if err != nil {
			return err
		}
		for i, s := range open {
			e.record(s, found[i])
		}
	}
	return nil
}

// addCorrection adds the correction in s.residual to the α of s. Element i of α is stored divided by √wᵢ, where wᵢ is
// the sample weight of row i.
func (e *dualExact) addCorrection(s *dualSystem) {
	for i, v := range s.residual {
		if root := e.data.Root(i); root > 0 {
			hi, lo := twofold.Sum(s.Hi[i], v/root)
			s.Hi[i], s.Lo[i] = twofold.Sum(hi, lo+s.Lo[i])
		}
	}
}

// record stores a measurement. It ends the system if the target is certified to the tolerance, or if the residual is
// more than half of the previous residual.
func (e *dualExact) record(s *dualSystem, found *dual.Found) {
	bounds := e.known.Weights(s.Target, &certify.DualPoint{
		Gamma: s.Gamma, X: found.X, Low: found.Low, Apart: found.Apart, Slack: found.Slack, Norm: found.Norm,
		RSS: found.RSS, Mean: found.Mean, MeanNorm: found.MeanNorm,
	}, s.df)
	if s.best == nil || bounds.Error < s.bounds.Error {
		s.best, s.bounds = found, bounds
	}
	s.ended = bounds.Relative <= e.tol() || !(found.Norm < s.norm/2)
	s.norm = found.Norm
	copy(s.residual, found.Residual)
}

// solution returns the solution for all targets at the γ of found.
func (e *dualExact) solution(found *dualFit) *Solution {
	f := &Solution{Outcome: Outcome{
		Gamma: found.systems[0].Gamma, EffectiveDimension: Interval(found.systems[0].df),
		Method: found.by, Backend: e.opts.Backend.Name(), Rows: int64(e.data.N()), Passes: e.passes,
		Status: dualStatus(found.by),
	}}
	for j, s := range found.systems {
		total, _ := e.known.TSS[j].Round()
		f.Targets = append(f.Targets, newTarget(s.best.X, math.Max(0, total), s.bounds))
	}
	return f
}

// solveByCG solves by conjugate gradients on sparse rows, without G = AAᵀ. If converged is false, a factorisation of
// G + γI must be used instead.
func (e *dualExact) solveByCG(ctx context.Context, gamma float64) (f *dualFit, converged bool, err error) {
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
	// ‖x − x*‖ ≤ far·‖r‖ for the residual r, see certify.Dual.
	far := math.Min(1/(2*math.Sqrt(gamma)), e.known.Size/gamma)
	err = e.refine(ctx, systems, func(open []*dualSystem) error {
		for _, s := range open {
			size := 0.0
			if s.best != nil {
				size = vec.Norm(s.best.X)
			}
			solved := cg.Solve(s.residual, kept.Steps(), func(residual, weights float64) bool {
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

// switchToGram computes G = AAᵀ, so that a factorisation replaces conjugate gradients.
func (e *dualExact) switchToGram(ctx context.Context) error {
	if e.gram != nil {
		return nil
	}
	e.method = Dual
	if err := e.checkMemory(int64(e.data.N())); err != nil {
		return err
	}
	return e.multiply(ctx)
}
