package ridge_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
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
		name := must(status.MarshalText())(t)
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
		if f := must(ridge.Solve(
			t.Context(), s, sum, 100, ridge.SolveOptions{Method: m, Tol: 1e-3, MaxPasses: 3000},
		))(t); f.Status != ridge.Converged {
			t.Errorf("%v: %v", m, f.Status)
		}
		_, err := ridge.Solve(t.Context(), s, sum, 1e-3, ridge.SolveOptions{Method: m, MaxPasses: 1})
		if !errors.Is(err, ridge.ErrPassLimit) {
			t.Errorf("%v, one pass: %v", m, err)
		}
		if f := must(ridge.Solve(
			t.Context(), zero, none, 1, ridge.SolveOptions{Method: m},
		))(t); f.Status != ridge.ZeroSolution {
			t.Errorf("%v, nothing to fit: %v", m, f.Status)
		}
	}
}

// TestShortOfSeveral: of several targets and γ, the status is the status of a target that is not certified to the
// tolerance, whatever the others are. SolveExact returns no error for a direct solution that misses its tolerance.
func TestShortOfSeveral(t *testing.T) {
	x := []float64{1. / 3, 0, 1. / 3, 0, 0, 1}
	src := must(dataset.FromDense(3, 2, 2, x, []float64{1, 0.1, 2, -0.1, 3, 0}))(t) // the second is zero, to round-off
	for _, opts := range []fdridge.Options{
		{
			NoIntercept: true,
			Method:      ridge.Newton,
			Size:        1,
			Summarize:   storing(fd.StoreRows),
			MaxPasses:   1,
			Gammas:      []float64{0.1, 1e9},
		},
		{NoIntercept: true, Method: ridge.Cholesky, Tol: 1e-40, Gammas: []float64{0.1, 1e9}},
		{NoIntercept: true, Method: ridge.QR, Tol: 1e-40, Gammas: []float64{0.1, 1e9}},
	} {
		res, err := fdridge.Fit(t.Context(), src, opts)
		short, ok := errors.AsType[*ridge.NotConvergedError](err)
		if !ok || res == nil || res.Status.Err() == nil || short.Status != res.Status ||
			res.Solutions[0].Status.Err() == nil {
			t.Fatalf("%s: %v, %+v", opts.Method, err, res)
		}
		if opts.Tol == 0 {
			continue
		}
		opts.Tol = 1e-12
		res, err = fdridge.Fit(t.Context(), src, opts)
		if err != nil || res.Status.Err() != nil || res.Solutions[0].Status.Err() != nil {
			t.Errorf("%s to 1e-12: %v", opts.Method, err)
		}
		opts.Tol = 0
		res, err = fdridge.Fit(t.Context(), src, opts)
		if err != nil || res.Status != ridge.ZeroSolution {
			t.Errorf("%s to the default tolerance: %v, %v", opts.Method, err, res.Status)
		}
	}
	fits, err := ridge.SolveExact(t.Context(), src, []float64{0.1}, ridge.ExactOptions{Tol: 1e-40})
	if err != nil || fits[0].Status != ridge.RoundOff {
		t.Errorf("Exact: %v, %v", err, fits)
	}
	zero := must(dataset.FromDense(3, 2, 1, x, make([]float64, 3)))(t)
	near := must(dataset.FromDense(3, 2, 1, x, []float64{0.1, -0.1, 0}))(t)
	for name, src := range map[string]dataset.Source{"zero": zero, "zero to round-off": near} {
		fits, err := ridge.SolveExact(t.Context(), src, []float64{1}, ridge.ExactOptions{Tol: 1e-8})
		if err != nil || fits[0].Status.Err() != nil {
			t.Errorf("%s: %v, %v", name, err, fits[0].Status)
		}
	}
}

// TestWrongIsNotZero: weights that explain nothing of the target, as they are wrong, are not taken for
// a solution that is zero. Here x* is 3·10⁷ and explains most of it.
func TestWrongIsNotZero(t *testing.T) {
	x := []float64{
		99999999.130831882, 4.1671150957635357, 100000003.29794697,
		-99999999.130831882, -4.1671150957635357, -100000003.29794697,
		100000000.07154186, 4.1671150957635348, 100000004.23865695,
	}
	src := must(
		dataset.FromDense(3, 3, 1, x, []float64{0.77535633598498854, -0.22519476277274325, -0.92567828439096256}),
	)(
		t,
	)
	for _, method := range []ridge.Method{ridge.Dual, ridge.Exact, ridge.Cholesky, ridge.Tridiagonal, ridge.QR} {
		for _, gamma := range []float64{1.1888833589937913e-19, 6.291983175097129e-16, 1e-14} {
			res, err := fdridge.Fit(
				t.Context(),
				src,
				fdridge.Options{Method: method, Tol: 1e-15, Gammas: []float64{gamma, 1, 2, 3}},
			)
			if errors.Is(err, ridge.ErrInput) { // singular
				continue
			}
			if res == nil || res.Solutions[0].Status == ridge.ZeroSolution {
				t.Errorf("%s at %g: %v, %+v", method, gamma, err, res)
			}
		}
	}
}

// TestCertifiedBefore: a fit has converged if the first pass certified a target to the tolerance, even if the later
// passes did not certify it. Here one of two targets is constant.
func TestCertifiedBefore(t *testing.T) {
	src := must(
		dataset.FromDense(6, 1, 2, []float64{1, 2, 4, 7, 11, 13}, []float64{3, 1, 3, 2, 3, 2, 3, 5, 3, 1, 3, 9}),
	)(
		t,
	)
	for _, m := range methods {
		opts := fdridge.Options{Method: m, MaxPasses: 1, Gammas: []float64{1}}
		res, err := fdridge.Fit(t.Context(), src, opts)
		if res == nil {
			t.Fatalf("%v: %v", m, err)
		}
		worst := 0.0
		for _, o := range res.Solutions[0].Targets {
			worst = max(worst, o.RelativeErrorBound)
		}
		if (res.Status == ridge.Converged) != (worst <= 1e-8) || (err == nil) != (worst <= 1e-8) {
			t.Errorf("%v: %v at a certified %g: %v", m, res.Status, worst, err)
		}
	}
}
