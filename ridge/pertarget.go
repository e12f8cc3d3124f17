package ridge

import (
	"fmt"
	"slices"
)

// PerTarget returns, for each target j, a solution of that target alone, at gammas[j], as
// scikit-learn's Ridge does for an alpha of one number for each target. solutions, from
// [Summary.Path], [SolvePath] or [SolveExact], hold all these γ, each once or more, for all
// targets:
//
//	path, err := ridge.SolvePath(ctx, src, sum, []float64{1, 10}, ridge.SolveOptions{})
//	each, err := ridge.PerTarget(path, []float64{10, 1, 10})
//
// Each target is a ridge problem of its own, so that nothing is lost. Its γ may be the one
// that choose.LeastGCV chooses for it. What is returned shares nothing with solutions. A number of γ that is not that of targets, and a γ of which there is no
// solution, are [ErrShape].
func PerTarget(solutions []*Solution, gammas []float64) ([]*Solution, error) {
	out := make([]*Solution, len(gammas))
	for j, gamma := range gammas {
		i := slices.IndexFunc(solutions, func(s *Solution) bool { return s.Gamma == gamma })
		if i < 0 {
			return nil, fmt.Errorf("%w: no solution at gamma = %g, for target %d", errShape, gamma, j+1)
		}
		if t, _ := solutions[i].Dims(); t != len(gammas) {
			return nil, fmt.Errorf("%w: %d gammas for %d targets", errShape, len(gammas), t)
		}
		one, target := *solutions[i], solutions[i].Targets[j]
		target.Coef, target.Scaled, one.Penalty = slices.Clone(target.Coef), slices.Clone(target.Scaled), slices.Clone(one.Penalty)
		one.Targets = []Target{target}
		out[j] = &one
	}
	return out, nil
}
