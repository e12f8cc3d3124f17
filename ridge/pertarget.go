package ridge

import (
	"context"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/krylov"
)

// eachBlock is the number of targets that FitEach solves together.
const eachBlock = 512

// FitEach returns one solution in which each target j has its own penalty γ, gammas[j]. It computes each target as
// [Summary.Fit] does. In scikit-learn's Ridge, gammas is an array alpha.
//
// The errors are the errors of [Summary.Path]. The error is [ErrShape] if there is not one γ for each target.
func (s *Summary) FitEach(gammas []float64) (*Solution, error) {
	if !s.isValid() {
		return nil, errZeroValue
	}
	d, t := s.cfg.Dim, s.cfg.Targets
	if len(gammas) != t {
		return nil, unfit("%d gammas for %d targets", len(gammas), t)
	}
	k, err := s.quantities(OneShot.String(), 1, gammas...)
	if err != nil {
		return nil, err
	}
	f := s.newSolution(slices.Min(gammas), OneShot, k)
	f.Gammas = slices.Clone(gammas)
	f.Passes = 1
	f.Status = OnePass
	f.EffectiveDimension.Lo = k.At(slices.Max(gammas)).EffectiveDimension().Lo
	shift := k.Bound().Shift()
	made := map[float64]certify.OneShot{}
	dimensions := map[float64]Interval{}
	f.Contraction = k.OneShot(f.Gamma, shift).Contraction()
	for lo := 0; lo < t; lo += eachBlock {
		block := gammas[lo:min(lo+eachBlock, t)]
		x := make([]float64, len(block)*d)
		bx := k.ApplyEach(lo, certify.Inverses(block, shift), x)
		for j, gamma := range block {
			o, ok := made[gamma]
			if !ok {
				o = k.OneShot(gamma, shift)
				made[gamma] = o
			}
			df, ok := dimensions[gamma]
			if !ok {
				df = Interval(k.At(gamma).EffectiveDimension())
				dimensions[gamma] = df
			}
			f.EffectiveDimensions = append(f.EffectiveDimensions, df)
			coef := x[j*d:][:d:d]
			bounds := o.Weights(lo+j, coef, bx[j])
			f.Targets = append(f.Targets, newTarget(coef, k.TSS[lo+j], k.Weight, bounds))
		}
	}
	return f, nil
}

// eachBytes limits the memory in bytes of the vectors that [SolveEach] uses at a time.
const eachBytes = 1 << 28

// SolveEach returns one solution in which each target j has its own penalty γ, gammas[j]. It starts from
// [Summary.FitEach]. If the error bounds of some targets are above opts.Tol, it refines these targets by passes
// over src, as [SolvePath] does.
//
// opts.Start must be nil. The errors are the errors of [SolvePath]. The error is [ErrShape] if opts.Start is not
// nil, or if there is not one γ for each target.
func SolveEach(
	ctx context.Context,
	src dataset.Source,
	sum *Summary,
	gammas []float64,
	opts SolveOptions,
) (*Solution, error) {
	opts.fill()
	if err := checkSolve(src, sum, gammas, opts); err != nil {
		return nil, err
	}
	if opts.Start != nil {
		return nil, unfit("SolveEach has a start of its own")
	}
	f, err := sum.FitEach(gammas)
	if err != nil {
		return nil, err
	}
	var open []krylov.Pair
	for j := range f.Targets {
		if !(f.Targets[j].RelativeErrorBound <= opts.Tol) {
			open = append(open, krylov.Pair{Gamma: gammas[j], Target: j})
		}
	}
	f.Method, f.Status = opts.Method, Converged
	for part := range slices.Chunk(open, max(1, eachBytes/(8*13*sum.cfg.Dim))) {
		if err := sum.solvePairs(ctx, src, f, part, opts); err != nil {
			return nil, err
		}
	}
	if f.Status.Err() != nil {
		return nil, &NotConvergedError{Solutions: []*Solution{f}, Status: f.Status}
	}
	return f, nil
}

// solvePairs refines some targets of f by passes over src. Each pair names a target and its penalty γ. A new result
// replaces the target in f unless its error bound is larger than the present error bound.
func (s *Summary) solvePairs(
	ctx context.Context,
	src dataset.Source,
	f *Solution,
	pairs []krylov.Pair,
	opts SolveOptions,
) error {
	var gammas []float64
	for _, p := range pairs {
		gammas = append(gammas, p.Gamma)
	}
	opts.Journal = After(opts.Journal, f.Iterations)
	p, err := newProblem(src, s, gammas, &opts)
	if err != nil {
		return err
	}
	p.Pairs = pairs
	found, err := krylov.Solve(ctx, p, s.kind(&opts))
	if err != nil {
		return err
	}
	passes := 0
	for _, sys := range found.Systems {
		passes = max(passes, sys.Passes())
		now := targetOf(found.Known, sys)
		status := statusOf[sys.Status]
		if old := &f.Targets[sys.Target]; now.RelativeErrorBound <= old.RelativeErrorBound {
			*old = now
		}
		f.Status = f.Status.Worse(status)
	}
	f.Passes += passes
	f.Iterations += passes
	return nil
}
