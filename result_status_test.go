package fdridge_test

import (
	"errors"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestShortOfSeveral: of several targets and γ, the status is the status of a target that is not certified to the
// tolerance, whatever the others are. SolveExact returns no error for a direct solution that misses its tolerance.
func TestShortOfSeveral(t *testing.T) {
	x := []float64{1. / 3, 0, 1. / 3, 0, 0, 1}
	src := testkit.Must(
		dataset.FromDense(3, 2, 2, x, []float64{1, 0.1, 2, -0.1, 3, 0}),
	)(t) // the second is zero, to round-off
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
	zero := testkit.Must(dataset.FromDense(3, 2, 1, x, make([]float64, 3)))(t)
	near := testkit.Must(dataset.FromDense(3, 2, 1, x, []float64{0.1, -0.1, 0}))(t)
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
	src := testkit.Must(
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
	src := testkit.Must(
		dataset.FromDense(6, 1, 2, []float64{1, 2, 4, 7, 11, 13}, []float64{3, 1, 3, 2, 3, 2, 3, 5, 3, 1, 3, 9}),
	)(
		t,
	)
	for _, m := range testkit.Methods {
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
