package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/ridge"
)

// shortfalls are command lines that end short of the tolerance, each for its own reason.
var shortfalls = map[ridge.Status][]string{
	ridge.PassLimit: {"--gamma", "1", "--size", "2", "--method", "newton", "--max-passes", "2"},
	ridge.RoundOff:  {"--gamma", "1", "--size", "8", "--method", "cg", "--tol", "1e-40"},
}

// misses runs a fit that does not reach its tolerance, and returns its output and its warning. If --tol is 1e-40,
// misses also requires an earlier warning that this tolerance may not be reached.
func misses(t *testing.T, code int, args ...string) (out, said string) {
	t.Helper()
	got, out, errs := call(
		append([]string{"fit", "--data", housing, "--target", "last", "--standardize", "--rows", "1:3000"}, args...)...)
	lines := strings.Split(strings.TrimSuffix(errs, "\n"), "\n")
	if slices.Contains(args, "1e-40") {
		if !strings.HasPrefix(lines[0], "fdridge: warning: --tol 1e-40 may not be reached") {
			t.Errorf("%v: %s", args, errs)
		}
		lines = lines[1:]
	}
	if got != code || len(lines) != 1 || !strings.Contains(lines[0], "tolerance not reached") {
		t.Fatalf("%v: exit %d, %s", args, got, errs)
	}
	return out, lines[0]
}

// TestNotConverged: a fit that misses its tolerance ends with exit code 3 and one warning, with the proved bound and
// the requested tolerance. All outputs are written and report the same. With --strict the exit code is 1, no weights
// are written, and an older model is kept.
func TestNotConverged(t *testing.T) {
	for _, c := range []struct {
		status ridge.Status
		advice string
	}{{ridge.PassLimit, "--max-passes"}, {ridge.RoundOff, "the precision of float64"}} {
		t.Run(c.status.String(), func(t *testing.T) {
			dir, args := t.TempDir(), shortfalls[c.status]
			in := func(name string) string { return filepath.Join(dir, name) }
			name := must1(c.status.MarshalText())
			out, errs := misses(
				t,
				short,
				append(
					args,
					"--json",
					"--out",
					in("m"),
					"--coef",
					in("c"),
					"--report",
					in("p"),
					"--save-sketch",
					in("s"),
				)...)
			if !strings.HasPrefix(errs, "fdridge: warning: ") || !strings.Contains(errs, c.advice) ||
				!strings.Contains(errs, "the best coefficients were written") {
				t.Error(errs)
			}
			var v struct {
				Converged          bool
				Model, Status      string
				Tol                float64
				RelativeErrorBound []*float64 `json:"relative_error_bound"`
				Fits               []struct {
					Converged bool
					Status    string
				}
			}
			if err := json.Unmarshal([]byte(out), &v); err != nil || v.Converged || v.Model != in("m") ||
				v.Status != string(name) ||
				v.Fits[0].Status != v.Status ||
				v.Fits[0].Converged ||
				!(v.Tol > 0) {
				t.Errorf("%v: %+v", err, v)
			}
			said := regexp.MustCompile(`bound on the relative error[a-z ]* is ([^ ,]+), `).FindStringSubmatch(errs)
			if said == nil || (said[1] == "none") != (v.RelativeErrorBound[0] == nil) {
				t.Errorf("%s, of %v", errs, v.RelativeErrorBound)
			} else if said[1] != "none" {
				holdsBound(t, "warning", said[1], *v.RelativeErrorBound[0], 1e-2)
			}
			m, err := readModel("", in("m"))
			if err != nil {
				t.Fatal(err)
			}
			record, err := m.Fits[0].Certificate.Record()
			if err != nil || record.Converged || record.Status != c.status || m.Tol != v.Tol {
				t.Errorf("the model says %+v, of a tolerance of %v: %v", record, m.Tol, err)
			}
			for _, file := range []string{"c", "s"} {
				if info, err := os.Stat(in(file)); err != nil || info.Size() == 0 {
					t.Errorf("%s: %v", file, err)
				}
			}
			page := parsePage(t, in("p"))
			if !strings.Contains(page.text, "Not converged: ") || !strings.Contains(page.text, "the tolerance is") {
				t.Error("the page does not say what was asked for")
			}
			predict := []string{"predict", "--model", in("m"), "--data", housing, "--target", "last", "--rows", "1:3"}
			for _, more := range [][]string{nil, {"--interval", in("s")}, {"--json"}} {
				code, _, warned := call(append(predict, more...)...)
				if code != done || strings.Count(warned, "warning: ") != 1 || !strings.Contains(warned, in("m")) ||
					!strings.Contains(warned, "the tolerance is "+strconv.FormatFloat(v.Tol, 'g', -1, 64)) {
					t.Errorf("predict %v: exit %d, %s", more, code, warned)
				}
			}

			old := write(t, "m", "the old model")
			if _, errs := misses(
				t, failed, append(args, "--json", "--strict", "--out", old, "--coef", in("none"))...,
			); strings.Contains(errs, "warning") || !strings.Contains(errs, "no model was written") {
				t.Error(errs)
			}
			if text := contents(t, old); text != "the old model" {
				t.Errorf("the model is now %q", text)
			}
			if _, err := os.Stat(in("none")); err == nil {
				t.Error("--strict writes weights")
			}
		})
	}
}

// TestStrictNeedsTolerance: nothing checks a tolerance of a one-shot fit.
func TestStrictNeedsTolerance(t *testing.T) {
	rows, sketch := write(t, "rows.csv", rowsCSV(40)), filepath.Join(t.TempDir(), "s")
	must(t, "sketch", "--data", rows, "--target", "y", "-o", sketch)
	for _, args := range [][]string{
		{"fit", "--data", rows, "--target", "y", "--gamma", "1", "--method", "one-shot"}, {"solve", sketch, "--gamma", "1"},
		{"solve", sketch, "--gamma", "1", "--method", "one-shot"},
	} {
		code, out, errs := call(append(args, "--strict")...)
		if code != usage || out != "" || !strings.Contains(errs, "--strict: --method one-shot") {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
	for _, args := range [][]string{{"fit", "--data", rows, "--target", "y"}, {"solve", sketch, "--data", rows}} {
		must(t, append(args, "--gamma", "1", "--strict")...)
	}
}

// TestExactFallsShort: what a factorisation is not certified to is told like what passes are not;
// a solution that is zero has no relative error to certify, and is none.
func TestExactFallsShort(t *testing.T) {
	misses(t, short, "--gamma", "1", "--method", "exact", "--tol", "1e-40")
	flat := write(t, "flat.csv", "a,b,y\n1,0.1,3\n2,0.3,3\n5,-0.1,3\n")
	must(t, "fit", "--data", flat, "--target", "y", "--gamma", "1", "--method", "exact")
}

func must1[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestNothingProved: that nothing is proved of weights is said in words, with them and by predict;
// where something is, it is not.
func TestNothingProved(t *testing.T) {
	const says = "nothing is proved about"
	data := write(t, "rows.csv", rowsCSV(40))
	for gamma, proved := range map[string]bool{"1e-9": false, "1e9": true} {
		out := filepath.Join(t.TempDir(), "model.json")
		code, text, _ := call(
			"fit",
			"--data",
			data,
			"--target",
			"y",
			"--gamma",
			gamma,
			"--method",
			"one-shot",
			"--features",
			"poly:2",
			"--size",
			"1",
			"--intercept=false",
			"--out",
			out,
		)
		if want := map[bool]int{false: short, true: done}[proved]; code != want {
			t.Errorf("gamma %s: exit %d", gamma, code)
		}
		code, _, errs := call("predict", "--model", out, "--data", data, "--target", "y")
		if code != done || strings.Contains(text, says) == proved || strings.Contains(errs, says) == proved {
			t.Errorf("gamma %s, something is proved: %v:\n%s%s", gamma, proved, text, errs)
		}
	}
}
