package ridge_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// TestBySparseRows: fewer sparse rows than features, of which neither n² nor d² numbers fit, are solved
// for on the rows themselves, unasked, and γ is chosen by what exact solutions miss; with memory for no
// more than an iteration, or a method that is named, they are not. Dense rows are not, either.
func TestBySparseRows(t *testing.T) {
	const n, d = 11700, 11800
	x, y := sparseRows(rand.New(rand.NewPCG(28, 1)), n, d, 3)
	src := must(dataset.FromCSR(x, 1, y))(t)
	r := must(ridge.Fit(t.Context(), src, ridge.Options{Gammas: []float64{1, 10}, Tol: 1e-8, Intercept: true}))(t)
	if r.Method != "dual-cg" || !strings.Contains(r.Reason, "neither n² nor d² numbers fit") || len(r.Solutions) != 2 || r.Err() != nil {
		t.Errorf("%s: %s; %v", r.Method, r.Reason, r.Err())
	}
	chosen := must(ridge.Fit(t.Context(), src, ridge.Options{Candidates: []float64{1, 100}, Tol: 1e-8, Intercept: true}))(t)
	if chosen.Method != "dual-cg" || chosen.Choice.By != ridge.ByCV || !chosen.Choice.Certain || len(chosen.Solutions) != 1 || !strings.Contains(chosen.Reason, "cross-validation of exact solutions") {
		t.Errorf("%s by %v, certain: %v; %s", chosen.Method, chosen.Choice.By, chosen.Choice.Certain, chosen.Reason)
	}
	for name, opts := range map[string]ridge.Options{
		"a method":               {Gammas: []float64{1e3}, Method: "cg", Size: 1},
		"a sketch":               {Gammas: []float64{1e3}, KeepSummary: true, Size: 1},
		"no memory":              {Gammas: []float64{1e3}, MaxBytes: 3 << 20, Size: 1},
		"one pass":               {Gammas: []float64{1e3}, Method: "one-shot", Size: 1},
		"no memory for a choice": {Candidates: []float64{1e3}, GammaTol: 1, MaxBytes: 3 << 20, Size: 1},
	} {
		opts.Tol = 1e-2
		if r, _ := ridge.Fit(t.Context(), src, opts); r == nil || r.Method == "dual-cg" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
