package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/model"
)

// bandedCSV returns n rows with two groups of columns: a1 to a3 have large weights, b1 to b9 small ones.
func bandedCSV(n int) string {
	rng := rand.New(rand.NewPCG(5, 6))
	var b strings.Builder
	b.WriteString("a1,a2,a3,b1,b2,b3,b4,b5,b6,b7,b8,b9,y\n")
	for range n {
		y := 3 + rng.NormFloat64()
		for j := range 12 {
			x := rng.NormFloat64()
			y += 0.05 * x
			if j < 3 {
				y += x
			}
			fmt.Fprintf(&b, "%.6f,", x)
		}
		fmt.Fprintf(&b, "%.6f\n", y)
	}
	return b.String()
}

func modelAt(t *testing.T, path string) *model.Model {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := model.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// near holds the weights of two models to each other.
func near(t *testing.T, what, got, want string, tol float64) {
	t.Helper()
	a, ia := weightsOf(t, got)
	b, ib := weightsOf(t, want)
	for j := range a {
		if !(math.Abs(a[j]-b[j]) <= tol) {
			t.Errorf("%s: weight %d is %v, want %v", what, j+1, a[j], b[j])
		}
	}
	if !(math.Abs(ia-ib) <= tol) {
		t.Errorf("%s: the intercept is %v, want %v", what, ia, ib)
	}
}

// TestBands: penalties from a file and penalties of bands give the same weights, whether they apply before or after the
// sketch. Models record the penalties. A model with penalties predicts with intervals from a sketch without penalties.
func TestBands(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	data := write(t, "banded.csv", bandedCSV(300))
	penalty := write(t, "p.csv", strings.Repeat("0.25\n", 3)+strings.Repeat("9\n", 9))
	fit := func(out string, more ...string) string {
		return must(
			t,
			append(
				[]string{
					"fit",
					"--data",
					data,
					"--target",
					"y",
					"--gamma",
					"4",
					"--method",
					"cg",
					"--tol",
					"1e-10",
					"--size",
					"4",
					"--out",
					in(out),
				},
				more...)...)
	}
	fit("file", "--penalty", penalty)
	text := fit("numbers", "--bands", "1-3=0.25,4:12=9")
	if want := "penalties of bands: 1-3 = 0.25, 4:12 = 9"; !strings.Contains(text, want) {
		t.Errorf("%s does not say %q", text, want)
	}
	fit("names", "--bands", "a1+a2+3=.25,b1-b9=9")
	must(t, "sketch", "--data", data, "--target", "y", "--size", "4", "-o", in("sketch"))
	solve := func(out string, more ...string) string {
		return must(
			t,
			append(
				[]string{"solve", in("sketch"), "--gamma", "4", "--data", data, "--tol", "1e-10", "--out", in(out)},
				more...)...)
	}
	solve("after file", "--penalty", penalty)
	solve("after bands", "--bands", "a1-a3=0.25,b1-b9=9", "--report", in("page.html"))
	for _, name := range []string{"numbers", "names", "after file", "after bands"} {
		near(t, name, in(name), in("file"), 1e-9)
	}
	if page, err := os.ReadFile(in("page.html")); err != nil ||
		!strings.Contains(string(page), "penalties of bands: a1-a3 = 0.25, b1-b9 = 9") {
		t.Errorf("the page does not have the penalties: %v", err)
	}
	before, after := modelAt(t, in("numbers")).Penalty, modelAt(t, in("after bands")).Penalty
	if before.After != nil || before.Before[0] != 0.25 || before.Before[11] != 9 ||
		before.Bands[1] != (model.Band{Columns: "4:12", Penalty: 9}) {
		t.Errorf("before the sketch: %+v", before)
	}
	if after.Before != nil || after.After[0] != 0.25 || after.After[11] != 9 ||
		after.Bands[0] != (model.Band{Columns: "a1-a3", Penalty: 0.25}) {
		t.Errorf("after the sketch: %+v", after)
	}
	for _, line := range strings.Split(
		strings.TrimSpace(must(
			t, "predict", "--model", in("after bands"), "--data", data, "--target", "y", "--interval", in("sketch"),
		)),
		"\n",
	)[1:] {
		var y, lo, hi float64
		if n, err := fmt.Sscanf(line, "%g,%g,%g", &y, &lo, &hi); n != 3 || !(lo <= y && y <= hi && hi-lo <= 1e-6) {
			t.Fatalf("%s: %v", line, err)
		}
	}
	// A sketch of penalised rows takes another penalty: they multiply.
	must(t, "sketch", "--data", data, "--target", "y", "--size", "12", "--bands", "1-3=0.5", "-o", in("penalised"))
	text = must(t, "solve", in("penalised"), "--gamma", "4", "--bands", "1-3=0.5,4-12=9", "--out", in("twice"))
	if want := "1-3 = 0.5, 4-12 = 9, times the other penalties"; !strings.Contains(text, want) {
		t.Errorf("twice: %s does not say %q", text, want)
	}
	near(t, "twice", in("twice"), in("file"), 1e-8)
	if p := modelAt(t, in("twice")).Penalty; p.Before[0] != 0.5 || p.After[0] != 0.5 || p.After[11] != 9 {
		t.Errorf("twice: %+v", p)
	}
	code, _, errs := call(
		"predict",
		"--model",
		in("twice"),
		"--data",
		data,
		"--target",
		"y",
		"--interval",
		in("sketch"),
	)
	if code != usage || !strings.Contains(errs, "prepared differently") {
		t.Errorf("a sketch of other rows: exit %d, %s", code, errs)
	}
}

// TestBandsChosen: the penalties of bands are chosen with γ, by fit and by solve alike, and the
// report says what was tried.
func TestBandsChosen(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	data := write(t, "banded.csv", bandedCSV(300))
	must(t, "sketch", "--data", data, "--target", "y", "--size", "12", "-o", in("sketch"))
	type reported struct {
		Penalties struct {
			Least, Largest float64
			Bands          []model.Band
			Choice         struct {
				Certain bool
				Passes  int
				Tried   []struct {
					Penalties []float64
					Gamma     float64
				}
			}
		}
		Gamma float64
	}
	read := func(text string) (r reported) {
		t.Helper()
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	whole := read(
		must(t, "solve", in("sketch"), "--gamma", "auto", "--bands", "a1-a3,b1-b9", "--json", "--out", in("solved")),
	)
	if p := whole.Penalties; p.Bands[0].Penalty != 1 || !(p.Bands[1].Penalty > 1) || p.Largest != p.Bands[1].Penalty ||
		!p.Choice.Certain ||
		len(p.Choice.Tried) < 3 {
		t.Errorf("%+v", p)
	}
	fitted := read(
		must(
			t,
			"fit",
			"--data",
			data,
			"--target",
			"y",
			"--size",
			"4",
			"--gamma",
			"auto",
			"--bands",
			"a1-a3,b1-b9",
			"--json",
			"--out",
			in("fitted"),
			"--coef",
			in("coef.npy"),
		),
	)
	if p := fitted.Penalties; p.Bands[1].Penalty != whole.Penalties.Bands[1].Penalty || p.Choice.Passes != 1 {
		t.Errorf("by a sketch, and a pass: %+v", p)
	}
	if !(math.Abs(fitted.Gamma-whole.Gamma) <= 1e-9*whole.Gamma) {
		t.Errorf("gamma is %v and %v", fitted.Gamma, whole.Gamma)
	}
	near(t, "chosen", in("solved"), in("fitted"), 1e-6)
	if p := modelAt(t, in("fitted")).Penalty; p.After[0] != 1 || p.Bands[1].Columns != "b1-b9" {
		t.Errorf("%+v", p)
	}
	text := must(t, "solve", in("sketch"), "--gamma", "auto:1,10", "--bands", "a1-a3")
	if !strings.Contains(text, "penalties of bands: a1-a3 = ") || !strings.Contains(text, "candidates") {
		t.Error(text)
	}
	// One of them given.
	given := read(must(t, "solve", in("sketch"), "--gamma", "auto", "--bands", "a1-a3=5,b1-b9", "--json"))
	if p := given.Penalties.Bands; p[0].Penalty != 5 || !(p[1].Penalty > 5) {
		t.Errorf("%+v", p)
	}
}

// TestPenaltyText checks that the flags of text apply to the file of --penalty.
func TestPenaltyText(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	rows := strings.Replace(rowsCSV(30), "\n", "\n% a comment\n", 3)
	data := write(t, "data.csv", strings.ReplaceAll(rows, ",", ";"))
	plain := write(t, "plain.csv", "0.25\n9\n")
	commented := write(t, "commented.csv", "% penalties of\n% both columns\n0.25;9\n")
	fit := []string{"fit", "--data", data, "--target", "y", "--gamma", "4", "--comment", "%", "--delimiter", ";"}
	must(t, append(slices.Clone(fit), "--penalty", plain, "--out", in("plain"))...)
	must(t, append(slices.Clone(fit), "--penalty", commented, "--out", in("commented"))...)
	near(t, "penalties with comments", in("commented"), in("plain"), 1e-14)
	must(t, "sketch", "--data", data, "--target", "y", "--comment", "%", "-o", in("sketch"))
	for _, name := range []string{"plain", "commented"} {
		penalty := map[string]string{"plain": plain, "commented": commented}[name]
		must(t, "solve", in("sketch"), "--gamma", "4", "--comment", "%", "--penalty", penalty, "--out", in("solve "+name))
	}
	near(t, "penalties of solve with comments", in("solve commented"), in("solve plain"), 1e-14)
}

func TestBandsRefused(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	data, penalty := write(t, "data.csv", rowsCSV(30)), write(t, "p.csv", "1\n2\n")
	must(t, "sketch", "--data", data, "--target", "y", "-o", in("sketch"))
	must(t, "sketch", "--data", data, "--target", "y", "--features", "poly:2", "-o", in("poly"))
	fit, solve := []string{"fit", "--data", data, "--target", "y"}, []string{"solve", in("sketch")}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"zero": {
			append(fit[:5:5], "--gamma", "1", "--bands", "1=0"), "--bands: the penalty of \"1=0\" must be a number > 0",
		},
		"no number": {
			append(fit[:5:5], "--gamma", "1", "--bands", "1=x"), "--bands: the penalty of \"1=x\" must be a number > 0",
		},
		"no columns": {append(fit[:5:5], "--gamma", "1", "--bands", "=2"), "--bands: \"=2\" names no columns"},
		"no such":    {append(fit[:5:5], "--gamma", "1", "--bands", "x3=2"), "--bands: \"x3\" is neither one of"},
		"beyond": {
			append(fit[:5:5], "--gamma", "1", "--bands", "1-3=2"),
			"--bands: \"1-3\" is neither one of the 2 columns nor a range",
		},
		"backwards": {
			append(fit[:5:5], "--gamma", "1", "--bands", "x2-x1=2"), "--bands: \"x2-x1\" ends before it begins",
		},
		"overlap": {
			append(fit[:5:5], "--gamma", "1", "--bands", "1=2,x1-x2=3"), "column 1 is in band \"1\" and in band \"x1-x2\"",
		},
		"zero in band": {
			append(fit[:5:5], "--gamma", "1", "--bands", "x2=2", "--penalty", write(t, "none.csv", "1\n0\n")),
			"--bands: column 2 has penalty 0",
		},
		"features": {
			append(fit[:5:5], "--gamma", "1", "--features", "poly:2", "--bands", "1=2"), "--bands: it applies to input columns",
		},
		"sketch": {
			[]string{"sketch", "--data", data, "--target", "y", "--bands", "1", "-o", in("no")},
			"--bands: sketch cannot choose penalties",
		},
		"plan": {
			[]string{"plan", "--data", data, "--target", "y", "--gamma", "1", "--bands", "1"},
			"--bands: plan cannot choose penalties",
		},
		"solve, short": {
			append(solve[:2:2], "--gamma", "1", "--penalty", write(t, "short.csv", "1\n")), "has 1 numbers for 2 input columns",
		},
		"solve, zero": {append(solve[:2:2], "--gamma", "1", "--penalty", write(t, "zero.csv", "1\n0\n")), "number 2 of"},
		"solve, poly": {
			[]string{"solve", in("poly"), "--gamma", "1", "--bands", "1=2"},
			"--bands: penalties apply to input columns, and the sketch has computed features",
		},
		"solve, poly p": {
			[]string{"solve", in("poly"), "--gamma", "1", "--penalty", penalty}, "--penalty: penalties apply to input columns",
		},
		"solve, out": {
			append(solve[:2:2], "--gamma", "1", "--penalty", penalty, "--out", penalty), "is an input and would be overwritten",
		},
	} {
		code, stdout, stderr := call(c.args...)
		if code != usage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want %q", name, code, stdout, stderr, c.want)
		}
	}
}
