package ridge_test

import (
	"slices"
	"testing"

	"github.com/fdridge/fdridge/ridge"
)

// TestIterations: each has its name, runs by it, and is one that Plan lists; and there is none
// without a row in the table.
func TestIterations(t *testing.T) {
	want := []ridge.Method{ridge.CG, ridge.Galerkin, ridge.Chebyshev, ridge.Newton}
	src := waves(t, 60, 3, 1)
	sum := must(ridge.Summarize(t.Context(), src, ridge.SummaryConfig{Size: 3}, nil))(t)
	names := ridge.Iterations()
	if len(names) != len(want) {
		t.Fatalf("the iterations are %v", names)
	}
	for i, name := range names {
		m, err := ridge.ParseMethod(name)
		if err != nil || m != want[i] || m.String() != name {
			t.Errorf("%s is %v: %v", name, m, err)
		}
		found, err := ridge.FitSummary(t.Context(), src, sum, ridge.Options{Method: name, Gammas: []float64{1}})
		if err != nil || found.Method != name || found.Best().Method != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, o := range must(sum.Plan(ridge.PlanConfig{Sizes: []int{2}}))(t).Options {
		if o.Method != "exact" && o.Method != "one-shot" && !slices.Contains(names, o.Method) {
			t.Errorf("%s is planned and cannot be asked for", o.Method)
		}
	}
	for _, no := range []ridge.Method{-1, 4} {
		if _, err := ridge.Solve(t.Context(), src, sum, 1, ridge.SolveOptions{Method: no}); err == nil {
			t.Errorf("%v runs", no)
		}
		if _, err := sum.PredictedPasses(1, 1e-8, no); err == nil {
			t.Errorf("passes of %v are predicted", no)
		}
	}
	for _, name := range []string{"", "one-shot", "exact", "CG"} {
		if m, err := ridge.ParseMethod(name); err == nil {
			t.Errorf("%q is the iteration %v", name, m)
		}
	}
}
