package ridge

import (
	"context"
	"slices"

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
func (e *primal) tridiagonal(ctx context.Context, system *direct.System, gammas []float64) ([]*Solution, error) {
	if e.reduction == nil {
		e.reduction = system.Reduce()
	}
	batch := len(gammas)
	if e.reduction != nil {
		batch = e.reduction.Batch()
	}
	fits := make([]*Solution, 0, len(gammas))
	for part := range slices.Chunk(gammas, max(batch, 1)) {
		found := make([]*certify.Factored, len(part)) // nil: T says nothing
		if e.reduction != nil {
			found = e.reduction.Solve(part)
		}
		for i, gamma := range part {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			f, err := e.served(system, gamma, found[i])
			if err != nil {
				return nil, err
			}
			fits = append(fits, f)
		}
	}
	return fits, nil
}

// served is the solution that T has found, or Cholesky's.
func (e *primal) served(system *direct.System, gamma float64, found *certify.Factored) (*Solution, error) {
	rows := system.Evidence()
	if found != nil && !e.short(gamma) && rows.Serves(found) {
		f := e.solution(rows, found, Tridiagonal)
		if e.opts.Tol > 0 || !rows.MayGain(found) || f.certifiedTo(DefaultTol) {
			return f, nil
		}
	}
	return e.fit(system, gamma, Cholesky)
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
func (e *primal) steps(open []correction, found []*gram.Measurement, at []certify.Corrected) {
	var gammas, gradients []float64
	for i, c := range open {
		if c.fit.Method == Tridiagonal {
			gammas, gradients = append(gammas, c.fit.Gamma), append(gradients, found[i].Gradient...)
		}
	}
	if len(gammas) == 0 {
		return
	}
	step, left := e.reduction.Correct(gammas, gradients)
	for i, c := range open {
		if c.fit.Method == Tridiagonal {
			at[i].Gradient, at[i].Step, at[i].Left = found[i].Gradient, step[:e.d:e.d], left[:e.d:e.d]
			step, left = step[e.d:], left[e.d:]
		}
	}
}
