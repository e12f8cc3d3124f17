package model_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/model"
)

// golden names models in testdata: NAME-v1.json, NAME-v2.json and NAME-v5.json. Its values are the γ of the
// predictions in NAME.txt, for the first two columns of rows.csv. The last program that wrote version 1 made the
// predictions.
var golden = map[string]float64{"one": 0.5, "several": 2, "targets": 0.5, "fourier": 0.01, "polynomial": 0.1}

// numbers reads lines of numbers with commas between them, of each the first so many.
func numbers(t *testing.T, path string, header bool, first int) *mat.Dense {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(text))
	if header {
		lines = lines[1:]
	}
	var all []float64
	for _, line := range lines {
		fields := strings.Split(line, ",")
		for _, f := range fields[:min(first, len(fields))] {
			v, err := strconv.ParseFloat(f, 64)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, v)
		}
	}
	return mat.NewDense(len(lines), len(all)/len(lines), all)
}

// readModel reads a golden model.
func readModel(t *testing.T, name string) (*model.Model, []byte) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return m, text
}

// TestGolden: models of all versions predict as when they were written. All are written as version 5, in the same
// bytes.
func TestGolden(t *testing.T) {
	x := numbers(t, "testdata/rows.csv", true, 2)
	for name, gamma := range golden {
		want := numbers(t, "testdata/"+name+".txt", false, 9)
		now, text := readModel(t, name+"-v5.json")
		second, _ := readModel(t, name+"-v2.json")
		first, _ := readModel(t, name+"-v1.json")
		for _, m := range []*model.Model{first, second, now} {
			one, err := m.At(gamma)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := one.PredictMatrix(x)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !mat.EqualApprox(got, want, 1e-11) { // of hundreds
				t.Errorf("%s predicts\n%v, once it was\n%v", name, mat.Formatted(got), mat.Formatted(want))
			}
			if _, err := one.Fits[0].Certificates(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			var file bytes.Buffer
			if err := m.Write(&file); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !bytes.Equal(file.Bytes(), text) {
				t.Errorf("%s is written as\n%s", name, file.Bytes())
			}
		}
	}
}

// TestOneShape: what is written of one γ has the shape of what is written of several.
func TestOneShape(t *testing.T) {
	shape := func(name string) (top, each []string, models int) {
		_, text := readModel(t, name)
		var fields map[string]any
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		list, _ := fields["models"].([]any)
		if len(list) == 0 {
			t.Fatalf("%s has no models", name)
		}
		delete(fields, "folded_scaling")
		return slices.Sorted(maps.Keys(fields)), slices.Sorted(maps.Keys(list[0].(map[string]any))), len(list)
	}
	top1, each1, one := shape("one-v5.json")
	top2, each2, two := shape("several-v5.json")
	if !slices.Equal(top1, top2) || !slices.Equal(each1, each2) || one != 1 || two != 2 {
		t.Errorf("of one γ there are %v with %d of %v, of two %v with %d of %v", top1, one, each1, top2, two, each2)
	}
	if slices.Contains(top1, "coef") {
		t.Error("the fit for one γ is beside the models")
	}
	if m, _ := readModel(t, "one-v2.json"); m.Fits[0].Gamma != 0.5 || math.Abs(m.Fits[0].Coef[0][0]-8.8) > 0.1 {
		t.Errorf("the fit is %+v", m.Fits[0])
	}
}

// TestTargetsShape: values for each target are lists in version 5, for one target and for several. A float64 is no
// integer.
func TestTargetsShape(t *testing.T) {
	const list = `(?s)"(coef|intercept|tss|error_bound|relative_error_bound|energy_bound|intercept_bound|r2)": ([^\[]|\[\s*\])`
	const pairs = `(?s)"(coef|objective|rss|gcv|r2_bracket)": ([^\[]|\[\s*[^\[\s])`
	const number = `(?m)^ *("(\w+)": )?-?[0-9]+,?$`
	integers := map[string]bool{
		"fdridge_model": true,
		"n":             true,
		"d":             true,
		"size":          true,
		"inputs":        true,
		"passes":        true,
		"iterations":    true,
		"components":    true,
		"seed":          true,
		"degree":        true,
	}
	for name := range golden {
		_, text := readModel(t, name+"-v5.json")
		for _, of := range []string{list, pairs} {
			if wrong := regexp.MustCompile(of).Find(text); wrong != nil {
				t.Errorf("%s: %s", name, wrong)
			}
		}
		for _, found := range regexp.MustCompile(number).FindAllSubmatch(text, -1) {
			if !integers[string(found[2])] {
				t.Errorf("%s: %s", name, found[0])
			}
		}
	}
}

// TestProves: a model proves what its certificates do, of every γ.
func TestProves(t *testing.T) {
	for name, want := range map[string]bool{"one-v1.json": true, "several-v2.json": true, "targets-v2.json": true} {
		if m, _ := readModel(t, name); m.Proves() != want {
			t.Errorf("%s proves something of its weights: %v", name, !want)
		}
	}
	for certificate, want := range map[string]bool{
		`{"relative_error_bound": 0.5, "error_bound": 1, "energy_bound": 1, "objective": [0, 1]}`:  true,
		`{"relative_error_bound": 1, "error_bound": 1, "energy_bound": 1, "objective": [0, 1]}`:    false,
		`{"relative_error_bound": null, "error_bound": 1, "energy_bound": 1, "objective": [0, 1]}`: false,
		`{"error_bound": 1, "energy_bound": 1, "objective": [0, 1]}`:                               false,
		`"none"`: false,
	} {
		m, err := model.Read(
			strings.NewReader(
				`{"fdridge_model": 2, "preparation": {"inputs": 1}, "models": [{"gamma": 1, "coef": [2], "intercept": 0, "certificate": ` + certificate + `}]}`,
			),
		)
		if err != nil {
			t.Fatal(err)
		}
		if m.Proves() != want {
			t.Errorf("%s proves something: %v", certificate, !want)
		}
	}
}
