package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/input"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/table"
)

// A truth has the predictions of the exact solution for the n rows that a model was fitted to, and bounds on their
// errors.
type truth struct {
	y     []float64 // n×t
	slack []float64 // bounds on the errors of y, by the certificate of the exact solution
	norm  []float64 // n: norm of the row less the mean row; sparse rows: the sum of both norms; without intercept: size
	size  []float64 // n: norm of the row
}

// truthOf solves by QR for the prepared rows that the flags in say how to read.
func truthOf(t *testing.T, model string, gamma float64, in func(*input.RowFlags)) truth {
	t.Helper()
	m, err := readModel("", model)
	if err != nil {
		t.Fatal(err)
	}
	prep := m.FittedPreparation()
	o := predictOptions{in: input.NewRowFlags(), modelFlags: modelFlags{model: model}}
	in(&o.in)
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	opened, err := o.open(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	src, err := table.Prepare(&prep, opened.Source, be, prepare.EncodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	fits, err := ridge.SolveExact(
		t.Context(),
		src,
		[]float64{gamma},
		ridge.ExactOptions{Method: ridge.QR, Intercept: m.Intercept},
	)
	if err != nil {
		t.Fatal(err)
	}
	_, d, k := src.Dims()
	var rows [][]float64
	sparse := false
	mean, out, yhat := make([]float64, d), truth{}, make([]float64, k)
	for b, err := range src.Blocks(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		sparse = b.Sparse != nil
		for i := range b.N {
			rows = append(rows, written(b, i, d))
			floats.Add(mean, rows[len(rows)-1])
			if err := fits[0].PredictRow(yhat, rows[len(rows)-1]); err != nil {
				t.Fatal(err)
			}
			out.y = append(out.y, yhat...)
		}
	}
	floats.Scale(1/float64(len(rows)), mean)
	for _, a := range rows {
		out.size = append(out.size, floats.Norm(a, 2))
		switch {
		case m.Intercept && sparse:
			out.norm = append(out.norm, floats.Norm(a, 2)+floats.Norm(mean, 2))
		case m.Intercept:
			out.norm = append(out.norm, floats.Distance(a, mean, 2))
		default:
			out.norm = append(out.norm, floats.Norm(a, 2))
		}
		for j := range k {
			y := out.y[len(out.slack)]
			out.slack = append(
				out.slack,
				out.norm[len(out.norm)-1]*fits[0].Targets[j].ErrorBound+
					1e-15*float64(d)*(math.Abs(y)+math.Abs(fits[0].Targets[j].Intercept)),
			)
		}
	}
	return out
}

// written is row i of a block of d features, written out where it is sparse.
func written(b dataset.Block, i, d int) []float64 {
	if b.Sparse == nil {
		return slices.Clone(b.X[i*d : (i+1)*d])
	}
	row := make([]float64, d)
	idx, val := b.Sparse.Row(i)
	for k, j := range idx {
		row[j] = val[k]
	}
	return row
}

// intervalsOf runs predict and returns its intervals, with all targets of a row together. It also returns the source
// that predict names for the intervals.
func intervalsOf(t *testing.T, args []string, more ...string) (v []ridge.Interval, from, stderr string) {
	t.Helper()
	code, out, stderr := call(slices.Concat([]string{"predict", "--json"}, args, more)...)
	if code != done {
		t.Fatalf("%v: exit %d: %s", more, code, stderr)
	}
	var p struct {
		Intervals []model.PerTarget[ridge.Interval] `json:"intervals"`
		From      string                            `json:"intervals_from"`
	}
	if err := json.Unmarshal([]byte(out), &p); err != nil {
		t.Fatal(err)
	}
	for _, b := range p.Intervals {
		v = append(v, b...)
	}
	return v, p.From, stderr
}

// change edits the JSON of a model, for each of its γ.
func change(t *testing.T, model string, edit func(weights map[string]any)) string {
	t.Helper()
	var m map[string]any
	d := json.NewDecoder(strings.NewReader(contents(t, model)))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		t.Fatal(err)
	}
	for _, w := range m["models"].([]any) {
		edit(w.(map[string]any))
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return write(t, "changed.json", string(text))
}

// TestIntervalsNarrow: intervals are as narrow as the model's certificate implies, and contain the predictions of the
// exact solution. For a model of an older version, which lacks the data that narrow intervals, the intervals use only
// the sketch.
func TestIntervalsNarrow(t *testing.T) {
	file := func(path, target string) func(*input.RowFlags) {
		return func(in *input.RowFlags) {
			in.Data.Value, in.Data.Given = path, true
			if target != "" {
				in.Target.Value, in.Target.Given = target, true
			}
		}
	}
	const features = "rff:64,gamma=0.05,seed=1"
	web, houses := firstRows(t, w8a, 1000), firstRows(t, packed, 1000)
	methods := map[string][]string{
		"one-shot": {"--method", "one-shot", "--gamma", "2"},
		"cg":       {"--method", "cg", "--gamma", "2"}, "galerkin": {"--method", "galerkin", "--gamma", "2,20"},
		"cholesky": {"--method", "exact", "--gamma", "2"}, "qr": {"--method", "exact", "--gamma", "0,2"},
	}
	for name, c := range map[string]struct {
		path, target string
		prepared     []string
		singular     bool // at γ = 0
	}{
		"Fourier features":    {web, "", []string{"--features", features, "--size", "16"}, false},
		"without intercept":   {web, "", []string{"--features", features, "--size", "16", "--intercept=false"}, false},
		"sparse rows":         {web, "", []string{"--size", "16"}, true},
		"standardised":        {houses, "last", []string{"--standardize", "--size", "3"}, false},
		"standardised, plain": {houses, "last", []string{"--standardize", "--size", "3", "--intercept=false"}, false},
		"two targets":         {houses, "3,last", []string{"--standardize", "--size", "2"}, false},
		"standardised, features": {
			houses, "last", []string{"--standardize", "--features", "rff:30,gamma=0.1", "--size", "8"}, false,
		},
	} {
		dir := t.TempDir()
		in := func(name string) string { return filepath.Join(dir, name) }
		args := []string{"--data", c.path}
		if c.target != "" {
			args = append(args, "--target", c.target)
		}
		must(
			t,
			slices.Concat(
				[]string{"sketch", "-o", in("sketch")},
				args,
				c.prepared[:len(c.prepared):len(c.prepared)],
			)...)
		var exact truth
		for method, flags := range methods {
			t.Run(name+", "+method, func(t *testing.T) {
				if c.singular && method == "qr" {
					t.Skip("singular at γ = 0, which is what asks for QR")
				}
				model := in(method)
				must(t, slices.Concat([]string{"fit", "--out", model}, args, flags, c.prepared)...)
				if exact.y == nil {
					exact = truthOf(t, model, 2, file(c.path, c.target))
				}
				m, err := readModel("", model)
				if err != nil {
					t.Fatal(err)
				}
				gamma := cli.Single{Value: "2", Given: true}
				one, err := chooseFit(m, gamma)
				if err != nil {
					t.Fatal(err)
				}
				w := &one.Fits[0]
				k := len(w.Coef)
				certificates, err := w.Certificates()
				if err != nil {
					t.Fatal(err)
				}
				predict := slices.Concat(args, []string{"--gamma", "2", "--model"})
				narrow, from, stderr := intervalsOf(t, predict, model, "--interval", in("sketch"))
				if from != "sketch and model" || strings.Contains(stderr, "intervals") {
					t.Errorf("from %q, %q", from, stderr)
				}
				old := change(t, model, func(w map[string]any) { delete(w, "fitted") })
				wide, from, stderr := intervalsOf(t, predict, old, "--interval", in("sketch"))
				if from != "sketch" ||
					!strings.Contains(stderr, "intervals use only the sketch: "+old+" comes from an older version") {
					t.Errorf("old: from %q, %q", from, stderr)
				}
				if len(narrow) != len(exact.y) || len(wide) != len(exact.y) {
					t.Fatalf("%d and %d intervals for %d", len(narrow), len(wide), len(exact.y))
				}
				holds := func(what string, all []ridge.Interval) {
					for i, v := range all {
						if y, s := exact.y[i], exact.slack[i]; !(v.Lo-s <= y && y <= v.Hi+s) {
							t.Fatalf("%s: row %d, target %d: %v is outside of %v", what, i/k+1, i%k+1, y, v)
						}
					}
				}
				holds("narrow", narrow)
				holds("wide", wide)
				// round is room for round-off, which is proved too.
				round := func(i int) float64 {
					coef := w.Coef[i%k]
					if w.Fitted.Coef != nil {
						coef = w.Fitted.Coef[i%k]
					}
					return 1e-12 * (math.Abs(exact.y[i]) + exact.size[i/k]*floats.Norm(coef, 2) + math.Abs(w.Intercept[i%k]))
				}
				least := math.Inf(1) // of the sketch's alone
				for i, v := range narrow {
					half, sketched := (v.Hi-v.Lo)/2, (wide[i].Hi-wide[i].Lo)/2
					least = math.Min(least, sketched/half)
					says := exact.norm[i/k] * certificates[i%k].ErrorBound
					if !(half <= says*(1+1e-9)+round(i)) || !(half <= sketched*(1+1e-9)) {
						t.Fatalf(
							"row %d, target %d: half width %.3g, the certificate says %.3g, the sketch %.3g",
							i/k+1,
							i%k+1,
							half,
							says,
							sketched,
						)
					}
				}
				if method != "one-shot" && !(least > 100) {
					t.Errorf("the sketch's intervals are but %.3g times as wide", least)
				}
				alone, from, _ := intervalsOf(t, predict, model, "--interval", model)
				holds("alone", alone)
				if from != "model" {
					t.Errorf("alone: from %q", from)
				}
				for i, v := range alone {
					if m.Intercept { // the rows are not centred, so the interval is wider
						break
					}
					half, says := (v.Hi-v.Lo)/2, exact.norm[i/k]*certificates[i%k].ErrorBound
					if !(math.Abs(half-says) <= 1e-9*says+round(i)) {
						t.Fatalf("alone: row %d: half width %.3g, the certificate says %.3g", i+1, half, says)
					}
				}
				code, _, errs := call(slices.Concat([]string{"predict"}, predict, []string{old, "--interval", old})...)
				if code != usage || !strings.Contains(errs, "an older version") {
					t.Errorf("by an old model alone: exit %d, %s", code, errs)
				}
			})
		}
	}
}

// TestIntervalModels: what a model's certificate does not say narrows nothing; what
// contradicts itself or the sketch is refused.
func TestIntervalModels(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	text := "x1,x2,x3,x4,y\n" // wider than the buffer of a sketch of one row
	for i, line := range strings.Split(strings.TrimSpace(rowsCSV(40)), "\n")[1:] {
		f := strings.Split(line, ",")
		text += fmt.Sprintf("%s,%s,%d,%d,%s\n", f[0], f[1], i%7, i*i%11, f[2])
	}
	data := write(t, "data.csv", text)
	args := []string{"--data", data, "--target", "y"}
	model, sketch := in("m"), in("s")
	must(
		t,
		slices.Concat(
			[]string{"fit", "--gamma", "1", "--method", "cg", "--size", "1", "--out", model, "--save-sketch", sketch},
			args,
		)...)
	predict := func(model string) []string {
		return slices.Concat(args, []string{"--interval", sketch, "--model", model})
	}
	wide, _, _ := intervalsOf(t, predict(change(t, model, func(w map[string]any) { delete(w, "fitted") })))
	narrow, from, _ := intervalsOf(t, predict(model))
	if from != "sketch and model" || !(narrow[0].Hi-narrow[0].Lo < 1e-3*(wide[0].Hi-wide[0].Lo)) {
		t.Fatalf("%v by %s, %v by the sketch", narrow[0], from, wide[0])
	}
	certificate := func(edit func(c map[string]any)) func(map[string]any) {
		return func(w map[string]any) { edit(w["certificate"].(map[string]any)) }
	}
	nothing := certificate(func(c map[string]any) {
		c["error_bound"], c["energy_bound"], c["objective"] = nil, nil, []any{nil, nil}
	})
	null, _, _ := intervalsOf(t, predict(change(t, model, nothing)))
	if !slices.Equal(null, wide) {
		t.Errorf("by no numbers %v, by the sketch %v", null[0], wide[0])
	}
	for name, c := range map[string]struct {
		edit func(map[string]any)
		want string
	}{
		"no certificate":         {func(w map[string]any) { delete(w, "certificate") }, "the certificate cannot be read"},
		"a certificate of words": {func(w map[string]any) { w["certificate"] = "yes" }, "the certificate cannot be read"},
		"no bounds":              {certificate(func(c map[string]any) { delete(c, "error_bound") }), "cannot narrow"},
		"two bounds":             {certificate(func(c map[string]any) { c["error_bound"] = []any{1, 1} }), "cannot narrow"},
		"no energy":              {certificate(func(c map[string]any) { delete(c, "energy_bound") }), "cannot narrow"},
		"scaled weights": {
			func(w map[string]any) { w["fitted"].(map[string]any)["coef"] = []any{1, 1, 1, 1} }, "1 lists of weights",
		},
		"another ‖b‖²": {
			func(w map[string]any) { w["tss"] = 1.0000001 * number1(t, w["tss"].([]any)[0]) },
			"is not of these rows",
		},
		"another intercept": {
			func(w map[string]any) { w["intercept"] = 1.0000001 * number1(t, w["intercept"].([]any)[0]) },
			"is not of these rows",
		},
	} {
		code, out, errs := call(append([]string{"predict"}, predict(change(t, model, c.edit))...)...)
		if code != usage || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit %d, %s", name, code, errs)
		}
	}
	// A feature is another one, of all rows a little: n and the targets are the same.
	var other strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if x, rest, _ := strings.Cut(line, ","); i > 0 {
			line = fmt.Sprint(parse(t, x)*1.00001, ",", rest)
		}
		fmt.Fprintln(&other, line)
	}
	must(
		t,
		"sketch",
		"--data",
		write(t, "other.csv", other.String()),
		"--target",
		"y",
		"--size",
		"1",
		"-o",
		in("other"),
	)
	if code, out, errs := call(
		"predict", "--data", data, "--target", "y", "--model", model, "--interval", in("other"),
	); code != usage ||
		out != "" ||
		!strings.Contains(errs, in("other")+": the fit is not of these rows") {
		t.Errorf("of another feature: exit %d, %s", code, errs)
	}
	// Weights off along what cᵀx̂ says nothing of: the intervals of a row don't meet.
	free, lossless := in("free"), in("lossless")
	text = rowsCSV(40)
	data = write(t, "narrow.csv", text)
	args = []string{"--data", data, "--target", "y"}
	must(
		t,
		slices.Concat(
			[]string{
				"fit",
				"--intercept=false",
				"--gamma",
				"1",
				"--method",
				"cg",
				"--out",
				free,
				"--save-sketch",
				lossless,
			},
			args,
		)...)
	var cross [2]float64
	for line := range strings.Lines(text[strings.Index(text, "\n")+1:]) {
		v := strings.Split(strings.TrimSpace(line), ",")
		for j := range cross {
			cross[j] += parse(t, v[2]) * parse(t, v[j])
		}
	}
	off := change(t, free, func(w map[string]any) {
		coef := w["coef"].([]any)[0].([]any)
		w["coef"] = []float64{number1(t, coef[0]) - 1e-3, number1(t, coef[1]) + 1e-3*cross[0]/cross[1]}
	})
	if code, out, errs := call(
		"predict", "--data", data, "--target", "y", "--model", off, "--interval", lossless,
	); code != usage ||
		out != "" ||
		!strings.Contains(errs, "--interval: the fit is not of these rows: for row 1 the fit proves") {
		t.Errorf("intervals apart: exit %d, %s", code, errs)
	}
	// A model fitted to sparse rows, or from several ranks, says itself what its rounding is.
	var sparse bytes.Buffer
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if v := strings.Split(line, ","); i > 0 {
			fmt.Fprintf(&sparse, "%s 1:%s 2:%s\n", v[2], v[0], v[1])
		}
	}
	svm, plain, solved := write(t, "rows.svm", sparse.String()), in("plain"), in("solved")
	must(t, "sketch", "--data", svm, "--size", "1", "-o", plain)
	bare := write(t, "bare.csv", text[strings.Index(text, "\n")+1:])
	must(t, "solve", plain, "--data", bare, "--target", "last", "--gamma", "1", "--method", "cg", "--out", solved)
	_, with, _ := intervalsOf(t, []string{"--data", svm, "--model", solved, "--interval", plain})
	if with != "sketch and model" {
		t.Errorf("from %q", with)
	}
}

// number1 is a number of a model.
func number1(t *testing.T, v any) float64 {
	t.Helper()
	return parse(t, v.(json.Number).String())
}
