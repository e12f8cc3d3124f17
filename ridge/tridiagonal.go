package ridge

import (
	"context"

	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/direct"
	"github.com/fdridge/fdridge/ridge/internal/gram"
)

// fewGammas is from how many γ on a direct solution that may factor either way reduces K to
// tridiagonal form: what that takes is measured to be about as much as a Cholesky decomposition
// and the inverse that its certificate is made of for so many.
const fewGammas = 4

// reduces says that a direct solution at these γ reduces K.
func reduces(k int) bool { return k >= fewGammas }

// tridiagonal solves at all γ by one reduction K = QTQᵀ. H is factored by Cholesky where T says too
// little of it: at a γ next to what K is off by; and, unless gradients are to be measured, where
// the units of the columns, on which Cholesky's bounds do not depend, cost too many digits.
func (e *exact) tridiagonal(ctx context.Context, system *direct.System, gammas []float64) ([]*Solution, error) {
	var found []*certify.Factored
	if e.reduction = system.Reduce(); e.reduction != nil {
		found = e.reduction.Solve(gammas)
	}
	rows, fits := system.Evidence(), make([]*Solution, len(gammas))
	for i, gamma := range gammas {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if found != nil && found[i] != nil && !e.short(gamma) && rows.Serves(found[i]) {
			fits[i] = e.solution(rows, found[i], Tridiagonal)
			if e.opts.Tol > 0 || !rows.MayGain(found[i]) || fits[i].certifiedTo(defaultTol) {
				continue
			}
		}
		var err error
		if fits[i], err = e.fit(system, gamma, Cholesky); err != nil {
			return nil, err
		}
	}
	return fits, nil
}

// certifiedTo says that all targets are certified to a relative error.
func (s *Solution) certifiedTo(tol float64) bool {
	for j := range s.Targets {
		if !(s.Targets[j].RelativeErrorBound <= tol) {
			return false
		}
	}
	return true
}

// steps overwrites the Step and Left of those that T serves, all together.
func (e *exact) steps(open []correction, found []*gram.Measurement, at []certify.Corrected) {
	var gammas, gradients []float64
	for i, c := range open {
		if c.fit.Method == Tridiagonal.String() {
			gammas, gradients = append(gammas, c.fit.Gamma), append(gradients, found[i].Gradient...)
		}
	}
	if len(gammas) == 0 {
		return
	}
	step, left := e.reduction.Correct(gammas, gradients)
	for i, c := range open {
		if c.fit.Method == Tridiagonal.String() {
			at[i].Gradient, at[i].Step, at[i].Left = found[i].Gradient, step[:e.d:e.d], left[:e.d:e.d]
			step, left = step[e.d:], left[e.d:]
		}
	}
}
