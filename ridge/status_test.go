package ridge_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// TestStatus: what was solved has no error, what wasn't has one of its own, and each says
// something else.
func TestStatus(t *testing.T) {
	errs := []error{ridge.ErrRoundOff, ridge.ErrPassLimit, ridge.ErrDiverged}
	var texts []string
	for _, c := range []struct {
		status ridge.Status
		err    error
	}{
		{ridge.NotTerminated, nil}, {ridge.Converged, nil}, {ridge.ZeroSolution, nil}, {ridge.OnePass, nil}, {ridge.Factorized, nil},
		{ridge.RoundOff, errs[0]}, {ridge.PassLimit, errs[1]}, {ridge.Diverged, errs[2]},
	} {
		if got := c.status.Err(); got != c.err {
			t.Errorf("%d: %v, want %v", int(c.status), got, c.err)
		}
		wrapped := error(&ridge.NotConvergedError{Status: c.status})
		for _, err := range errs {
			if errors.Is(wrapped, err) != (err == c.err) {
				t.Errorf("%d: is it %q? %v", int(c.status), err, errors.Is(wrapped, err))
			}
		}
		texts = append(texts, c.status.String())
	}
	slices.Sort(texts)
	if texts[0] != "" || len(slices.Compact(texts)) != 8 {
		t.Errorf("%q", texts)
	}
	if got := ridge.Status(99); got.String() != "Status(99)" || got.Err() != nil || ridge.Status(-1).Err() != nil {
		t.Errorf("%v: %v", got, got.Err())
	}
}

// TestStatusOfMethods: what each method says of a problem that it solves, of one that it
// is given too few passes for, and of one whose solution is zero.
func TestStatusOfMethods(t *testing.T) {
	s := problem(rand.New(rand.NewPCG(5, 5)), "gaussian", 200, 20, 1, 1)
	sum := summarize(t, s, ridge.SummaryConfig{Size: 5})
	if f := must(sum.Fit(1))(t); f.Status != ridge.OnePass {
		t.Errorf("one-shot: %v", f.Status)
	}
	// AᵀY is zero, and proved to be so only up to round-off.
	x, y := []float64{1. / 3, 0, 1. / 3, 0, 0, 1}, []float64{0.1, -0.1, 0}
	zero := must(dataset.FromDense(3, 2, 1, x, y))(t)
	none := summarize(t, zero, ridge.SummaryConfig{Size: 1})
	for _, m := range methods {
		if f := must(ridge.Solve(t.Context(), s, sum, 100, ridge.SolveOptions{Method: m, Tol: 1e-3, MaxPasses: 3000}))(t); f.Status != ridge.Converged {
			t.Errorf("%v: %v", m, f.Status)
		}
		if _, err := ridge.Solve(t.Context(), s, sum, 1e-3, ridge.SolveOptions{Method: m, MaxPasses: 1}); !errors.Is(err, ridge.ErrPassLimit) {
			t.Errorf("%v, one pass: %v", m, err)
		}
		if f := must(ridge.Solve(t.Context(), zero, none, 1, ridge.SolveOptions{Method: m}))(t); f.Status != ridge.ZeroSolution {
			t.Errorf("%v, nothing to fit: %v", m, f.Status)
		}
	}
}
