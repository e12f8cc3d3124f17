package ridge

import (
	"cmp"
	"context"
	"slices"

	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/direct"
	"github.com/fdridge/fdridge/ridge/internal/gram"
)

// fewGammas is the measured time of a tridiagonal reduction divided by the time of a Cholesky factorisation.
const fewGammas = 4

// shouldReduce reports whether a tridiagonal reduction is worthwhile for k values of the penalty γ.
func shouldReduce(k int) bool { return k >= fewGammas }

// tridiagonal solves for all penalties in gammas with one reduction of AᵀA to a tridiagonal matrix. It uses
// Cholesky for a penalty γ in two cases:
//
//   - γ is not much larger than the error of the tridiagonal matrix.
//   - The solution misses Tol, and a Cholesky factorisation takes less time than a pass or gives a much smaller
//     error bound. If Tol is 0, no pass will correct the solution, so that only the bound decides.
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

// solutionFromT returns found, the solution by the tridiagonal matrix, as a Solution. In the two cases that
// [primal.tridiagonal] describes, it solves by Cholesky.
func (e *primal) solutionFromT(
	system *direct.System,
	gamma float64,
	found *certify.Factored,
) (*Solution, error) {
	rows := system.Evidence()
	if found != nil && !e.isUnderdetermined(gamma) && rows.Serves(found) {
		f := e.solution(rows, found, Tridiagonal)
		// For n rows and d features, a factorisation takes O(d³) time and a pass O(n·d). The factorisation is cheap
		// if d² ≤ n.
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

// steps computes corrections of the solutions that came from the tridiagonal matrix. found[i] has the gradient at
// solution i, and corrected[i] receives the correction. steps skips solutions by other methods.
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
