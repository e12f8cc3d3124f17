package ridge

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Target returns the fit of target j alone, from 0: its weights, intercept and
// certificate, copied. A target that f does not have is [ErrShape].
func (f *Solution) Target(j int) (*Solution, error) {
	t, d := f.Coef.Dims()
	if j < 0 || j >= t {
		return nil, fmt.Errorf("%w: target %d of %d", ErrShape, j, t)
	}
	out := *f
	out.Coef = mat.NewDense(1, d, slices.Clone(f.Coef.RawRowView(j)))
	out.Intercept, out.TSS, out.GradientNorm = only(f.Intercept, j), only(f.TSS, j), only(f.GradientNorm, j)
	c := &out.Certificate
	c.ErrorBound, c.RelativeErrorBound = only(c.ErrorBound, j), only(c.RelativeErrorBound, j)
	c.EnergyBound, c.InterceptBound = only(c.EnergyBound, j), only(c.InterceptBound, j)
	c.Objective, c.TSS, c.RSS, c.GCV = only(c.Objective, j), only(c.TSS, j), only(c.RSS, j), only(c.GCV, j)
	return &out, nil
}

// only is the value of target j alone; where there are none it is nil.
func only[T any](values []T, j int) []T {
	if values == nil {
		return nil
	}
	return []T{values[j]}
}

// PerTarget returns, for each target j, its own fit at gammas[j], of one target: as
// scikit-learn's Ridge does for an alpha of one number for each target. fits, from
// [Summary.Path], [SolvePath] or [Exact], hold all these γ, each once or more, for all
// targets:
//
//	fits, err := ridge.SolvePath(ctx, src, sum, []float64{1, 10}, ridge.SolveOptions{})
//	fits, err = ridge.PerTarget(fits, []float64{10, 1, 10})
//
// The ridge problem is a problem of its own for each target, so that nothing is lost;
// that of [ChooseGCV] for a target may be its γ. A number of γ that is not that of
// targets, and a γ of which there is no fit, are [ErrShape].
func PerTarget(fits []*Solution, gammas []float64) ([]*Solution, error) {
	out := make([]*Solution, 0, len(gammas))
	for j, gamma := range gammas {
		i := slices.IndexFunc(fits, func(f *Solution) bool { return f.Gamma == gamma })
		if i < 0 {
			return nil, fmt.Errorf("%w: no fit at gamma = %g, for target %d", ErrShape, gamma, j+1)
		}
		if t, _ := fits[i].Coef.Dims(); t != len(gammas) {
			return nil, fmt.Errorf("%w: %d gammas for %d targets", ErrShape, len(gammas), t)
		}
		f, err := fits[i].Target(j)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}
