package fdridge_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
)

// nearly returns n rows of 2d features. The last d features equal the first d up to deviates of size apart.
func nearly(n, d int, apart float64) testkit.Table {
	r := rand.New(rand.NewPCG(21, 1))
	s := testkit.Problem(r, "gaussian", n, 2*d, 1, 0.1)
	for i := range s.X {
		for j := range d {
			s.X[i][d+j] = s.X[i][j] + apart*r.NormFloat64()
		}
	}
	return s
}

// TestDirectGoesOnByQR: if Cholesky or a tridiagonal reduction cannot certify the tolerance, Method Exact uses QR for
// this γ, also if γ was chosen.
func TestDirectGoesOnByQR(t *testing.T) {
	s := nearly(200, 5, 1e-7)
	ref := refbig.New(s.X, s.Y, nil, false)
	gammas := []float64{1e-12, 1}
	for name, opts := range map[string]fdridge.Options{
		"cholesky":  {NoIntercept: true, Method: ridge.Exact, Gammas: gammas},
		"reduction": {NoIntercept: true, Method: ridge.Exact, Gammas: []float64{1e-12, 1e-2, 1, 10, 100}},
		"chosen":    {NoIntercept: true, Method: ridge.Exact, Candidates: []float64{1e-12}},
	} {
		opts.Tol = 1e-8
		r := testkit.Must(fdridge.Fit(t.Context(), s, opts))(t)
		if r.Err() != nil || r.Solutions[0].Method != ridge.QR || r.Solutions[0].Gamma != 1e-12 {
			t.Errorf("%s: %v at γ = %g by %s", name, r.Err(), r.Solutions[0].Gamma, r.Solutions[0].Method)
		}
		for _, f := range r.Solutions {
			testkit.Certificate(t, ref, f)
			if !(f.Targets[0].RelativeErrorBound <= 1e-8) || f.Gamma >= 1 && f.Method == ridge.QR {
				t.Errorf(
					"%s: γ = %g is certified to %g by %s",
					name,
					f.Gamma,
					f.Targets[0].RelativeErrorBound,
					f.Method,
				)
			}
		}
	}
}

// TestDirectProvesNothing: without a tolerance a direct solution with no proved bound counts as a shortfall, if no
// other method may run. Method Exact may run QR, which proves a bound. Method Tridiagonal may not.
func TestDirectProvesNothing(t *testing.T) {
	s := nearly(200, 5, 1e-7)
	if r := testkit.Must(
		fdridge.Fit(t.Context(), s, fdridge.Options{NoIntercept: true, Method: ridge.Exact, Gammas: []float64{1e-12}}),
	)(t); r.Solutions[0].Method != ridge.QR ||
		!r.Solutions[0].Targets[0].Proves() {
		t.Errorf("%s certifies %g", r.Solutions[0].Method, r.Solutions[0].Targets[0].RelativeErrorBound)
	}
	r, err := fdridge.Fit(
		t.Context(),
		s,
		fdridge.Options{NoIntercept: true, Method: ridge.Tridiagonal, Gammas: []float64{1e-12, 1}},
	)
	if !errors.Is(err, ridge.ErrRoundOff) || r.Solutions[0].Status != ridge.RoundOff ||
		r.Solutions[1].Status != ridge.Factorized {
		t.Errorf("%v: %v and %v", err, r.Solutions[0].Targets[0].RelativeErrorBound, r.Solutions[1].Status)
	}
}

// TestDependentAmongOthers checks that dependent columns at γ = 0 leave the solutions at other γ as they are.
func TestDependentAmongOthers(t *testing.T) {
	s := nearly(60, 3, 0)
	r, err := fdridge.Fit(
		t.Context(),
		s,
		fdridge.Options{NoIntercept: true, Method: ridge.Exact, Gammas: []float64{0, 1, 10}, Tol: 1e-8},
	)
	if !errors.Is(err, ridge.ErrDependent) || len(r.Solutions) != 3 || r.Status != ridge.MinimumNorm ||
		r.Unsolved() != nil {
		t.Fatalf("%v, %+v", err, r)
	}
	if got := r.Solutions[0].Status; got != ridge.MinimumNorm {
		t.Errorf("γ = 0: %v", got)
	}
	for _, f := range r.Solutions[1:] {
		if !(f.Targets[0].RelativeErrorBound <= 1e-8) || f.Status.Err() != nil {
			t.Errorf("γ = %g: %g, %v", f.Gamma, f.Targets[0].RelativeErrorBound, f.Status)
		}
	}
}

// TestUnsolved checks that a γ without a solution leaves the solutions at other γ as they are.
func TestUnsolved(t *testing.T) {
	s := nearly(60, 3, 0)
	r, err := fdridge.Fit(
		t.Context(),
		s,
		fdridge.Options{NoIntercept: true, Method: ridge.Dual, Gammas: []float64{1e-200, 1}},
	)
	if !errors.Is(err, ridge.ErrUnsolved) || len(r.Solutions) != 1 || r.Status != ridge.Unsolved {
		t.Fatalf("dual: %v", err)
	}
	if u := r.Unsolved(); len(u) != 1 || u[0] != 1e-200 {
		t.Errorf("unsolved at %v", u)
	}
	if _, singular := errors.AsType[*ridge.SingularError](r.Trace[len(r.Trace)-1].Err); !singular {
		t.Errorf("done: %v", r.Trace)
	}
	if found := testkit.Must(r.Remedies())(t); len(found) != 1 || found[0].Kind != plan.FactorDirectly {
		t.Errorf("what would help dual: %v", found)
	}
}

// TestUnprovedFallsShort: a one-shot solution with no proved bound counts as a shortfall. A solution with a bound does
// not.
func TestUnprovedFallsShort(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(21, 4)), "gaussian", 100, 12, 1, 0.1)
	r, err := fdridge.Fit(
		t.Context(),
		s,
		fdridge.Options{NoIntercept: true, Method: ridge.OneShot, Size: 2, Gammas: []float64{1e-6, 1e6}},
	)
	if !errors.Is(err, ridge.ErrUnproved) || r.Status != ridge.Unproved {
		t.Fatalf("%v: %g", err, r.Solutions[0].Targets[0].RelativeErrorBound)
	}
	if a, b := r.Solutions[0], r.Solutions[1]; a.Status != ridge.Unproved || b.Status != ridge.OnePass {
		t.Errorf(
			"%v (%g) and %v (%g)",
			a.Status,
			a.Targets[0].RelativeErrorBound,
			b.Status,
			b.Targets[0].RelativeErrorBound,
		)
	}
	found := testkit.Must(r.Remedies())(t)
	if len(found) != 2 || found[0].Kind != plan.FactorDirectly || found[1].Kind != plan.ChangeToCG {
		t.Errorf("what would help: %v", found)
	}
}

// TestRowsKnownLate: a fit of fewer rows than features, whose number is unknown, has the result of a fit that knows the
// number. It reads the rows once more, to count them.
func TestRowsKnownLate(t *testing.T) {
	const n, d = 24, 12000
	src := testkit.Waves(t, n, d, 1)
	for _, opts := range []fdridge.Options{
		{NoIntercept: true, Gammas: []float64{1}}, {NoIntercept: true}, {NoIntercept: true, Select: choose.LOO},
	} {
		opts.Tol, opts.Size = 1e-10, 4
		known := testkit.Must(fdridge.Fit(t.Context(), src, opts))(t)
		passes := 0
		late := testkit.Must(fdridge.Fit(t.Context(), testkit.Uncounted{Source: src, Asked: func() { passes++ }}, opts))(t)
		a, b := known.Best(), late.Best()
		if late.Method != ridge.Exact || late.Summary != nil || a.Gamma != b.Gamma || a.Method != b.Method ||
			!(b.Targets[0].RelativeErrorBound <= 1e-10) {
			t.Errorf(
				"%s at γ = %g by %s: %g; known beforehand at %g by %s",
				late.Method,
				b.Gamma,
				b.Method,
				b.Targets[0].RelativeErrorBound,
				a.Gamma,
				a.Method,
			)
		}
		if late.Reason().Rule != known.Reason().Rule || late.Passes != known.Passes || passes != late.Passes+1 {
			t.Errorf("%v; %d passes of %d begun, %d known beforehand", late.Reason(), late.Passes, passes, known.Passes)
		}
		opts.KeepSummary = true
		if kept := testkit.Must(
			fdridge.Fit(t.Context(), testkit.Uncounted{Source: src, Asked: func() {}}, opts),
		)(t); kept.Summary == nil {
			t.Error("the sketch that was to be kept is not")
		}
	}
}
