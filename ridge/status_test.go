package ridge_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
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
		{ridge.NotTerminated, nil}, {ridge.Converged, nil}, {ridge.ZeroSolution, nil}, {ridge.OnePass, nil},
		{ridge.Factorized, nil},
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
	for status := ridge.NotTerminated; status <= ridge.Diverged; status++ {
		name := testkit.Must(status.MarshalText())(t)
		var back ridge.Status = -1
		err := back.UnmarshalText(name)
		if err != nil || back != status || (len(name) == 0) != (status == ridge.NotTerminated) {
			t.Errorf("%v is named %q, which is read as %v: %v", status, name, back, err)
		}
	}
	if _, err := ridge.Status(99).MarshalText(); !errors.Is(err, ridge.ErrInput) {
		t.Errorf("the name of none: %v", err)
	}
	if err := new(ridge.Status).UnmarshalText([]byte("new")); !errors.Is(err, ridge.ErrInput) {
		t.Errorf("a name of none: %v", err)
	}
	if got := ridge.Status(99); got.String() != "Status(99)" || got.Err() != nil || ridge.Status(-1).Err() != nil {
		t.Errorf("%v: %v", got, got.Err())
	}
}

// TestStatusOfMethods: what each method says of a problem that it solves, of one that it
// is given too few passes for, and of one whose solution is zero.
func TestStatusOfMethods(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(5, 5)), "gaussian", 200, 20, 1, 1)
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 5})
	if f := testkit.Must(sum.Fit(1))(t); f.Status != ridge.OnePass {
		t.Errorf("one-shot: %v", f.Status)
	}
	// AᵀY is zero, and proved to be so only up to round-off.
	x, y := []float64{1. / 3, 0, 1. / 3, 0, 0, 1}, []float64{0.1, -0.1, 0}
	zero := testkit.Must(dataset.FromDense(3, 2, 1, x, y))(t)
	none := testkit.Summarize(t, zero, ridge.SummaryConfig{Size: 1})
	for _, m := range testkit.Methods {
		if f := testkit.Must(ridge.Solve(
			t.Context(), s, sum, 100, ridge.SolveOptions{Method: m, Tol: 1e-3, MaxPasses: 3000},
		))(t); f.Status != ridge.Converged {
			t.Errorf("%v: %v", m, f.Status)
		}
		_, err := ridge.Solve(t.Context(), s, sum, 1e-3, ridge.SolveOptions{Method: m, MaxPasses: 1})
		if !errors.Is(err, ridge.ErrPassLimit) {
			t.Errorf("%v, one pass: %v", m, err)
		}
		if f := testkit.Must(ridge.Solve(
			t.Context(), zero, none, 1, ridge.SolveOptions{Method: m},
		))(t); f.Status != ridge.ZeroSolution {
			t.Errorf("%v, nothing to fit: %v", m, f.Status)
		}
	}
}
