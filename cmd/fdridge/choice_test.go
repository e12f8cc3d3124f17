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

// TestChoiceWarns: warnings about a chosen γ are the same in the output, the JSON report and the page. A warning is
// given if smaller γ were left out, or if the choice is little more than a guess. It advises --standardize if the
// columns have different sizes. A certain choice gives no warning.
func TestChoiceWarns(t *testing.T) {
	const leftOut, advice, guess = "left out, because the system is singular there or the cross-validated error is " +
		"hardly known", "; --standardize would help", "is little more than a guess: another candidate may be better by"
	apart, rest := monomials(t, 30, 5), "--target last --gamma auto --cv 5 "
	for name, c := range map[string]struct {
		args string
		want []string
	}{
		"left out": {"--data " + apart + " --method galerkin " + rest, []string{leftOut + advice}},
		"guess": {
			"--data " + housing + " --standardize --size 1 --method cg --gamma-tol inf " + rest, []string{guess},
		},
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
				if !strings.Contains(out, "; this gamma ") || !strings.Contains(out, want) ||
					!strings.Contains(shown, want) ||
					!strings.Contains(warnings[i].(string), want) {
					t.Errorf("not said to be %q: %v\n%s\n%s", want, warnings, out, shown)
				}
			}
			left, there := choice["left_out"].(map[string]any)
			if there != (len(c.want) > 0 && c.want[0] != guess) {
				t.Fatalf("left out are %v", choice["left_out"])
			}
			if there {
				g, first := left["gamma"].([]any), choice["path"].([]any)[0].(map[string]any)
				if !(left["count"].(float64) >= 1) || !(0 < g[0].(float64)) || !(g[0].(float64) <= g[1].(float64)) ||
					!(g[1].(float64) < first["gamma"].(float64)) {
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
		if code != done ||
			!strings.Contains(
				strings.ReplaceAll(out, "\n  ", " "),
				"a smaller candidate, 0.0001, was left out, because the system is singular there",
			) {
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
	if code, _, errs := call("fit", "--data", data, "--target", "last", "--gamma", "auto:1e-4,1e-5"); code != usage ||
		!strings.Contains(errs, "singular at 0.0001") {
		t.Errorf("all are singular: exit %d: %s", code, errs)
	}
}

// TestRoundOffChoice: a choice gives no warnings if all scores are only round-off, or if the target is constant. If
// nothing useful is proved about a choice, the exit code is 3 and the warning names the next option to try.
func TestRoundOffChoice(t *testing.T) {
	for name, c := range map[string]struct{ text, args, says, not string }{
		"linear": {"x,y\n1,2\n2,4\n3,6\n4,8\n5,10\n6,12\n", "", "the targets are fitted exactly", "much influence"},
		"duplicated": {
			"a,b,y\n1,1,2\n2,2,4\n3,3,6\n4,4,8\n5,5,10\n6,6,12\n", "", "the targets are fitted exactly", "much influence",
		},
		"constant":         {"x,y\n1,2\n2,2\n3,2\n4,2\n5,2\n6,2\n", "", "the targets are constant", "this gamma"},
		"constant feature": {"x,y\n3,1\n3,2\n3,3\n3,4\n", "", "2.2222", "little more than a guess"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := call(
				append(
					[]string{"fit", "--data", write(t, "rows.csv", c.text), "--target", "y"},
					strings.Fields(c.args)...)...)
			out = strings.ReplaceAll(out, "\n  ", " ")
			if code != done || !strings.Contains(out, c.says) || strings.Contains(out, c.not) {
				t.Errorf("exit %d: %s%s", code, errs, out)
			}
		})
	}
	args := []string{
		"fit",
		"--data",
		housing,
		"--target",
		"last",
		"--size",
		"1",
		"--method",
		"galerkin",
		"--select",
		"gcv",
		"--gamma-tol",
		"inf",
	}
	file := write(t, "model.json", "")
	code, _, errs := call(append(args, "--gamma", "auto:1e-9", "--out", file)...)
	if code != short ||
		!strings.Contains(errs, "gamma = 1e-09 is little more than a guess: the GCV is only known to lie in [") ||
		!strings.Contains(errs, "; try a larger --size") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// TestRawUnits: if columns are dependent and in raw units, QR finds the γ that AᵀA does not determine.
func TestRawUnits(t *testing.T) {
	rng := rand.New(rand.NewPCG(44, 9))
	var text strings.Builder
	for range 300 {
		a, b, small := rng.IntN(1e6), rng.IntN(1e6), 0.1*rng.NormFloat64()
		fmt.Fprintf(&text, "%v,%v,%v,%v,%v\n", a, b, a+b, small, float64(a)/1e6+10*small+0.01*rng.NormFloat64())
	}
	args := []string{"fit", "--data", write(t, "raw.csv", text.String()), "--target", "last"}
	code, out, errs := call(args...)
	if code != done ||
		!strings.Contains(
			strings.ReplaceAll(out, "\n  ", " "),
			"QR read the rows once more, because AᵀA does not determine the scores of",
		) {
		t.Errorf("exit %d: %s%s", code, errs, out)
	}
	score := reported(t, args...)["choice"].(map[string]any)["score"].([]any)
	if !(score[1].(float64) < 2e-4) || !(score[1].(float64) < 1.01*score[0].(float64)) {
		t.Errorf("the error is in %v: %s", score, out)
	}
}

// TestGuessAmongFitted checks that a choice is a guess if the leave-one-out error of the chosen γ is unknown, even
// if the solution fits almost up to round-off.
func TestGuessAmongFitted(t *testing.T) {
	data := write(t, "offset.csv", `x0,x1,x2,x3,x4,y
1e+08,9.9999998e+07,1.00000004e+08,1e+08,1e+08,2.00000021998e+08
9.9999998e+07,9.9999998e+07,1.00000005e+08,9.9999995e+07,9.9999998e+07,2.0000002e+08
9.9999996e+07,9.9999998e+07,1.00000004e+08,9.9999997e+07,9.9999996e+07,2.00000029e+08
9.9999997e+07,9.9999998e+07,1.00000002e+08,1.00000002e+08,9.9999997e+07,2.00000026e+08
1e+08,9.9999998e+07,9.9999997e+07,1e+08,1e+08,1.99999996e+08
9.9999995e+07,9.9999998e+07,9.9999997e+07,1.00000001e+08,9.9999995e+07,2.00000012e+08
1.00000002e+08,9.9999998e+07,9.9999998e+07,1.00000004e+08,1.00000002e+08,2.00000008e+08
`)
	code, out, errs := call(
		"fit",
		"--data",
		data,
		"--target",
		"y",
		"--gamma",
		"auto:1e-6,0.3,100,1e-10",
		"--method",
		"exact",
		"--intercept=false",
	)
	if code != short || !strings.Contains(errs, "little more than a guess") {
		t.Errorf("exit %d: %s\n%s", code, errs, out)
	}
}
