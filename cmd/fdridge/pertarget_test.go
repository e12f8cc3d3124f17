package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fdridge/fdridge/dataset/npy"
)

// targetsCSV has rows of features a to d and of targets y1, y2, … The odd targets depend on a, the even ones are
// noise.
func targetsCSV(n, targets int) string {
	r := rand.New(rand.NewPCG(5, 6))
	var b strings.Builder
	b.WriteString("a,b,c,d")
	for j := range targets {
		fmt.Fprintf(&b, ",y%d", j+1)
	}
	for range n {
		a := r.NormFloat64()
		fmt.Fprintf(&b, "\n%g,%g,%g,%g", a, r.NormFloat64(), r.NormFloat64(), r.NormFloat64())
		for j := range targets {
			fmt.Fprintf(&b, ",%g", float64(1-j%2)*a+float64(j+1)/8*r.NormFloat64())
		}
	}
	return b.String() + "\n"
}

// TestPerTarget: the text, the JSON, the page, the model and the predictions of a fit with a γ for each target.
func TestPerTarget(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	data := write(t, "targets.csv", targetsCSV(50, 3))
	of := []string{"--data", data, "--target", "y1,y2,y3"}
	fit := func(more ...string) string {
		return must(t, append(append([]string{"fit", "--per-target"}, of...), more...)...)
	}
	var auto, given struct {
		Gamma     float64
		Gammas    []float64
		PerTarget struct {
			By     string
			Proved int
			Scores [][2]float64
			AtEnd  [2]int `json:"at_end"`
		} `json:"per_target"`
		Coef any
	}
	text := fit("--out", in("m.json"), "--report", in("page.html"), "--save-sketch", in("sketch"))
	if !strings.Contains(text, "smallest GCV of 50 candidates, proved for 3 of 3 targets") {
		t.Error(text)
	}
	if err := json.Unmarshal([]byte(fit("--json")), &auto); err != nil {
		t.Fatal(err)
	}
	p := auto.PerTarget
	if g := auto.Gammas; len(g) != 3 || g[0] >= g[1] || g[2] >= g[1] || auto.Gamma != min(g[0], g[2]) ||
		p.By != "gcv" ||
		p.Proved != 3 ||
		len(p.Scores) != 3 {
		t.Errorf("%+v", auto)
	}
	if p.AtEnd[1] > 0 &&
		!strings.Contains(
			strings.ReplaceAll(text, "\n ", ""),
			"the largest candidate, and a larger one may be better",
		) {
		t.Errorf("%d targets have the largest candidate: %s", p.AtEnd[1], text)
	}
	list := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(auto.Gammas)), ","), "[]")
	if err := json.Unmarshal([]byte(fit("--json", "--gamma", list)), &given); err != nil ||
		fmt.Sprint(given.Gammas) != fmt.Sprint(auto.Gammas) {
		t.Errorf("%v: %v", given.Gammas, err)
	}
	if page, err := os.ReadFile(in("page.html")); err != nil ||
		!strings.Contains(string(page), "Gamma for each target: smallest GCV of 50 candidates") {
		t.Errorf("the page does not describe the choice: %v", err)
	}
	m := modelAt(t, in("m.json"))
	if fmt.Sprint(m.Fits[0].Gammas) != fmt.Sprint(auto.Gammas) {
		t.Errorf("the model has %v", m.Fits[0].Gammas)
	}
	for j, g := range auto.Gammas {
		want := fmt.Sprintf("\n%-9.6g  y%d ", g, j+1)
		if !strings.Contains(must(t, "show", in("m.json")), strings.TrimRight(want, " ")) {
			t.Errorf("show has no line %q", want)
		}
	}
	// The intervals contain the predictions, and are narrow for each γ.
	lines := strings.Split(
		strings.TrimSpace(
			must(
				t,
				"predict",
				"--model",
				in("m.json"),
				"--data",
				data,
				"--target",
				"y1,y2,y3",
				"--interval",
				in("sketch"),
			),
		),
		"\n",
	)
	for _, line := range lines[1:] {
		var v [9]float64
		for i, text := range strings.Split(line, ",")[:9] {
			if _, err := fmt.Sscan(text, &v[i]); err != nil {
				t.Fatal(err)
			}
		}
		for j := range 3 {
			if y, lo, hi := v[3*j], v[3*j+1], v[3*j+2]; !(lo <= y && y <= hi && hi-lo <= 1e-9) {
				t.Fatalf("target %d: %v in %v to %v", j+1, y, lo, hi)
			}
		}
	}
	// As arrays, the model makes the same predictions, and is shown in the same way.
	fit("--out", in("m.npz"))
	if a, b := must(t, "show", in("m.json")), must(t, "show", in("m.npz")); strings.ReplaceAll(a, "m.json", "m.npz") != b {
		t.Errorf("as arrays:\n%s\nwant\n%s", b, a)
	}
	text = must(t, "predict", "--model", in("m.npz"), "--data", data, "--target", "y1,y2,y3")
	if want := must(t, "predict", "--model", in("m.json"), "--data", data, "--target", "y1,y2,y3"); text != want {
		t.Errorf("as arrays the model predicts\n%s\nwant\n%s", text, want)
	}
	must(t, "predict", "--model", in("m.npz"), "--data", data, "--target", "y1,y2,y3", "--out", in("p.npy"))
	src, err := npy.Open(in("p.npy"), npy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	predicted := strings.Fields(text)
	for b, err := range src.Blocks(t.Context()) {
		for i := range b.N {
			got := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(b.X[3*i:3*i+3])), ","), "[]")
			if err != nil || got != predicted[i] {
				t.Errorf("row %d of the array is %s, %v, want %s", i, got, err, predicted[i])
			}
		}
	}
	for why, more := range map[string][]string{"2 gammas for 3 targets": {"--gamma", "1,2"}} {
		code, _, errs := call(append(append([]string{"fit", "--per-target"}, of...), more...)...)
		if code != usage || !strings.Contains(errs, why) {
			t.Errorf("%v: exit %d, %s", more, code, errs)
		}
	}
}

// TestManyTargets: with more than 100 targets the text and the page have quantiles and the targets with the largest
// bounds.
func TestManyTargets(t *testing.T) {
	dir := t.TempDir()
	data, names := write(t, "targets.csv", targetsCSV(60, 120)), "y1"
	for j := range 119 {
		names += fmt.Sprintf(",y%d", j+2)
	}
	for _, more := range [][]string{{"--per-target"}, {"--gamma", "2"}} {
		page := filepath.Join(dir, "page.html")
		text := must(t, append([]string{"fit", "--data", data, "--target", names, "--report", page}, more...)...)
		n := strings.Count(text, "converged") + strings.Count(text, "factorized")
		if n != worstTargetsShown {
			t.Errorf("%v: %d targets are listed:\n%s", more, n, text)
		}
		for _, want := range []string{"120 targets  least", "the 10 targets with the largest error bounds", "\nR²  "} {
			if !strings.Contains(text, want) {
				t.Errorf("%v: no %q in\n%s", more, want, text)
			}
		}
		html, err := os.ReadFile(page)
		if err != nil || !strings.Contains(string(html), "median") ||
			strings.Count(string(html), "converged")+strings.Count(string(html), "factorized") != n {
			t.Errorf("%v: the page does not show the quantiles and the same targets: %v", more, err)
		}
	}
}

// worstTargetsShown is the number of targets in a table of many.
const worstTargetsShown = 10

// normalArray writes a .npy array of normal numbers.
func normalArray(t *testing.T, seed uint64, rows, cols int) string {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 9))
	x := make([]float64, rows*cols)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	var b bytes.Buffer
	if err := npy.Write(&b, rows, cols, x); err != nil {
		t.Fatal(err)
	}
	return write(t, "array.npy", b.String())
}

// TestPredictInFit: fit --predict writes the bytes that predict writes with the model, for several blocks of targets
// and for prepared rows.
func TestPredictInFit(t *testing.T) {
	in := func(name string) string { return filepath.Join(t.TempDir(), name) }
	csv := write(
		t,
		"rows.csv",
		"k,u,v,y1,y2"+strings.Repeat("\na,1,2,3,4\nb,2,5,1,1\na,,7,2,9\nc,0,1,6,2\nb,4,4,4,3\nc,9,,1,0", 5)+"\n",
	)
	rows := write(t, "new.csv", "v,k,u\n1,a,3\n,b,2\n7,c,\n")
	penalty := write(t, "penalty.csv", "2,3\n")
	for name, c := range map[string]struct {
		rows string
		fit  []string
	}{
		// 958 targets fit together
		"blocks": {
			normalArray(t, 1, 2, 14000),
			[]string{"--data", normalArray(t, 2, 4, 14000), "--target", normalArray(t, 3, 4, 1000)},
		},
		"means":     {rows, []string{"--data", csv, "--target", "y1,y2", "--missing", "mean", "--onehot", "k", "--standardize"}},
		"left out":  {rows, []string{"--data", csv, "--target", "y1,y2", "--missing", "drop", "--onehot", "k"}},
		"products":  {rows, []string{"--data", csv, "--target", "y1,y2", "--missing", "mean", "--onehot", "k", "--features", "poly:2", "--intercept=false"}},
		"penalties": {write(t, "uv.csv", "v,u\n1,2\n3,4\n"), []string{"--data", csv, "--target", "y1,y2", "--missing", "mean", "--columns", "u,v", "--penalty", penalty, "--standardize"}},
		"bands":     {write(t, "uv.csv", "v,u\n1,2\n3,4\n"), []string{"--data", csv, "--target", "y1,y2", "--missing", "mean", "--columns", "u,v", "--bands", "1=1,2=9"}},
	} {
		fit := append([]string{"fit", "--per-target"}, c.fit...)
		m, one, two := in("m.npz"), in("p.npy"), in("p.npy")
		must(t, append(fit, "--out", m)...)
		_, _, said := call("predict", "--model", m, "--data", c.rows, "--out", one)
		code, text, errs := call(append(fit, "--predict", c.rows, "--out", two)...)
		if code != done || !strings.Contains(text, "predictions written to "+two) ||
			strings.Contains(text, "model written") ||
			errs != said {
			t.Fatalf("%s: exit %d, %s, %s; predict says %s", name, code, text, errs, said)
		}
		want, err := os.ReadFile(one)
		got, err2 := os.ReadFile(two)
		if err != nil || err2 != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: other predictions than by the model, %v, %v", name, err, err2)
		}
	}
}

// TestPredictInFitRefuses: rows that cannot be predicted, contradictions and an interruption leave no file.
func TestPredictInFitRefuses(t *testing.T) {
	data := write(t, "targets.csv", targetsCSV(50, 3))
	rows := write(t, "new.csv", "a,b,c,d\n1,2,3,4\n")
	out := filepath.Join(t.TempDir(), "p.npy")
	fit := []string{"fit", "--data", data, "--target", "y1,y2,y3"}
	for want, args := range map[string][]string{
		"column c: NaN is not finite":     {"--per-target", "--predict", write(t, "nan.csv", "a,b,c,d\n1,2,3,4\n1,2,NaN,4\n"), "--out", out},
		"--predict: ":                     {"--per-target", "--predict", write(t, "wide.csv", "1,2,3\n1,2,3\n"), "--out", out},
		"--predict: nowhere.csv":          {"--per-target", "--predict", "nowhere.csv", "--out", out},
		"can be read only once":           {"--per-target", "--predict", "-", "--out", out},
		"no such folder":                  {"--per-target", "--predict", rows, "--out", filepath.Join(out, "p.npy")},
		"it needs --out FILE.npy":         {"--per-target", "--predict", rows, "--out", "model.npz"},
		"it needs --per-target (a gamma":  {"--predict", rows, "--out", out},
		"the coefficients are not kept":   {"--per-target", "--predict", rows, "--out", out, "--coef", "c.npy"},
		"is an input":                     {"--per-target", "--predict", out, "--out", out},
		"no predictions were written (--": {"--per-target", "--predict", rows, "--out", out, "--tol", "1e-18", "--max-passes", "1", "--strict"},
	} {
		code, _, errs := call(append(fit, args...)...)
		if code == done || code == short || !strings.Contains(errs, want) {
			t.Errorf("%v: exit %d, %s, want %s", args, code, errs, want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(out), "*")); err != nil || left != nil {
		t.Errorf("there are %v, %v", left, err)
	}
	slow := []string{
		"fit",
		"--per-target",
		"--data",
		normalArray(t, 2, 12, 14000),
		"--target",
		normalArray(t, 3, 12, 1000),
		"--predict",
		normalArray(t, 1, 5, 14000),
		"--out",
		out,
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var text, errs bytes.Buffer
	if code := run(ctx, slow, &text, &errs); code != failed {
		t.Errorf("interrupted: exit %d, %s", code, errs.String())
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(out), "*")); err != nil || left != nil {
		t.Errorf("interrupted: there are %v, %v", left, err)
	}
	must(t, append(fit, "--per-target", "--predict", rows, "--out", out)...)
	if code, _, errs := call(
		append(fit, "--per-target", "--predict", rows, "--out", out, "--tol", "1e-18", "--max-passes", "1")...,
	); code != short ||
		!strings.Contains(errs, "the predictions of the best coefficients were written") {
		t.Errorf("a tolerance missed: exit %d, %s", code, errs)
	}
}
