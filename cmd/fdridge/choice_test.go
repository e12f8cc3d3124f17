package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// monomials is a table of the powers of four numbers within ±unit, and of what oscillates with them.
func monomials(t *testing.T, unit float64, degree int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(33, 5))
	var text strings.Builder
	for range 280 {
		var x [4]float64
		y := 0.1 * rng.NormFloat64()
		for j := range x {
			x[j] = 2*rng.Float64() - 1
			y += math.Sin(5 * x[j])
		}
		for p := 1; p <= degree; p++ {
			for _, v := range x {
				fmt.Fprintf(&text, "%v,", math.Pow(unit*v, float64(p)))
			}
		}
		fmt.Fprintln(&text, y)
	}
	return write(t, "monomials.csv", text.String())
}

// TestChoiceWarns: of smaller γ that were left out, and of a choice that hardly is one, the line, the
// report in JSON and the page say the same; --standardize is advised where columns are of different
// size, and said to help where it does. A choice of which all is known comes without.
func TestChoiceWarns(t *testing.T) {
	const leftOut, advice, guess = "left out, because the system is singular there or the cross-validated error is hardly known", "; --standardize would help", "is little more than a guess: another candidate may be better by"
	apart, rest := monomials(t, 30, 5), "--target last --gamma auto --cv 5 "
	for name, c := range map[string]struct {
		args string
		want []string
	}{
		"left out":     {"--data " + apart + " --method galerkin " + rest, []string{leftOut + advice}},
		"guess":        {"--data " + housing + " --standardize --size 1 --method cg --gamma-tol inf " + rest, []string{guess}},
		"standardised": {"--data " + apart + " --standardize " + rest, nil},
		"one-shot":     {"--data " + apart + " --method one-shot --size 8 " + rest, []string{leftOut}},
	} {
		t.Run(name, func(t *testing.T) {
			page := filepath.Join(t.TempDir(), "report.html")
			args := append([]string{"fit", "--report", page}, strings.Fields(c.args)...)
			code, out, errs := call(args...)
			if code != done && code != short {
				t.Fatalf("exit %d: %s", code, errs)
			}
			choice := reported(t, args...)["choice"].(map[string]any)
			warnings, _ := choice["warnings"].([]any)
			shown := parsePage(t, page).sections["path"]
			if n := strings.Count(shown, "Warning:"); n != len(warnings) || n != len(c.want) {
				t.Errorf("%v; the page has %d warnings: %s", warnings, n, out)
			}
			for i, want := range c.want {
				out := strings.ReplaceAll(out, "\n  ", " ")
				if !strings.Contains(out, "; this gamma ") || !strings.Contains(out, want) || !strings.Contains(shown, want) || !strings.Contains(warnings[i].(string), want) {
					t.Errorf("not said to be %q: %v\n%s\n%s", want, warnings, out, shown)
				}
			}
			left, there := choice["left_out"].(map[string]any)
			if there != (len(c.want) > 0 && c.want[0] != guess) {
				t.Fatalf("left out are %v", choice["left_out"])
			}
			if there {
				g, first := left["gamma"].([]any), choice["path"].([]any)[0].(map[string]any)
				if !(left["count"].(float64) >= 1) || !(0 < g[0].(float64)) || !(g[0].(float64) <= g[1].(float64)) || !(g[1].(float64) < first["gamma"].(float64)) {
					t.Errorf("left out are %v, tried those from %v on", left, first["gamma"])
				}
			}
		})
	}
}

// TestSingularCandidates: a candidate at which the system is singular is left out, and the report names it.
// The choice is among the others.
func TestSingularCandidates(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 8))
	var row strings.Builder
	for range 6 {
		for range 30 {
			fmt.Fprintf(&row, "%v,", 1e7*rng.NormFloat64())
		}
		fmt.Fprintln(&row, rng.NormFloat64())
	}
	data := write(t, "repeated.csv", strings.Repeat(row.String(), 3))
	for _, by := range []string{"gcv", "loo"} {
		args := []string{"fit", "--data", data, "--target", "last", "--gamma", "auto:1e6,1e-4,1e5", "--select", by}
		code, out, errs := call(args...)
		if code != done || !strings.Contains(strings.ReplaceAll(out, "\n  ", " "), "a smaller candidate, 0.0001, was left out, because the system is singular there") {
			t.Fatalf("exit %d: %s%s", code, errs, out)
		}
		choice := reported(t, args...)["choice"].(map[string]any)
		left := choice["left_out"].(map[string]any)
		if first := choice["path"].([]any)[0].(map[string]any)["gamma"]; first != 1e5 {
			t.Errorf("%s: the path begins at γ = %v, not at the smallest", by, first)
		}
		if len(choice["path"].([]any)) != 2 || left["count"] != 1.0 || left["gamma"].([]any)[0] != 1e-4 {
			t.Errorf("%s: %v tried, left out are %v", by, choice["path"], left)
		}
	}
	if code, _, errs := call("fit", "--data", data, "--target", "last", "--gamma", "auto:1e-4,1e-5"); code != usage || !strings.Contains(errs, "singular at 0.0001") {
		t.Errorf("all are singular: exit %d: %s", code, errs)
	}
}
