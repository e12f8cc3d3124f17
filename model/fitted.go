package model

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge"
)

// FittedSolution returns the solution of a model with a single γ, with the error bounds of its certificate. The
// solution is for rows prepared by [Model.FittedPreparation], as [ridge.Diagnose] needs it. The interval RSS for
// the residual sum of squares of a target b is widened by 10⁻⁹·‖b‖². This covers the rounding of the
// intercept, which the model has only in the units of the file. Errors are as for [Model.Predictor] with
// [ExactIntervals].
func (m *Model) FittedSolution() (*ridge.Solution, error) {
	p, err := m.Predictor(ExactIntervals{})
	if err != nil {
		return nil, err
	}
	for j := range p.fit.Targets {
		o := &p.fit.Targets[j]
		if !vec.IsFinite(o.ComputedTSS) {
			return nil, fmt.Errorf("%w: the model has no sum of squares of target %d", errShape, j+1)
		}
		slack := 1e-9 * o.ComputedTSS
		o.RSS = ridge.Interval{Lo: math.Max(0, o.RSS.Lo-slack), Hi: o.RSS.Hi + slack}
	}
	return p.fit, nil
}
