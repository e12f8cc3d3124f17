package ridge_test

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// TestOpenChoice: where a sketch makes a choice of γ that is no more than a guess, and a pass that
// computes K is not taken for worth while, direct solutions are chosen of, as if they had been asked
// for. With a sketch that is to be kept they are not.
func TestOpenChoice(t *testing.T) {
	if os.Getenv("FDRIDGE_THOROUGH") == "" {
		t.Skip("AᵀA of 4,500 features takes seconds: set FDRIDGE_THOROUGH")
	}
	const n, d = 4600, 4500
	x, y := sparseRows(rand.New(rand.NewPCG(26, 1)), n, d, 20)
	src := must(dataset.FromCSR(x, 1, y))(t)
	opts := ridge.Options{Size: 16, Tol: 1e-8, Method: "exact"}
	want := must(ridge.Fit(t.Context(), src, opts))(t)
	opts.Method = ""
	got := must(ridge.Fit(t.Context(), src, opts))(t)
	if a, b := got.Best(), want.Best(); got.Method != "exact" || a.Gamma != b.Gamma || got.Choice.Certain != want.Choice.Certain || got.Passes != want.Passes+1 {
		t.Errorf("%s at γ = %g, certain: %v, in %d passes; asked for: γ = %g, %v, %d", got.Method, a.Gamma, got.Choice.Certain, got.Passes, b.Gamma, want.Choice.Certain, want.Passes)
	}
	if !strings.Contains(got.Reason, "a sketch of 16 rows leaves open that another gamma is better by ") {
		t.Error(got.Reason)
	}
	opts.KeepSummary = true
	if kept := must(ridge.Fit(t.Context(), src, opts))(t); kept.Method == "exact" || kept.Summary == nil {
		t.Errorf("%s, and the sketch that was to be kept is not", kept.Method)
	}
}
