package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sbinet/npyio"
	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/rss"
)

// distance is ‖x − y‖ of the weights of two models, and ‖y‖.
func distance(t *testing.T, x, y string) (diff, norm float64) {
	t.Helper()
	a, _ := weightsOf(t, x)
	b, _ := weightsOf(t, y)
	for j := range b {
		diff, norm = math.Hypot(diff, a[j]-b[j]), math.Hypot(norm, b[j])
	}
	return diff, norm
}

// TestShards: sketches of parts, merged and solved, are as near to the exact
// solution as their certificate says, and refined they are the fit.
func TestShards(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	data := []string{"--data", housing, "--target", "last", "--features", "rff:40,gamma=1e-7,seed=2"}
	for i, rows := range []string{"1:5000", "5001:5001", "5002:20640"} {
		out := must(t, append([]string{"sketch", "--size", "20", "--rows", rows, "-o", in(fmt.Sprint(i))}, data...)...)
		if !strings.Contains(out, "m = 20") {
			t.Errorf("sketch says %q", out)
		}
	}
	must(t, "merge", in("0"), in("1"), in("2"), "-o", in("all"))
	exact := in("exact")
	must(t, append([]string{"fit", "--method", "exact", "--gamma", "50", "--out", exact}, data...)...)

	v := reported(t, "solve", in("all"), "--gamma", "50", "--out", in("one-shot"))
	if v["n"] != 20640.0 || v["nnz"] != 20640.0*8 || v["method"] != "one-shot" || v["reads"] != 0.0 {
		t.Errorf("%v", v)
	}
	diff, norm := distance(t, in("one-shot"), exact)
	if bound := first(v["error_bound"]); !(diff <= bound) || !(bound < 10*norm) {
		t.Errorf("the exact solution is %g away, certified %g, norm %g", diff, bound, norm)
	}
	must(t, "solve", in("all"), "--gamma", "50", "--data", housing, "--out", in("refined"))
	if diff, norm := distance(t, in("refined"), exact); !(diff <= 1e-7*norm) {
		t.Errorf("refined it is %g from the exact solution, of %g", diff, norm)
	}
	if code, _, errs := call("solve", in("0"), "--gamma", "50", "--data", housing); code != usage ||
		!strings.Contains(errs, "20640 rows") {
		t.Errorf("refined by other rows: exit %d, %s", code, errs)
	}
}

// TestBound: of one sketch all commands tell the same bound.
func TestBound(t *testing.T) {
	t.Chdir(t.TempDir())
	bound := regexp.MustCompile(`‖AᵀA − BᵀB‖ ≤ [^ ,\n]+`)
	rows := write(t, "rows.csv", rowsCSV(60))
	told := func(args ...string) string {
		t.Helper()
		said := bound.FindString(must(t, args...))
		if said == "" {
			t.Fatalf("%v tells no bound", args)
		}
		return said
	}
	input := []string{"--data", rows, "--target", "y", "--features", "poly:3", "--size", "3"}
	sketch := func(out string, more ...string) string {
		return told(slices.Concat([]string{"sketch", "-o", out}, input, more)...)
	}
	for name, made := range map[string]string{
		"whole": sketch("whole"), "one": sketch("one", "--rows", "1:25"), "two": sketch("two", "--rows", "26:60"),
		"merged": told("merge", "one", "two", "-o", "merged"),
	} {
		if got := told("solve", name, "--gamma", "1e9"); got != made {
			t.Errorf("%s: solve says %s, it was made with %s", name, got, made)
		}
	}
	if got, want := told(slices.Concat(
		[]string{"fit", "--gamma", "1e9", "--method", "one-shot"}, input,
	)...), told("solve", "whole", "--gamma", "1e9"); got != want {
		t.Errorf("fit says %s, solve of the same sketch %s", got, want)
	}
	must(t, "sketch", "--data", write(t, "header.csv", "x,y\n"), "--target", "y", "-o", "empty")
}

// TestSketchStandardized: that it will not merge is said when it is made, not when it is
// too late.
func TestSketchStandardized(t *testing.T) {
	dir, rows := t.TempDir(), write(t, "rows.csv", rowsCSV(60))
	const says = "do not merge it"
	for _, standardize := range []string{"--standardize", "--standardize=false"} {
		out := must(t, "sketch", "--data", rows, "--target", "y", standardize, "-o", filepath.Join(dir, standardize))
		if strings.Contains(out, says) != (standardize == "--standardize") {
			t.Errorf("%s: %s", standardize, out)
		}
	}
	if help := must(t, "sketch", "--help"); !strings.Contains(help, "cannot be merged with\nsketches of other rows") {
		t.Error(help)
	}
}

// TestPipeline: models predict as scikit-learn's do, StandardScaler before Ridge where
// columns are standardised, with an intercept and without: ridge/testdata/sklearn/make.py
// has made its coefficients, in the units of the file.
func TestPipeline(t *testing.T) {
	var fixture struct {
		Alpha float64
		Cases []struct {
			Intercept, Weights, Standardise bool
			Exact                           struct {
				Coef      [][]float64
				Intercept []float64
			}
		}
	}
	if err := json.Unmarshal([]byte(contents(t, "../../ridge/testdata/sklearn/housing.json")), &fixture); err != nil {
		t.Fatal(err)
	}
	var w strings.Builder
	for i := range 20640 {
		fmt.Fprintln(&w, 0.5+float64(i%7)/4)
	}
	weights, model := write(t, "w.csv", w.String()), filepath.Join(t.TempDir(), "m")
	predictions := func(model string) []string {
		return strings.Fields(
			must(t, "predict", "--model", model, "--data", housing, "--target", "last", "--rows", "1:500"),
		)
	}
	for _, c := range fixture.Cases {
		name := fmt.Sprintf("--intercept=%v --standardize=%v", c.Intercept, c.Standardise)
		args := append(
			[]string{
				"fit",
				"--data",
				housing,
				"--target",
				"last",
				"--gamma",
				fmt.Sprint(fixture.Alpha),
				"--out",
				model,
			},
			strings.Fields(name)...)
		if c.Weights {
			args = append(args, "--weights", weights)
		}
		must(t, args...)
		coef, err := json.Marshal(c.Exact.Coef[0])
		if err != nil {
			t.Fatal(err)
		}
		want := predictions(
			write(
				t,
				"m",
				fmt.Sprintf(
					`{"fdridge_model":1,"preparation":{"inputs":8},"coef":%s,"intercept":%v}`,
					coef,
					c.Exact.Intercept[0],
				),
			),
		)
		for i, line := range predictions(model) {
			if got, want := parse(t, line), parse(t, want[i]); !(math.Abs(got-want) <= 1e-7*(1e5+math.Abs(want))) {
				t.Errorf("%s, weights %v, row %d: %v, scikit-learn predicts %v", name, c.Weights, i+1, got, want)
				break
			}
		}
	}
	if len(fixture.Cases) != 8 {
		t.Errorf("%d cases", len(fixture.Cases))
	}
}

// TestChoiceNarrower: the report of an uncertain choice advises what would narrow the range of γ: a larger --size or
// --standardize. It does not advise an option that is already used or cannot help.
func TestChoiceNarrower(t *testing.T) {
	for flags, want := range map[string]string{
		"--size 3 --method cg": "a larger --size would narrow this range",
		"--size 256":           "--standardize would narrow this range",
		"--size 256 --standardize --features poly:3 --gamma auto:1e-12,2e-12": "only round-off is left",
	} {
		file := filepath.Join(t.TempDir(), "report.html")
		gamma := []string{"--gamma", "auto"}
		if strings.Contains(flags, "--gamma") {
			gamma = nil
		}
		args := append(
			strings.Fields(
				"fit --data "+housing+" --target last --gamma-tol inf --max-passes 1500 --tol 1e-3 "+flags+" --report "+file,
			),
			gamma...)
		_, out, _ := call(args...)
		if !strings.Contains(strings.ReplaceAll(out, "\n  ", " "), want) {
			t.Errorf("%s: %s", flags, out)
		}
		if page, err := os.ReadFile(file); err != nil || !strings.Contains(string(page), want[1:]) {
			t.Errorf("%s: the page does not say %q (%v)", flags, want, err)
		}
	}
}

// TestGammaAuto: the γ chosen is the path's with the least midpoint of GCV, and
// the report says whether that is certain.
func TestGammaAuto(t *testing.T) {
	data := []string{
		"fit",
		"--data",
		housing,
		"--target",
		"last",
		"--standardize",
		"--gamma",
		"auto",
		"--select",
		"gcv",
		"--method",
		"galerkin",
	}
	v := reported(t, append(data, "--size", "8")...)
	c := v["choice"].(map[string]any)
	path := c["path"].([]any)
	// The best γ lies below the grid, which goes on to it.
	if len(path) != 50+25 || c["at_end"] != false || c["gamma"] != v["gamma"] || v["method"] != "galerkin" {
		t.Fatalf("%d points, gamma %v of %v, method %v", len(path), v["gamma"], c["gamma"], v["method"])
	}
	least, at := math.Inf(1), 0.0
	for _, p := range path {
		p := p.(map[string]any)
		if ends := p["gcv"].([]any)[0].([]any); ends[0].(float64)+ends[1].(float64) < least {
			least, at = ends[0].(float64)+ends[1].(float64), p["gamma"].(float64)
		}
	}
	if at != v["gamma"] {
		t.Errorf("chose %v, the least is at %v", v["gamma"], at)
	}
	// m = d makes the sketch lossless: all brackets are points.
	if out := must(t, append(data, "--size", "8")...); c["certain"] != true ||
		!strings.Contains(out, ": smallest GCV of 75 candidates (proved)") {
		t.Errorf("certain: %v\n%s", c["certain"], out)
	}
	code, out, errs := call(append(data, "--size", "1", "--gamma-tol", "inf")...)
	if code != short || !strings.Contains(strings.ReplaceAll(out, "\n  ", " "), "any gamma from") {
		t.Errorf("one row says for certain:\n%s", out)
	}
	if !strings.Contains(errs, "is little more than a guess: the GCV is only known to lie in [0, ") ||
		!strings.Contains(errs, "; try a larger --size") {
		t.Errorf("nothing useful is proved of the choice: %s", errs)
	}
	// Unasked so few features are solved for directly, and that certifies as much.
	if out := must(t, data[:len(data)-2]...); !strings.Contains(out, "method exact (tridiagonal): ") ||
		!strings.Contains(out, " % of the work of 12 galerkin passes, and AᵀA fits into memory") ||
		!strings.Contains(out, ": smallest GCV of 75 candidates (proved)") {
		t.Errorf("by no method that was named:\n%s", out)
	}
	// If the sketch leaves the choice open, one more pass computes AᵀA. The choice is then certain, too.
	out = must(t, append(data, "--size", "1")...)
	if !strings.Contains(
		out, ": smallest GCV of 75 candidates (proved)\n1 pass was made to choose gamma: by the sketch alone",
	) {
		t.Errorf("one row, and a pass:\n%s", out)
	}
	// auto is the default.
	var without []string
	for _, arg := range data {
		if arg != "--gamma" && arg != "auto" {
			without = append(without, arg)
		}
	}
	if w := reported(t, append(without, "--size", "8")...); w["gamma"] != v["gamma"] {
		t.Errorf("without --gamma %v, by auto %v", w["gamma"], v["gamma"])
	}
	// The grid goes on where nothing is certain, too, and stays what it is where it is given.
	for args, want := range map[string]struct {
		end    bool
		points int
	}{"--size 6 --gamma auto --gamma-tol inf": {false, 50 + 25}, "--size 8 --gamma auto:50,100": {true, 2}} {
		v := reported(
			t,
			append([]string{"fit", "--data", housing, "--target", "last", "--standardize"}, strings.Fields(args)...)...)
		if c := v["choice"].(map[string]any); c["at_end"] != want.end || len(c["path"].([]any)) != want.points {
			t.Errorf("%v: at the end %v of %d", args, c["at_end"], len(c["path"].([]any)))
		}
	}
}

// TestSelect: --select gcv, loo and cv choose the γ with the least score of this kind, and the report has these
// scores. Combinations that make no sense are refused.
func TestSelect(t *testing.T) {
	data := []string{"fit", "--data", housing, "--target", "last", "--standardize", "--gamma", "auto", "--size", "2"}
	gammas := make(map[float32]bool)
	for by, points := range map[string]int{"gcv": 75, "loo": 11, "cv": 37, "exact": 11} {
		file := filepath.Join(t.TempDir(), "report.html")
		args := append(data, "--select", by, "--method", "galerkin")
		switch by {
		case "exact":
			by, args = "loo", append(data, "--select", "loo", "--method", "exact")
		case "cv":
			args = append(args, "--size", "8") // so that the sketches of the folds lose nothing
		}
		v := reported(t, append(args, "--report", file)...)
		c := v["choice"].(map[string]any)
		path := c["path"].([]any)
		if c["by"] != by || len(path) != points || c["certain"] != true || c["relative_excess"] != 0.0 ||
			by != "cv" && (c["passes"].(float64) < 1 || c["passes_reason"] == "") {
			t.Errorf(
				"--select %s: by %v, %d points, certain %v, %v passes: %v",
				by,
				c["by"],
				len(path),
				c["certain"],
				c["passes"],
				c["passes_reason"],
			)
		}
		gammas[float32(c["gamma"].(float64))] = true // grids of two methods are the same to some digits
		least, at := math.Inf(1), 0.0
		for _, p := range path {
			p := p.(map[string]any)
			for _, other := range []string{"loo", "cv"} {
				if _, there := p[other]; there != (other == by) {
					t.Fatalf("--select %s: the path has %s: %v", by, other, there)
				}
			}
			if ends := p[by].([]any)[0].([]any); ends[0].(float64)+ends[1].(float64) < least {
				least, at = ends[0].(float64)+ends[1].(float64), p["gamma"].(float64)
			}
		}
		if at != c["gamma"] {
			t.Errorf("--select %s chose %v, the least is at %v", by, c["gamma"], at)
		}
		page, err := os.ReadFile(file)
		want := map[string]string{"gcv": "smallest GCV of", "loo": "Leave-one-out error", "cv": "Cross-validated error"}[by]
		if err != nil ||
			!strings.Contains(string(page), want) {
			t.Errorf("the page does not say %q (%v)", want, err)
		}
	}
	if len(gammas) != 3 {
		t.Errorf("three criteria, one of them by two methods, choose %v", gammas)
	}
	for want, args := range map[string][]string{
		"must be one of auto, gcv, loo, cv":         {"--select", "aic"},
		"--cv, --select: gammas are given":          {"--select", "loo", "--gamma", "1"},
		"--cv, --select: only cross-validation has": {"--select", "loo", "--cv", "3"},
		"--select: only cross-validation has folds": {"--select", "gcv", "--cv", "10"},
		"--gamma-tol: 0, must be":                   {"--gamma-tol", "0"},
		"--gamma-tol: NaN, must be":                 {"--gamma-tol", "nan"},
		"--gamma-tol: -0.5, must be pos":            {"--gamma-tol", "-0.5"},
	} {
		args = append([]string{"fit", "--data", housing, "--target", "last"}, args...)
		if !slices.Contains(args, "--gamma") {
			args = append(args, "--gamma", "auto")
		}
		if code, _, errs := call(args...); code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
}

// TestSolveSelect: solve chooses as fit does, where it is given the rows.
func TestSolveSelect(t *testing.T) {
	sketch := filepath.Join(t.TempDir(), "sketch.fds")
	must(t, "sketch", "--data", housing, "--target", "last", "--standardize", "--size", "2", "-o", sketch)
	for _, by := range []string{"gcv", "loo"} {
		was := reported(
			t,
			"fit",
			"--data",
			housing,
			"--target",
			"last",
			"--standardize",
			"--gamma",
			"auto",
			"--size",
			"2",
			"--select",
			by,
			"--method",
			"cg",
		)
		is := reported(t, "solve", sketch, "--data", housing, "--gamma", "auto", "--select", by)
		a, b := was["choice"].(map[string]any), is["choice"].(map[string]any)
		if a["gamma"] != b["gamma"] || b["certain"] != true || b["by"] != by || b["passes"] != a["passes"] {
			t.Errorf(
				"--select %s: fit chooses %v in %v passes, solve %v in %v",
				by,
				a["gamma"],
				a["passes"],
				b["gamma"],
				b["passes"],
			)
		}
	}
	for want, args := range map[string][]string{
		"--select: loo needs the rows": {"--select", "loo"},
		"no rows for cross-validation": {"--select", "cv"},
	} {
		if code, _, errs := call(append([]string{"solve", sketch, "--gamma", "auto"}, args...)...); code != 2 ||
			!strings.Contains(errs, want) {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
}

// TestCrossValidation: --cv chooses by the folds' errors, in the same pass.
func TestCrossValidation(t *testing.T) {
	args := []string{
		"fit",
		"--data",
		housing,
		"--target",
		"last",
		"--features",
		"rff:20,gamma=1e-7",
		"--gamma",
		"auto",
		"--cv",
		"4",
		"--size",
		"20",
	}
	for _, method := range []string{"one-shot", "cg"} {
		v := reported(t, append(args, "--method", method)...)
		c := v["choice"].(map[string]any)
		least, at := math.Inf(1), 0.0
		for _, p := range c["path"].([]any) {
			p := p.(map[string]any)
			if hi := p["cv"].([]any)[0].([]any)[1].(float64); hi < least {
				least, at = hi, p["gamma"].(float64)
			}
		}
		if c["by"] != "cv" || c["gamma"] != at || v["gamma"] != at ||
			!(math.Abs(c["score"].([]any)[1].(float64)-least) <= 1e-12*least) {
			t.Errorf("%s: chose %v (%v), the least is %v at %v", method, c["gamma"], c["score"], least, at)
		}
		if method == "one-shot" && v["reads"] != 1.0 {
			t.Errorf("read %v times", v["reads"])
		}
	}
	page := filepath.Join(t.TempDir(), "cv.html")
	must(t, append(args, "--report", page)...)
	if text, err := os.ReadFile(page); err != nil ||
		!strings.Contains(string(text), "Each row is predicted by the fit without its fold") {
		t.Errorf("the page shows no cross-validation: %v", err)
	}
	svg := filepath.Join(t.TempDir(), "cv.svg")
	must(t, "plot", write(t, "cv.json", must(t, append(args, "--json")...)), "--kind", "path", "-o", svg)
	if text, err := os.ReadFile(svg); err != nil || !strings.Contains(string(text), "cross-validated error") {
		t.Errorf("the chart shows no cross-validation: %v", err)
	}
	if out := must(t, append(args, "--log-format", "none")...); !strings.Contains(out, "cross-validated error of 37") {
		t.Error(out)
	}
}

// TestInterval: the intervals from a sketch hold what the exact solution predicts,
// in the units of the file whatever was scaled.
func TestInterval(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, flags := range map[string][]string{
		"plain":    {"--rows", "1:2000"},
		"scaled":   {"--standardize"},
		"features": {"--standardize", "--features", "rff:30,gamma=0.1"},
	} {
		args := append([]string{"--data", housing, "--target", "last", "--gamma", "1000", "--size", "6"}, flags...)
		must(
			t,
			append(
				[]string{"fit", "--method", "one-shot", "--save-sketch", in("sketch"), "--out", in("one-shot")},
				args...)...)
		must(t, append([]string{"fit", "--method", "exact", "--out", in("exact")}, args...)...)
		predict := []string{"predict", "--data", housing, "--target", "last", "--rows", "1:300"}
		lines := strings.Fields(must(t, append(predict, "--model", in("one-shot"), "--interval", in("sketch"))...))
		exact := strings.Fields(must(t, append(predict, "--model", in("exact"))...))
		for i, line := range lines {
			var v [3]float64
			for k, s := range strings.Split(line, ",") {
				v[k] = parse(t, s)
			}
			want := parse(t, exact[i])
			slack := 1e-9 * math.Abs(want) // of the exact model itself
			if !(v[1] <= want+slack && want <= v[2]+slack && v[1] < v[2]) {
				t.Fatalf("%s, row %d: %v in [%v, %v]?", name, i+1, want, v[1], v[2])
			}
			if got := v[0]; !(v[1]-slack <= got && got <= v[2]+slack) && name == "plain" {
				t.Logf("the one-shot prediction %v is outside [%v, %v], which is no error", got, v[1], v[2])
			}
		}
		if len(lines) != 300 {
			t.Errorf("%d lines", len(lines))
		}
		written := strings.Split(
			strings.TrimSpace(
				must(t, append(predict, "--model", in("one-shot"), "--interval", in("sketch"), "--digits")...),
			),
			"\n",
		)
		for i, text := range written {
			all := strings.Split(lines[i], ",")
			lo, hi := plusMinus(t, text)
			if lo.Cmp(new(big.Rat).SetFloat64(parse(t, all[1]))) > 0 ||
				hi.Cmp(new(big.Rat).SetFloat64(parse(t, all[2]))) < 0 {
				t.Errorf("%s, row %d: %s does not hold %v", name, i+1, text, all[1:])
			}
		}
		if len(written) != len(lines) {
			t.Errorf("%s: %d lines of %d", name, len(written), len(lines))
		}
		var p map[string]any
		err := json.Unmarshal(
			[]byte(must(t, append(predict, "--model", in("one-shot"), "--interval", in("sketch"), "--json")...)),
			&p,
		)
		if err != nil {
			t.Fatal(err)
		}
		if b := p["intervals"].([]any); len(b) != 300 || len(b[0].([]any)) != 1 || len(b[0].([]any)[0].([]any)) != 2 {
			t.Errorf("intervals: %v", b[:1])
		}
	}
	for _, flags := range [][]string{{"--digits"}, {"--digits", "--json", "--interval", in("sketch")}} {
		code, out, errs := call(append([]string{"predict", "--model", in("one-shot"), "--data", housing}, flags...)...)
		if code != usage ||
			out != "" ||
			!strings.Contains(errs, "--digits: ") {
			t.Errorf("%v: exit %d, %s", flags, code, errs)
		}
	}
	must(t, "sketch", "--data", housing, "--target", "last", "--columns", "1,2", "-o", in("narrow"))
	if code, _, errs := call(
		"predict", "--model", in("one-shot"), "--data", housing, "--target", "last", "--interval", in("narrow"),
	); code != usage ||
		!strings.Contains(
			errs, "narrow is no sketch of the rows of the model: it has 2 features and 1 target, the model in ",
		) {
		t.Errorf("exit %d, %s", code, errs)
	}
}

func parse(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestWeights: weights from a column or a file are rows repeated.
func TestWeights(t *testing.T) {
	var rows, weighted, repeated, column strings.Builder
	rows.WriteString("x1,x2,y\n")
	repeated.WriteString("x1,x2,y\n")
	weighted.WriteString("x1,n,x2,y\n")
	for i := range 60 {
		x1, x2 := math.Sin(float64(i)), math.Cos(float64(3*i))
		y, w := 2*x1-x2+math.Sin(float64(7*i)), i%4
		fmt.Fprintf(&rows, "%v,%v,%v\n", x1, x2, y)
		fmt.Fprintf(&weighted, "%v,%d,%v,%v\n", x1, w, x2, y)
		fmt.Fprintf(&column, "%d\n", w)
		for range w {
			fmt.Fprintf(&repeated, "%v,%v,%v\n", x1, x2, y)
		}
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	plain, withColumn, file := write(
		t,
		"rows.csv",
		rows.String(),
	), write(
		t,
		"w.csv",
		weighted.String(),
	), write(
		t,
		"column.csv",
		column.String(),
	)
	for _, method := range []string{"auto", "one-shot", "cg", "galerkin", "newton", "exact", "dual"} {
		for _, standardize := range []string{"--standardize", "--standardize=false"} {
			fit := func(out string, args ...string) {
				t.Helper()
				must(
					t,
					append(
						[]string{
							"fit",
							"--target",
							"y",
							"--gamma",
							"3",
							"--size",
							"2",
							"--method",
							method,
							standardize,
							"--out",
							in(out),
						},
						args...)...)
			}
			fit("repeated", "--data", write(t, "rep.csv", repeated.String()))
			fit("column", "--data", withColumn, "--weights", "n")
			fit("file", "--data", plain, "--weights", file)
			for _, name := range []string{"column", "file"} {
				if diff, norm := distance(t, in(name), in("repeated")); !(diff <= 1e-7*norm) {
					t.Errorf("%s %s, weights from a %s: %g of %g off", method, standardize, name, diff, norm)
				}
			}
		}
	}
	// A model of columns with names finds them by name.
	out := must(t, "predict", "--model", in("column"), "--data", withColumn)
	if same := must(t, "predict", "--model", in("column"), "--data", plain); out != same {
		t.Error("predictions depend on columns that the model doesn't have")
	}
}

// TestVersion: the program tells which it is. TestVersion: the line has the version, followed by a comma, as the
// Python package reads it, the commit and the backend.
func TestVersion(t *testing.T) {
	out := must(t, "--version")
	if !strings.HasPrefix(out, "fdridge version "+version()+", commit ") {
		t.Error(out)
	}
	if !strings.Contains(out, ", backend "+engine.Names()[0]+", "+runtime.Version()) {
		t.Error(out)
	}
}

// TestDescribeBuild: a release, a checkout with changes, a downloaded module, and a build without any record.
func TestDescribeBuild(t *testing.T) {
	unrecorded := "unknown (built without a record of the commit, as go run builds)"
	cases := []struct {
		version  string
		settings map[string]string
		want     build
	}{
		{
			"v1.2.3",
			map[string]string{"vcs.revision": "0123456789abcdef0123", "vcs.modified": "false", "-tags": "mpi"},
			build{"v1.2.3", "0123456789ab", "mpi"},
		},
		{
			"v1.2.3+dirty",
			map[string]string{"vcs.revision": "0123456789abcdef0123", "vcs.modified": "true"},
			build{"v1.2.3+dirty", "0123456789ab with changes", ""},
		},
		{"v1.2.3", nil, build{"v1.2.3", "not recorded", ""}},
		{"(devel)", nil, build{unrecorded, "not recorded", ""}},
		{"", nil, build{unrecorded, "not recorded", ""}},
	}
	for _, c := range cases {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.version}}
		for key, value := range c.settings {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: key, Value: value})
		}
		if got := describeBuild(info); got != c.want {
			t.Errorf("%v: %+v, not %+v", c.settings, got, c.want)
		}
	}
}

// TestCoef: the array has the intercept and the weights of each γ and target.
func TestCoef(t *testing.T) {
	dir := t.TempDir()
	model, coef := filepath.Join(dir, "m"), filepath.Join(dir, "coef.npy")
	must(
		t,
		"fit",
		"--data",
		housing,
		"--target",
		"last,3",
		"--standardize",
		"--gamma",
		"1,100",
		"--out",
		model,
		"--coef",
		coef,
	)
	m, err := readModel("", model)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(coef)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var got mat.Dense
	if err := npyio.Read(f, &got); err != nil {
		t.Fatal(err)
	}
	if r, c := got.Dims(); r != 4 || c != 8 {
		t.Fatalf("%d×%d", r, c)
	}
	for i, w := range m.Fits {
		for j := range 2 {
			row := got.RawRowView(2*i + j)
			if row[0] != w.Intercept[j] || !slices.Equal(row[1:], w.Coef[j]) {
				t.Errorf("gamma %v, target %d: %v, the model has %v %v", w.Gamma, j, row, w.Intercept[j], w.Coef[j])
			}
		}
	}
}

// TestPenalty: a penalty p of a column is the column over √p.
func TestPenalty(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	r, err := csv.NewReader(strings.NewReader(rowsCSV(50))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var divided strings.Builder
	divided.WriteString("x1,x2,y\n")
	for _, row := range r[1:] {
		fmt.Fprintf(&divided, "%v,%v,%s\n", parse(t, row[0])/3, parse(t, row[1])/0.5, row[2])
	}
	must(
		t,
		"fit",
		"--data",
		write(t, "a.csv", rowsCSV(50)),
		"--target",
		"y",
		"--gamma",
		"2",
		"--penalty",
		write(t, "p.csv", "9\n0.25\n"),
		"--out",
		in("penalty"),
	)
	must(
		t,
		"fit",
		"--data",
		write(t, "b.csv", divided.String()),
		"--target",
		"y",
		"--gamma",
		"2",
		"--out",
		in("divided"),
	)
	a, ia := weightsOf(t, in("penalty"))
	b, ib := weightsOf(t, in("divided"))
	if !(math.Abs(a[0]-b[0]/3) <= 1e-10) || !(math.Abs(a[1]-b[1]/0.5) <= 1e-10) || !(math.Abs(ia-ib) <= 1e-8) {
		t.Errorf("%v %v, want %v %v over 3, 0.5", a, ia, b, ib)
	}
}

// TestCommandsRefuse: exit 2, one clear line, and no file is written.
func TestCommandsRefuse(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	data := write(t, "data.csv", rowsCSV(30))
	must(t, "sketch", "--data", data, "--target", "y", "-o", in("a"))
	must(t, "sketch", "--data", data, "--target", "y", "--size", "7", "-o", in("size"))
	must(t, "sketch", "--data", data, "--target", "x1", "-o", in("target"))
	must(t, "sketch", "--data", data, "--target", "y", "--standardize", "-o", in("scaled"))
	must(t, "sketch", "--data", data, "--target", "y", "--features", "poly:2", "-o", in("poly"))
	must(t, "fit", "--data", data, "--target", "y", "--gamma", "1", "--out", in("model"))
	if err := os.Symlink(in("a"), in("link")); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(in("a"))
	if err != nil {
		t.Fatal(err)
	}
	cut, flipped := write(t, "cut", string(whole[:len(whole)-9])), append([]byte(nil), whole...)
	flipped[200] ^= 4
	damaged, longer := write(t, "damaged", string(flipped)), write(t, "longer", string(whole)+"x")
	out := in("out")
	fit := []string{"fit", "--data", data, "--target", "y", "--gamma", "1", "--out", out}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"merge one":    {[]string{"merge", in("a"), "-o", out}, "merge needs at least two sketches, not 1"},
		"merge itself": {[]string{"merge", in("a"), in("a"), "-o", out}, "are the same file"},
		"merge a link to it": {
			[]string{"merge", in("a"), in("size"), in("link"), "-o", out}, in("a") + " and " + in("link") + " are the same file",
		},
		"merge, no out": {[]string{"merge", in("a"), in("size")}, "--out: it needs a file"},
		"merge, folder": {
			[]string{"merge", in("a"), in("size"), "-o", filepath.Join(out, "deep")}, "--out: no such folder",
		},
		"merge sizes":   {[]string{"merge", in("a"), in("size"), "-o", out}, "size 256 and 7"},
		"merge targets": {[]string{"merge", in("a"), in("target"), "-o", out}, "the target is"},
		"merge scalings": {
			[]string{"merge", in("a"), in("scaled"), "-o", out}, "the means and deviations of --standardize",
		},
		"merge features": {[]string{"merge", in("a"), in("poly"), "-o", out}, "the columns or features differ"},
		"merge a model": {
			[]string{"merge", in("a"), in("model"), "-o", out}, in("model") + " is a model, not a sketch; ",
		},
		"merge what is cut":     {[]string{"merge", in("a"), cut, "-o", out}, cut + ": "},
		"merge what is damaged": {[]string{"merge", in("a"), damaged, "-o", out}, damaged + ": "},
		"merge what is missing": {[]string{"merge", in("a"), in("none"), "-o", out}, "no such file"},
		"solve nothing":         {[]string{"solve", "--gamma", "1"}, "solve needs one sketch, not 0"},
		"solve two":             {[]string{"solve", in("a"), in("size"), "--gamma", "1"}, "merge makes one of several"},
		"solve, more":           {[]string{"solve", longer, "--gamma", "1"}, "more follows the sketch"},
		"solve, empty":          {[]string{"solve", write(t, "empty", ""), "--gamma", "1"}, "is not a sketch"},
		"solve, gamma 0":        {[]string{"solve", in("a"), "--gamma", "0"}, "--gamma: 0 must be positive and finite"},
		"solve exact":           {[]string{"solve", in("a"), "--gamma", "1", "--method", "exact"}, "--method: \"exact\""},
		"solve cg": {
			[]string{"solve", in("a"), "--gamma", "1", "--method", "cg"}, "--method: cg needs the rows",
		},
		"solve one-shot, data": {
			[]string{"solve", in("a"), "--gamma", "1", "--method", "one-shot", "--data", data}, "reads no rows",
		},
		"solve, no data": {[]string{"solve", in("a"), "--gamma", "1", "--rows", "1:5"}, "--rows: it needs --data"},
		"solve other data": {
			[]string{"solve", in("a"), "--gamma", "1", "--data", write(t, "wide.csv", "1,2,3,4\n")}, "there is no column \"y\"",
		},
		"sketch, no out":   {[]string{"sketch", "--data", data, "--target", "y"}, "--out: it needs a file"},
		"sketch, no data":  {[]string{"sketch", "-o", out}, "--data: no file is named"},
		"sketch, argument": {[]string{"sketch", data, "-o", out}, "unexpected argument"},
		"save, folder": {
			append(fit[:len(fit):len(fit)], "--save-sketch", filepath.Join(out, "deep")), "--save-sketch: no such folder",
		},
		"delimiter":       {append(fit[:len(fit):len(fit)], "--delimiter", "ab"), "--delimiter: \"ab\""},
		"delimiter digit": {append(fit[:len(fit):len(fit)], "--delimiter", "1"), "--delimiter: \"1\""},
		"cv one": {
			[]string{"fit", "--data", data, "--target", "y", "--gamma", "auto", "--cv", "1", "--out", out},
			"--cv: there must be at least two folds",
		},
		"cv and gamma": {
			append(fit[:len(fit):len(fit)], "--cv", "3"),
			"--gamma, --cv, --select: gammas are given, so that there is nothing to choose",
		},
		"cv, few rows": {
			[]string{"fit", "--data", data, "--target", "y", "--gamma", "auto", "--cv", "31", "--out", out}, "fold",
		},
		"header": {append(fit[:len(fit):len(fit)], "--header", "maybe"), "--header: \"maybe\""},
		"no header": {
			[]string{"fit", "--data", data, "--target", "3", "--gamma", "1", "--header", "no", "--out", out}, "is not a number",
		},
		"columns": {append(fit[:len(fit):len(fit)], "--columns", "x1,x9"), "x9"},
		"weights": {append(fit[:len(fit):len(fit)], "--weights", "w"), "\"w\""},
		"weights negative": {
			append(
				fit[:len(fit):len(fit)], "--weights", write(t, "w.csv", strings.Repeat("1\n", 20)+strings.Repeat("-1\n", 10)),
			),
			"weights:21: row 21 has the weight -1; a weight must not be negative",
		},
		"weights short": {append(fit[:len(fit):len(fit)], "--weights", write(t, "w.csv", "1\n2\n")), "has no partner"},
		"weights wide":  {append(fit[:len(fit):len(fit)], "--weights", data), "the weights have 3 columns"},
		"penalty short": {
			append(fit[:len(fit):len(fit)], "--penalty", write(t, "p.csv", "1\n")), "has 1 numbers for 2 input columns",
		},
		"penalty negative": {append(fit[:len(fit):len(fit)], "--penalty", write(t, "p.csv", "1\n-1\n")), "number 2 of"},
		"penalty and features": {
			append(fit[:len(fit):len(fit)], "--penalty", data, "--features", "poly:2"), "--penalty: it applies to input columns",
		},
		"poly": {append(fit[:len(fit):len(fit)], "--features", "poly:0"), "the degree is \"0\""},
		"interval": {
			[]string{"predict", "--model", in("model"), "--data", data, "--interval", in("none")},
			"no such file or directory; it must be exact, coverage, or the file of a sketch",
		},
	} {
		code, stdout, stderr := call(c.args...)
		if code != usage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want %q", name, code, stdout, stderr, c.want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Fatalf("%s: a file was written", name)
		}
	}
}

// TestPlan: a plan from rows, every K-th of them or a sketch says what a fit then
// takes, and what is proved holds.
func TestPlan(t *testing.T) {
	sketch := filepath.Join(t.TempDir(), "sketch")
	data := []string{"--data", w8a, "--rows", "1:3000", "--features", "rff:64,gamma=0.05,seed=3"}
	must(t, append([]string{"sketch", "--size", "32", "-o", sketch}, data...)...)
	flags := []string{"--gamma", "3", "--sizes", "8,16,32", "--error", "0.05"}
	for name, from := range map[string][]string{
		"rows":   append([]string{"--size", "32"}, data...),
		"every":  append([]string{"--every", "3"}, data...),
		"sketch": {"--sketch", sketch},
	} {
		v := reported(t, append(append([]string{"plan"}, from...), flags...)...)
		options := v["options"].([]any)
		if v["n"] != 3000.0 || v["d"] != 64.0 || len(options) != 1+3*4 || len(v["size_for"].([]any)) != 1 {
			t.Fatalf("%s: %v", name, v)
		}
		if name == "every" {
			if v["rows_seen"] != 1000.0 {
				t.Errorf("saw %v rows of 3000", v["rows_seen"])
			}
			continue
		}
		fit := reported(t, append([]string{"fit", "--size", "16", "--gamma", "3", "--method", "one-shot"}, data...)...)
		for _, o := range options {
			o := o.(map[string]any)
			if o["method"] != "one-shot" || o["size"] != 16.0 {
				continue
			}
			if got := fit["shrinkage"].(float64); !(got <= o["worst_shrinkage"].(float64)*(1+1e-9)) {
				t.Errorf("%s: η is %g, %v is the worst case", name, got, o["worst_shrinkage"])
			}
		}
	}
	if out := must(t, append([]string{"plan", "--sketch", sketch}, flags...)...); !strings.Contains(out, "→") ||
		!strings.Contains(out, "a one-shot fit reaches a relative error of 0.05 with") {
		t.Error(out)
	}
	for args, want := range map[string]string{
		"--every 0": "--every: 0", "--every 100000": "of 3000 rows is one row", "--n -1": "--n: -1", "--tol 2": "--tol: 2",
		"--error 1": "--error: 1", "--memory 0": "--memory: 0",
		"--sizes 8,x": "--sizes: \"x\"", "--gamma 0": "--gamma: 0", "--sketch " + sketch: "the sketch replaces the rows",
		"--size 0": "--size: 0",
	} {
		code, _, errs := call(append(append([]string{"plan"}, data...), strings.Fields(args)...)...)
		if code != usage ||
			!strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", args, code, errs)
		}
	}
}

// TestLogFormat: json writes lines that machines can read, none nothing, and the
// answer on standard output is the same.
func TestLogFormat(t *testing.T) {
	args := []string{
		"fit",
		"--data",
		housing,
		"--target",
		"last",
		"--standardize",
		"--gamma",
		"10",
		"--size",
		"4",
		"--method",
		"cg",
		"--json",
	}
	for _, format := range []string{"auto", "none"} {
		if code, _, errs := call(append(args, "--log-format", format)...); code != done || errs != "" {
			t.Errorf("%s: exit %d, %q", format, code, errs)
		}
	}
	code, _, errs := call(append(args, "--log-format", "json")...)
	if code != done || errs == "" {
		t.Fatalf("exit %d, %q", code, errs)
	}
	for _, line := range strings.Split(strings.TrimSpace(errs), "\n") {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil || v["msg"] != "progress" || v["stage"] == "" ||
			!(v["rows"].(float64) > 0) ||
			v["waited_seconds"] == nil ||
			!(v["peak_rss_bytes"].(float64) >= 0) {
			t.Errorf("%v: %s", err, line)
		}
	}
	if code, _, errs := call(append(args, "--log-format", "xml")...); code != usage ||
		!strings.Contains(errs, "--log-format: \"xml\" must be one of auto, json, none") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// TestMan: every command has a manual page, and every shell a completion.
func TestMan(t *testing.T) {
	dir := t.TempDir()
	must(t, "man", "--out", dir)
	for _, name := range []string{
		"", "-fit", "-sketch", "-merge", "-solve", "-plan", "-predict", "-paper", "-doctor", "-man",
	} {
		page, err := os.ReadFile(filepath.Join(dir, "fdridge"+name+".1"))
		if err != nil || !strings.Contains(string(page), ".SH SYNOPSIS") {
			t.Errorf("fdridge%s.1: %v", name, err)
		}
		if fits := name == "-fit" || name == "-solve"; strings.Contains(string(page), "Exit codes") != fits ||
			strings.Contains(string(page), "strict") != fits {
			t.Errorf("fdridge%s.1 does not tell of exit codes and --strict, or does for nothing", name)
		}
	}
	if code, _, errs := call("man", "--out", filepath.Join(dir, "none")); code != usage ||
		!strings.Contains(errs, "--out: no such folder") {
		t.Errorf("exit %d, %s", code, errs)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out := must(t, "completion", shell); !strings.Contains(out, "fdridge") {
			t.Errorf("%s: %q", shell, out)
		}
	}
}

// TestOtherRows: what is of other rows than the sketch or the model is refused, not
// certified.
func TestOtherRows(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	text := rowsCSV(40)
	data := write(t, "data.csv", text)
	weights := write(t, "w.csv", strings.Repeat("2\n0\n", 20))
	must(t, "sketch", "--data", data, "--target", "y", "--size", "1", "-o", in("s"))
	must(t, "sketch", "--data", data, "--target", "y", "--size", "1", "--weights", weights, "-o", in("weighted"))
	must(t, "solve", in("s"), "--data", data, "--gamma", "1")
	must(t, "solve", in("weighted"), "--data", data, "--weights", weights, "--gamma", "1")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Reverse(lines[1:])
	must(t, "solve", in("s"), "--data", write(t, "reversed.csv", strings.Join(lines, "\n")+"\n"), "--gamma", "1")
	for name, args := range map[string][]string{
		"one y": {
			"solve", in("s"), "--gamma", "1", "--data",
			write(t, "y.csv", replaceLine(text, 7, strings.Replace(lines[len(lines)-6], ",", ",", 1)[:3]+",100,5")),
		},
		"no weights": {"solve", in("weighted"), "--gamma", "1", "--data", data},
		"other weights": {
			"solve", in("weighted"), "--gamma", "1", "--data", data, "--weights",
			write(t, "v.csv", strings.Repeat("0\n2\n", 20)),
		},
	} {
		if code, out, errs := call(args...); code != usage || out != "" ||
			!strings.Contains(errs, "other rows than the summary") {
			t.Errorf("%s: exit %d, %s", name, code, errs)
		}
	}

	model := in("m")
	must(t, "fit", "--data", data, "--target", "y", "--gamma", "1", "--method", "exact", "--out", model)
	must(t, "predict", "--model", model, "--data", data, "--target", "y", "--interval", in("s"))
	must(t, "sketch", "--data", data, "--target", "y", "--intercept=false", "-o", in("plain"))
	must(t, "sketch", "--data", data, "--target", "y", "--rows", "1:30", "-o", in("part"))
	must(t, "sketch", "--data", data, "--target", "y", "--standardize", "-o", in("scaled"))
	must(t, "sketch", "--data", data, "--target", "x2", "--columns", "x1,y", "-o", in("target"))
	for _, name := range []string{"weighted", "plain", "part", "scaled", "target"} {
		code, out, errs := call("predict", "--model", model, "--data", data, "--target", "y", "--interval", in(name))
		if code != usage ||
			out != "" ||
			!strings.Contains(errs, "--interval: ") {
			t.Errorf("%s: exit %d, %s", name, code, errs)
		}
	}
}

// TestNothingIsOverwritten: an output that is an input, or another output, is
// refused before anything is read.
func TestNothingIsOverwritten(t *testing.T) {
	data := write(t, "data.csv", rowsCSV(30))
	dir := t.TempDir()
	model, sketch, link := filepath.Join(dir, "m"), filepath.Join(dir, "s"), filepath.Join(dir, "link")
	must(
		t,
		"fit",
		"--data",
		data,
		"--target",
		"y",
		"--gamma",
		"1",
		"--method",
		"cg",
		"--out",
		model,
		"--save-sketch",
		sketch,
	)
	if err := os.Symlink(data, link); err != nil {
		t.Fatal(err)
	}
	hard, folder := filepath.Join(dir, "hard"), filepath.Join(t.TempDir(), "folder")
	if err := os.Link(data, hard); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, folder); err != nil {
		t.Fatal(err)
	}
	npz, other := archive(t, "X", "y"), archive(t, "X", "w")
	arrays, names := []string{
		"--data",
		npz + ":X",
		"--target",
		npz + ":y",
	}, []string{
		"--data",
		other + "," + npz + ":X",
		"--target",
		"y",
	}
	weights := []string{"--data", npz, "--target", "y", "--weights", other + ":w"}
	penalty := []string{"--data", npz, "--target", "y", "--penalty", other + ":w"}
	svg := filepath.Join(dir, "s.svg")
	if err := os.Link(sketch, svg); err != nil {
		t.Fatal(err)
	}
	with := func(command string, input []string, more ...string) []string {
		return slices.Concat([]string{command}, input, more)
	}
	fit := []string{"fit", "--data", data, "--target", "y", "--gamma", "1", "--method", "cg"}
	for name, args := range map[string][]string{
		"model on array":      with("fit", arrays, "--gamma", "1", "--out", npz),
		"coef on array":       with("fit", arrays, "--gamma", "1", "--coef", npz),
		"report on array":     with("fit", arrays, "--gamma", "1", "--report", npz),
		"save on array":       with("fit", arrays, "--gamma", "1", "--save-sketch", npz),
		"checkpoint on array": with("fit", arrays, "--gamma", "1", "--checkpoint", npz),
		"model on the first":  with("fit", names, "--gamma", "1", "--out", other),
		"model on the last":   with("fit", names, "--gamma", "1", "--out", npz),
		"model on weights":    with("fit", weights, "--gamma", "1", "--out", other),
		"model on penalty":    with("fit", penalty, "--gamma", "1", "--out", other),
		"sketch on array":     with("sketch", arrays, "-o", npz),
		"sketch on weights":   with("sketch", weights, "-o", other),
		"refined on array": {
			"solve", sketch, "--gamma", "1", "--data", npz + ":X", "--target", npz + ":y", "--out", npz,
		},
		"refined on weights":     {"solve", sketch, "--gamma", "1", "--data", data, "--weights", npz + ":y", "--coef", npz},
		"page on sketch":         {"solve", sketch, "--gamma", "1", "--report", sketch},
		"predictions on array":   {"predict", "--model", model, "--data", npz + ":X", "--out", npz},
		"predictions on targets": {"predict", "--model", model, "--data", data, "--target", npz + ":y", "--out", npz},
		"model on a hard link":   append(fit, "--out", hard),
		"checkpoint on data":     append(fit, "--checkpoint", data),
		"coef, another folder":   append(fit, "--out", filepath.Join(dir, "x"), "--coef", filepath.Join(folder, "x")),
		"chart on a sketch":      {"plot", svg, "-o", svg},
		"chart on a hard link":   {"plot", sketch, "-o", svg},
		"model on data":          append(fit, "--out", data),
		"model on a link":        append(fit, "--out", link),
		"report on data":         append(fit, "--report", data),
		"coef on model":          append(fit, "--out", filepath.Join(dir, "x"), "--coef", filepath.Join(dir, "x")),
		"sketch on model": append(
			fit, "--out", filepath.Join(dir, "x"), "--save-sketch", filepath.Join(dir, ".", "x"),
		),
		"sketch on data":  {"sketch", "--data", data, "--target", "y", "-o", data},
		"model on sketch": {"solve", sketch, "--gamma", "1", "--out", sketch},
		"predictions":     {"predict", "--model", model, "--data", data, "--target", "y", "--out", data},
		"predict, model":  {"predict", "--model", model, "--data", data, "--target", "y", "--out", model},
		"predict, interval": {
			"predict", "--model", model, "--data", data, "--target", "y", "--interval", sketch, "--out", sketch,
		},
	} {
		if code, _, errs := call(args...); code != usage ||
			!strings.Contains(errs, "would be overwritten") && !strings.Contains(errs, "is also written by") {
			t.Errorf("%s: exit %d, %s", name, code, errs)
		}
	}
	if b, err := os.ReadFile(data); err != nil || string(b) != rowsCSV(30) {
		t.Error("the data are gone")
	}
}

// TestRoom: one mistyped index makes a file too wide for memory, which is said.
func TestRoom(t *testing.T) {
	if rss.Available() == 0 {
		t.Skip("the memory of this machine is not known")
	}
	wide := write(t, "wide.svm", "1 2000000000:3\n2 1:1\n")
	for _, args := range [][]string{{"fit", "--gamma", "1"}, {"sketch", "-o", filepath.Join(t.TempDir(), "s")}, {"plan"}} {
		code, _, errs := call(append(args, "--data", wide)...)
		if code != usage || !strings.Contains(errs, "takes about") ||
			strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: exit %d, %.300s", args, code, errs)
		}
	}
}

// TestGammaList: auto:G,G,… chooses among these, by GCV or cross-validation.
func TestGammaList(t *testing.T) {
	for _, cv := range []string{"0", "3"} {
		v := reported(
			t,
			"fit",
			"--data",
			housing,
			"--target",
			"last",
			"--standardize",
			"--gamma",
			"auto:1,30,900",
			"--cv",
			cv,
			"--size",
			"8",
		)
		path := v["choice"].(map[string]any)["path"].([]any)
		if len(path) != 3 || path[1].(map[string]any)["gamma"] != 30.0 {
			t.Errorf("--cv %s: %v", cv, path)
		}
	}
	if code, _, errs := call("fit", "--data", housing, "--target", "last", "--gamma", "auto:1,x"); code != usage ||
		!strings.Contains(errs, "\"x\" is not a number") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// TestOddData: columns of one name, features that say nothing: fitted and predicted.
func TestOddData(t *testing.T) {
	twice := write(t, "twice.csv", strings.Replace(rowsCSV(30), "x1,x2,y", "a,a,y", 1))
	model := filepath.Join(t.TempDir(), "m")
	must(t, "fit", "--data", twice, "--target", "y", "--gamma", "1", "--out", model)
	must(t, "predict", "--model", model, "--data", twice, "--target", "y")
	var zero, constant strings.Builder
	for i := range 50 {
		fmt.Fprintf(&zero, "0,0,%d\n", i%7)
		fmt.Fprintf(&constant, "3.3,1e7,%d\n", i%7)
	}
	for name, text := range map[string]string{"zero": zero.String(), "constant": constant.String()} {
		data := write(t, name+".csv", text)
		for _, method := range []string{"cg", "newton"} {
			for _, gamma := range []string{"auto", "2"} {
				must(t, "fit", "--data", data, "--target", "last", "--gamma", gamma, "--method", method)
			}
		}
	}
}

// TestTextFlags: what --delimiter and --header say of a csv file is believed.
func TestTextFlags(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	must(t, "fit", "--data", write(t, "a.csv", rowsCSV(40)), "--target", "y", "--gamma", "1", "--out", in("a"))
	semicolons := write(t, "b.csv", strings.ReplaceAll(rowsCSV(40), ",", ";"))
	tabs := write(t, "c.csv", strings.ReplaceAll(rowsCSV(40), ",", "\t"))
	must(t, "fit", "--data", semicolons, "--delimiter", ";", "--target", "y", "--gamma", "1", "--out", in("b"))
	must(t, "fit", "--data", tabs, "--delimiter", "tab", "--target", "y", "--gamma", "1", "--out", in("c"))
	for _, name := range []string{"b", "c"} {
		if diff, _ := distance(t, in(name), in("a")); diff != 0 {
			t.Errorf("%s differs by %g", name, diff)
		}
	}
	// Years for names: only --header can tell them from a row.
	years := write(t, "years.csv", strings.Replace(rowsCSV(40), "x1,x2,y", "2001,2002,2003", 1))
	for header, n := range map[string]float64{"yes": 40, "no": 41} {
		v := reported(t, "fit", "--data", years, "--header", header, "--target", "last", "--gamma", "1")
		if v["n"] != n {
			t.Errorf("--header %s: %v rows, want %v", header, v["n"], n)
		}
	}
	must(t, "predict", "--model", in("a"), "--data", semicolons, "--delimiter", ";", "--target", "y")
}

// sketchParts makes a sketch of each of n parts, and returns their names.
func sketchParts(t *testing.T, n int, args ...string) (names []string) {
	t.Helper()
	for i := range n {
		name := fmt.Sprintf("part-%d-of-%d.fds", i, n)
		must(t, append(append([]string{"sketch"}, args...), "--part", fmt.Sprintf("%d/%d", i, n), "--out", name)...)
		names = append(names, name)
	}
	return names
}

// mergeAll merges sketches, in an order that is none of their own.
func mergeAll(t *testing.T, names []string, out string) string {
	t.Helper()
	names = slices.Clone(names)
	rand.New(
		rand.NewPCG(3, uint64(len(names))),
	).Shuffle(
		len(names),
		func(i, j int) { names[i], names[j] = names[j], names[i] },
	)
	return must(t, append(append([]string{"merge"}, names...), "--out", out)...)
}
