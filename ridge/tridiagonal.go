package ridge

import (
	"cmp"
	"context"
	"slices"

	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/direct"
	"github.com/fdridge/fdridge/ridge/internal/gram"
)

// By measurement, a reduction takes as long as fewGammas Cholesky factorisations.
const fewGammas = 4

// shouldReduce reports whether k values of γ justify a tridiagonal reduction.
func shouldReduce(k int) bool { return k >= fewGammas }

// tridiagonal solves for all γ with one reduction AᵀA = QTQᵀ to a tridiagonal matrix T. It uses Cholesky instead
// for a γ in two cases:
//
//   - γ is not much larger than the error of T.
//   - The solution by T misses Tol, and a factorisation takes less time than a pass or gives a much smaller error
//     bound. If no pass will correct the solution, because Tol is 0, only the bound decides.
func (e *primal) tridiagonal(
	ctx context.Context,
	system *direct.System,
	gammas []float64,
) ([]*Solution, error) {
	if e.reduction == nil {
		e.reduction = system.Reduce()
	}
	batch := len(gammas)
	if e.reduction != nil {
		batch = e.reduction.Batch()
	}
	fits := make([]*Solution, 0, len(gammas))
	for part := range slices.Chunk(gammas, max(batch, 1)) {
		found := make([]*certify.Factored, len(part)) // nil if T is too inaccurate
		if e.reduction != nil {
			found = e.reduction.Solve(part)
		}
		for i, gamma := range part {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			f, err := e.solutionFromT(system, gamma, found[i])
			if err != nil {
				return nil, err
			}
			fits = append(fits, f)
		}
	}
	return fits, nil
}

// solutionFromT returns found, the solution by the tridiagonal matrix T, as a Solution. If T is too inaccurate at
// gamma, it solves by Cholesky instead.
func (e *primal) solutionFromT(
	system *direct.System,
	gamma float64,
	found *certify.Factored,
) (*Solution, error) {
	rows := system.Evidence()
	if found != nil && !e.isUnderdetermined(gamma) && rows.Serves(found) {
		f := e.solution(rows, found, Tridiagonal)
		// a factorisation, O(d³), costs no more than a pass, O(n·d)
		isCheap := e.opts.Tol > 0 && int64(e.d)*int64(e.d) <= e.stage.Rows
		if !(isCheap || rows.MayGain(found)) ||
			f.certifiedTo(cmp.Or(e.opts.Tol, DefaultTol)) {
			return f, nil
		}
	}
	return e.fit(system, gamma, Cholesky)
}

func (s *Solution) certifiedTo(tol float64) bool {
	for j := range s.Targets {
		if !(s.Targets[j].RelativeErrorBound <= tol) {
			return false
		}
	}
	return true
}

// steps computes a correction of each solution that came from the tridiagonal matrix, from its measured gradient
// found[i]. It writes the correction to corrected[i], and leaves out solutions by other methods.
func (e *primal) steps(open []correction, found []*gram.Measurement, corrected []certify.Corrected) {
	var gammas, gradients []float64
	for i, c := range open {
		if c.fit.Method == Tridiagonal {
			gammas = append(gammas, c.fit.Gamma)
			gradients = append(gradients, found[i].Gradient...)
		}
	}
	if len(gammas) == 0 {
		return
	}
	step, left := e.reduction.Correct(gammas, gradients)
	for i, c := range open {
		if c.fit.Method == Tridiagonal {
			corrected[i].Gradient = found[i].Gradient
			corrected[i].Step = step[:e.d:e.d]
			corrected[i].Left = left[:e.d:e.d]
			step, left = step[e.d:], left[e.d:]
		}
	}
}
