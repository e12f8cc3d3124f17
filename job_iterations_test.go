package fdridge_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
)

// TestIterations: each has its name, runs by it, and is one that Plan lists; and there is none
// without a row in the table.
func TestIterations(t *testing.T) {
	src := testkit.Waves(t, 60, 3, 1)
	sum := testkit.Must(ridge.Summarize(t.Context(), src, ridge.SummaryConfig{Size: 3}, nil))(t)
	var names []ridge.Method
	for _, m := range ridge.Methods() {
		if m.Iterates() {
			names = append(names, m)
		}
	}
	if want := []ridge.Method{ridge.CG, ridge.Galerkin, ridge.Newton}; !slices.Equal(names, want) {
		t.Fatalf("the iterations are %v", names)
	}
	for _, name := range names {
		if m, err := ridge.ParseMethod(name.String()); err != nil || m != name {
			t.Errorf("%s is %v: %v", name, m, err)
		}
		found, err := fdridge.FitSummary(
			t.Context(),
			src,
			sum,
			fdridge.Options{NoIntercept: true, Method: name, Gammas: []float64{1}},
		)
		if err != nil || found.Method != name || found.Best().Method != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, o := range testkit.Must(plan.New(sum, plan.Config{Sizes: []int{2}}))(t).Options {
		if o.Method != ridge.Exact && o.Method != ridge.OneShot && !slices.Contains(names, o.Method) {
			t.Errorf("%s is planned and cannot be asked for", o.Method)
		}
	}
	for _, no := range []ridge.Method{ridge.Method(99), ridge.Exact, ridge.Chebyshev} {
		if _, err := ridge.Solve(t.Context(), src, sum, 1, ridge.SolveOptions{Method: no}); err == nil {
			t.Errorf("%v runs", no)
		}
		if _, err := plan.PredictedPasses(sum, 1, 1e-8, no); err == nil {
			t.Errorf("passes of %v are predicted", no)
		}
	}
	for _, name := range []string{"", "lsqr", "CG"} {
		if m, err := ridge.ParseMethod(name); err == nil {
			t.Errorf("%q is the method %v", name, m)
		}
	}
}

// TestRetiredMethod: the name of a removed method is an error that names the replacement, and a
// solution with that name is still read.
func TestRetiredMethod(t *testing.T) {
	src := testkit.Waves(t, 60, 3, 1)
	_, parsed := ridge.ParseMethod("chebyshev")
	_, fitted := fdridge.Fit(t.Context(), src, fdridge.Options{Method: ridge.Chebyshev, Gammas: []float64{1}})
	for _, err := range []error{parsed, fitted} {
		if !errors.Is(err, ridge.ErrInput) {
			t.Errorf("%v", err)
		}
	}
	if !strings.Contains(parsed.Error(), "use cg") {
		t.Error(parsed)
	}
	f := testkit.Must(testkit.Must(ridge.Summarize(t.Context(), src, ridge.SummaryConfig{Size: 3}, nil))(t).Fit(1))(t)
	f.Method = ridge.Chebyshev
	var read ridge.Solution
	if err := json.Unmarshal(testkit.Must(json.Marshal(f))(t), &read); err != nil || read.Method != ridge.Chebyshev {
		t.Errorf("%q: %v", read.Method, err)
	}
}
