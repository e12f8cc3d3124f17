package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInterceptUnits: with --standardize and --penalty, the intercept and the bound on its error are in the units of
// the file. The intercepts of a one-shot fit and of an exact fit differ by at most the sum of their bounds.
func TestInterceptUnits(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(3, 3))
	var rows strings.Builder
	rows.WriteString("a,b,c,d,y\n")
	for range 50 {
		a := r.NormFloat64() * 1e-4
		b := r.NormFloat64() + a*5e3 + 7
		fmt.Fprintf(&rows, "%v,%v,%v,%v,%v\n", a, b, r.NormFloat64(), r.NormFloat64()-3, 2e4*a+b+0.1*r.NormFloat64())
	}
	data, penalty := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "penalty.csv")
	for name, text := range map[string]string{data: rows.String(), penalty: "2\n0.25\n1\n3\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	type fit struct {
		Intercept   []float64 `json:"intercept"`
		Certificate struct {
			Bound []float64 `json:"intercept_bound"`
		} `json:"certificate"`
	}
	model := func(args ...string) (f fit) {
		t.Helper()
		out := filepath.Join(dir, "model.json")
		must(t, append([]string{"fit", "--data", data, "--target", "y", "--gamma", "3", "--out", out}, args...)...)
		var file struct {
			Models []fit `json:"models"`
		}
		if err := json.Unmarshal([]byte(contents(t, out)), &file); err != nil || len(file.Models) != 1 {
			t.Fatalf("%d models: %v", len(file.Models), err)
		}
		return file.Models[0]
	}
	for _, units := range [][]string{
		{"--standardize"}, {"--penalty", penalty}, {"--standardize", "--penalty", penalty},
		{"--standardize", "--intercept=false"},
	} {
		exact := model(append(units, "--method", "exact")...)
		rough := model(append(units, "--method", "one-shot", "--size", "1")...)
		off := math.Abs(exact.Intercept[0] - rough.Intercept[0])
		if !(off <= exact.Certificate.Bound[0]+rough.Certificate.Bound[0]) {
			t.Errorf(
				"%v: the intercepts %g and %g are %g apart, bounded by %g and %g",
				units,
				exact.Intercept[0],
				rough.Intercept[0],
				off,
				exact.Certificate.Bound[0],
				rough.Certificate.Bound[0],
			)
		}
		if !(exact.Certificate.Bound[0] <= 1e-6*(1+math.Abs(exact.Intercept[0]))) {
			t.Errorf(
				"%v: the exact intercept %g is bounded by %g",
				units,
				exact.Intercept[0],
				exact.Certificate.Bound[0],
			)
		}
		t.Logf("%v: %g apart, bounds %g and %g", units, off, exact.Certificate.Bound[0], rough.Certificate.Bound[0])
	}
}
