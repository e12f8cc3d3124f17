package ridge

import (
	"context"
	"math"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/dual"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// maxMeasurements limits the number of corrections of a solution. After each correction the residual is measured.
const maxMeasurements = 6

// A dualSystem is the equation (AAᵀ + γI)α = b for one target b and one penalty γ. The coefficients of the ridge
// solution are Aᵀα.
type dualSystem struct {
	dual.Point
	df       certify.Dimension
	residual []float64       // residual of the equation for α; a dualSolver overwrites it with a correction of α
	norm     float64         // bounds the norm of the residual; +Inf before the first measurement
	best     *dual.Found     // the measurement with the smallest error bound
	bounds   certify.Weights // of best
	ended    bool
}

// A dualSolver overwrites the residual r of each system (AAᵀ + γI)α = b by an approximation of (AAᵀ +
// γI)⁻¹r. This approximation is the correction of α.
type dualSolver func(systems []*dualSystem) error

// A dualFit holds the systems of several targets at one γ.
type dualFit struct {
	systems []*dualSystem
	by      Method
}

func (f *dualFit) certifiedTo(tol float64) bool {
	for _, s := range f.systems {
		if !(s.bounds.Relative <= tol) {
			return false
		}
	}
	return true
}

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

// A targetRange is the range of targets from lo to hi − 1.
type targetRange struct{ lo, hi int }

// batch returns the number of γ to solve for together. The vectors of these systems take about as much memory as
// AAᵀ, or 64 MiB if AAᵀ is smaller.
func (e *dualExact) batch() int {
	n := float64(e.data.N())
	each := float64(min(e.t, dual.TargetBlock(e.data.N(), e.d))) * (8*float64(e.d) + 16*n)
	return max(1, int(math.Max(n*n, 8<<20)/each))
}

// fit solves for the targets at gamma. It uses conjugate gradients, or a Cholesky factorisation of AAᵀ + γI.
func (e *dualExact) fit(ctx context.Context, gamma float64, targets targetRange) (*dualFit, error) {
	if e.method == DualCG {
		f, converged, err := e.solveByCG(ctx, gamma, targets)
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
	systems := e.systems(gamma, targets, e.known.Dimension(factored))
	n := e.data.N()
	err := e.refine(ctx, systems, e.tol(), func(open []*dualSystem) error {
		all := gatherResiduals(open)
		factor := engine.View(n, n, factored.R)
		e.opts.Backend.CholeskySolve(factor, engine.View(len(open), n, all))
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

// solveSystems solves for the targets at each γ. It uses the tridiagonal form of AAᵀ if this was computed. If the
// result is not accurate enough at a γ, it calls fit for this γ.
func (e *dualExact) solveSystems(
	ctx context.Context,
	gammas []float64,
	targets targetRange,
) ([]*dualFit, error) {
	fits, served := e.prepare(gammas, targets)
	err := e.refine(ctx, served, e.tol(), func(open []*dualSystem) error {
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
	for i, f := range fits {
		if f == nil || !f.certifiedTo(math.Max(e.tol(), dualTol)) {
			other, err := e.fit(ctx, gammas[i], targets)
			if err != nil && (f == nil || !f.isFinite()) {
				return nil, err
			}
			if err == nil {
				fits[i] = other
			}
		}
	}
	return fits, nil
}

// prepare returns the systems to solve by the tridiagonal form of AAᵀ, with α = 0. fits[i] has the systems at
// gammas[i]. It is nil if the tridiagonal form is not accurate enough at this γ. systems lists the systems of all
// fits.
func (e *dualExact) prepare(gammas []float64, targets targetRange) (fits []*dualFit, systems []*dualSystem) {
	e.reduce()
	fits = make([]*dualFit, len(gammas))
	for i, g := range gammas {
		if f, ok := e.factorAt(g); ok {
			fits[i] = &dualFit{e.systems(g, targets, e.known.Dimension(f)), Dual}
			systems = append(systems, fits[i].systems...)
		}
	}
	return fits, systems
}

// reduce computes the tridiagonal form of AAᵀ, unless there are few γ. If this overflows, e.reduction stays nil.
func (e *dualExact) reduce() {
	if e.reduction == nil && e.method != DualCG && e.plan.shouldReduce() {
		n := e.data.N()
		e.reduction, e.columns = e.gram.Reduce(e.opts.Backend, make([]float64, n*n))
		if !e.plan.leverage {
			e.columns = nil
		}
	}
}

// factorAt returns the tridiagonal form T of AAᵀ for use at gamma. ok is false if there is no such form, or if
// T + γI is not positive definite.
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

// scatterResiduals reverses gatherResiduals.
func scatterResiduals(open []*dualSystem, all []float64) {
	for i, s := range open {
		copy(s.residual, all[i*len(s.residual):])
	}
}

// systems returns the system (AAᵀ + γI)α = b for each target b, at α = 0.
func (e *dualExact) systems(
	gamma float64,
	targets targetRange,
	df certify.Dimension,
) (out []*dualSystem) {
	n := e.data.N()
	for j := targets.lo; j < targets.hi; j++ {
		out = append(out, &dualSystem{
			Point: dual.Point{
				Gamma:  gamma,
				Target: j,
				Hi:     make([]float64, n),
				Lo:     make([]float64, n),
			},
			df:       df,
			residual: slices.Clone(e.start[j]),
			norm:     math.Inf(1),
		})
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

// refine corrects the solutions of the systems. The function solve computes the corrections. Each system is
// corrected until its relative error is certified to be at most tol, or until corrections stop helping.
func (e *dualExact) refine(
	ctx context.Context,
	systems []*dualSystem,
	tol float64,
	solve dualSolver,
) error {
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
			s.Add(s.residual, e.data.Root)
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
			e.record(s, found[i], tol)
		}
	}
	return nil
}

// weights returns the error bounds of the coefficients in found, which measures the residual of the system s.
func (e *dualExact) weights(s *dualSystem, found *dual.Found) certify.Weights {
	return e.known.Weights(s.Target, pointOf(s, found), s.df)
}

// pointOf converts found, which measures the residual of the system s, to the form that package certify reads.
func pointOf(s *dualSystem, found *dual.Found) *certify.DualPoint {
	return &certify.DualPoint{
		Gamma:    s.Gamma,
		X:        found.X,
		Low:      found.Low,
		Apart:    found.Apart,
		Slack:    found.Slack,
		Norm:     found.Norm,
		RSS:      found.RSS,
		Mean:     found.Mean,
		MeanNorm: found.MeanNorm,
		Alpha:    found.Alpha,
	}
}

// record stores the measurement found of the system s, if its error bound is the smallest so far. It ends the
// corrections of s if the relative error bound is at most tol. It also ends them if the norm of the residual did
// not halve since the last measurement.
func (e *dualExact) record(s *dualSystem, found *dual.Found, tol float64) {
	bounds := e.weights(s, found)
	found.Off += (e.known.Scattered(found.X) + e.known.Scattered(found.Low)) * roundoff.Inflate
	if s.best == nil || bounds.Error < s.bounds.Error {
		s.best, s.bounds = found, bounds
	}
	s.ended = bounds.Relative <= tol || !(found.Norm < s.norm/2)
	s.norm = found.Norm
	copy(s.residual, found.Residual)
}

func (e *dualExact) solution(found *dualFit) *Solution {
	f := &Solution{Outcome: Outcome{
		Gamma:              found.systems[0].Gamma,
		EffectiveDimension: Interval(found.systems[0].df.Interval),
		Method:             found.by,
		Backend:            e.opts.Backend.Name(),
		Rows:               int64(e.data.N()),
		Passes:             e.passes,
		Status:             dualStatus(found.by),
	}}
	for _, s := range found.systems {
		total, _ := e.known.TSS[s.Target].Round()
		tss := math.Max(0, total)
		f.Targets = append(f.Targets, newTarget(s.best.X, tss, e.data.Total(), s.bounds))
	}
	return f
}

// solveByCG solves by conjugate gradients, without computing AAᵀ. converged is false if too many steps would be
// needed, or if the rows are not in memory.
func (e *dualExact) solveByCG(
	ctx context.Context,
	gamma float64,
	targets targetRange,
) (f *dualFit, converged bool, err error) {
	kept, ok := e.data.(*dual.Rows)
	if !ok {
		return nil, false, nil
	}
	return e.conjugateGradients(ctx, gamma, targets, e.tol(), kept.Steps())
}

// conjugateGradients solves at gamma to the relative error tol. It makes at most maxSteps steps for each system.
// converged is false if these steps were not enough. f is nil if a number overflows.
func (e *dualExact) conjugateGradients(
	ctx context.Context,
	gamma float64,
	targets targetRange,
	tol float64,
	maxSteps int,
) (f *dualFit, converged bool, err error) {
	kept := e.data.(*dual.Rows)
	df, ok := e.dimensions[gamma]
	if !ok {
		df = e.known.Rank(gamma)
	}
	systems := e.systems(gamma, targets, df)
	cg := kept.NewCG(e.opts.Backend, gamma)
	if cg == nil {
		return nil, false, nil
	}
	converged = true
	// For a solution x with the residual r, and the exact solution x*, ‖x − x*‖ ≤ far·‖r‖; see certify.Dual.
	far := math.Min(1/(2*math.Sqrt(gamma)), e.known.Size/gamma)
	err = e.refine(ctx, systems, tol, func(open []*dualSystem) error {
		for _, s := range open {
			size := 0.0
			if s.best != nil {
				size = vec.Norm(s.best.X)
			}
			solved := cg.Solve(s.residual, maxSteps, func(residual, weights float64) bool {
				return far*residual <= tol/4*math.Max(size, weights) || ctx.Err() != nil
			})
			converged = converged && solved
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, false, err
	}
	f = &dualFit{systems, DualCG}
	return f, converged && f.certifiedTo(tol), nil
}

// switchToGram computes AAᵀ, so that factorisations of AAᵀ + γI can replace conjugate gradients.
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
