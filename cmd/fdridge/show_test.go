package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fdridge/fdridge/model"
)

// TestShow: show prints models of all versions, with the coefficients of the file, in at most 100 columns.
func TestShow(t *testing.T) {
	files, err := filepath.Glob("../../model/testdata/*-v*.json")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d models: %v", len(files), err)
	}
	for _, name := range files {
		m, err := readModel("", name)
		if err != nil {
			t.Fatal(err)
		}
		text := must(t, "show", name, "--top", "0")
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimSpace(line)); n > 100 {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
		}
		var v struct {
			N    int64
			D    int
			Fits []struct {
				Gamma        float64
				Intercept    struct{ Value float64 }
				Coefficients []struct {
					Name  string
					Value float64
					Bound *model.Number
				}
			}
		}
		if err := json.Unmarshal([]byte(must(t, "show", name, "--json")), &v); err != nil {
			t.Fatal(err)
		}
		all := m.Weights()
		if rows, d := all.Dims(); rows != len(v.Fits) || d != v.D+1 || v.N != m.Rows {
			t.Fatalf("%s: %d fits of %d coefficients, want %d of %d", name, len(v.Fits), v.D, rows, d-1)
		}
		for i, f := range v.Fits {
			if f.Intercept.Value != all.At(i, 0) {
				t.Errorf("%s: intercept %v, want %v", name, f.Intercept.Value, all.At(i, 0))
			}
			for j, c := range f.Coefficients {
				if c.Value != all.At(i, j+1) || c.Name == "" || c.Bound == nil || !(float64(*c.Bound) >= 0) {
					t.Errorf("%s: coefficient %d is %+v, want %v", name, j, c, all.At(i, j+1))
				}
				if !strings.Contains(text, "\n"+c.Name+" ") {
					t.Errorf("%s does not show %s", name, c.Name)
				}
			}
		}
	}
	several := "../../model/testdata/several-v2.json"
	if out := must(t, "show", several, "--gamma", "2", "--top", "1"); strings.Contains(out, "0.5 ") ||
		!strings.Contains(out, "1 smaller coefficients, compared for the scaled columns, are not shown") {
		t.Error(out)
	}
	raw := filepath.Join(t.TempDir(), "m.json")
	must(t, "fit", "--data", housing, "--target", "last", "--rows", "1:99", "--gamma", "1", "--out", raw)
	if out := must(t, "show", raw, "--top", "1"); !strings.Contains(out, "\n7 smaller coefficients are not shown") {
		t.Error(out)
	}
	for args, want := range map[string]string{
		"":                     "show needs one model",
		several + " --gamma 7": "--gamma: 7 is not among",
		several + " --top -1":  "--top: -1",
		housing:                "is a csv table, not a model",
		"none.json":            "no such file",
	} {
		code, out, errs := call(append([]string{"show"}, strings.Fields(args)...)...)
		if code != usage || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %q, %q", args, code, out, errs)
		}
	}
}

// TestCoefficients: fit prints up to 20 coefficients; each exact one is within the printed bound.
func TestCoefficients(t *testing.T) {
	dir := t.TempDir()
	exact, rough := filepath.Join(dir, "exact"), filepath.Join(dir, "rough")
	data := []string{"fit", "--data", housing, "--target", "last", "--standardize", "--gamma", "1e5"}
	must(t, append(data, "--method", "exact", "--out", exact)...)
	text := must(t, append(data, "--method", "one-shot", "--size", "3", "--out", rough)...)
	want := modelAt(t, exact).Fits[0]
	for j, x := range append([]float64{want.Intercept[0]}, want.Coef[0]...) {
		name := fmt.Sprint("x", j)
		if j == 0 {
			name = "(intercept)"
		}
		_, rest, ok := strings.Cut(text, "\n"+name+" ")
		fields := strings.Fields(rest)
		if !ok || len(fields) < 2 {
			t.Fatalf("no line of %s in %s", name, text)
		}
		if value, bound := parse(t, fields[0]), parse(t, fields[1]); !(math.Abs(value-x) <= bound*(1+1e-9)) {
			t.Errorf("%s is %v ± %v, exactly %v", name, value, bound, x)
		}
	}
	if out := must(t, append(data, "--features", "poly:2")...); strings.Contains(out, "coefficient  ") {
		t.Error(out)
	}
}

// TestTextWidth: the text report of several gammas and targets with long names has at most 100 columns.
func TestTextWidth(t *testing.T) {
	long := strings.Repeat("long_name_", 9)
	rows := write(t, "rows.csv", strings.Replace(rowsCSV(60), "y\n", long+"\n", 1))
	for _, method := range []string{"one-shot", "cg", "exact"} {
		_, out, _ := call(
			"fit",
			"--data",
			rows,
			"--target",
			"x1,"+long,
			"--gamma",
			"1e-7,1,1234567",
			"--method",
			method,
			"--size",
			"1",
			"--holdout",
			"0.2",
		)
		if !strings.Contains(out, "long_name_") {
			t.Error(out)
		}
		for line := range strings.Lines(out) {
			if n := utf8.RuneCountInString(strings.TrimSpace(line)); n > 100 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}
