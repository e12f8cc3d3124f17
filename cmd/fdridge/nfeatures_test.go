package main

import (
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/leaktest"
)

// sparseText returns n rows with three of d features, with labels ±1, in the format of svmlight. The last feature is
// not zero in row 1.
func sparseText(n, d int) string {
	r := rand.New(rand.NewPCG(38, 4))
	var text strings.Builder
	for i := range n {
		third := d
		if i > 0 {
			third = 2*d/3 + 1 + r.IntN(d/3)
		}
		fmt.Fprintf(
			&text,
			"%d %d:%.3f %d:1 %d:-2.5\n",
			1-2*r.IntN(2),
			1+r.IntN(d/3),
			r.NormFloat64(),
			d/3+1+r.IntN(d/3),
			third,
		)
	}
	return text.String()
}

// TestNumberOfFeatures: fit runs the same method with and without --n-features, for the same coefficients, and plan
// marks this method. With the flag, fit reads the rows not more often.
func TestNumberOfFeatures(t *testing.T) {
	leaktest.Check(t)
	dir := t.TempDir()
	long, short := write(t, "long.svm", sparseText(11600, 13000)), write(t, "short.svm", sparseText(60, 12000))
	zipped := filepath.Join(dir, "long.svm.gz")
	f, err := os.Create(zipped)
	if err != nil {
		t.Fatal(err)
	}
	w := gzip.NewWriter(f)
	if _, err := w.Write([]byte(contents(t, long))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		data, features, flags string
		method, solved        string
		plans                 bool
	}{
		{long, "13000", "--gamma 1", "dual-cg", "dual-cg", true},
		{zipped, "13000", "--gamma 1", "dual-cg", "dual-cg", true},
		{long + "," + long, "13000", "--gamma 1 --rows 1:11600", "dual-cg", "dual-cg", true},
		{short, "12000", "--gamma 1", "exact", "dual-cg", true},
		{short, "12000", "--gamma 1,2,3,4", "exact", "dual", true},
		{short, "12000", "--gamma auto", "exact", "dual", false},
		{short, "12000", "--gamma 1 --classes", "exact", "dual-cg", false},
		{short, "12000", "--gamma 1 --standardize", "exact", "dual-cg", true},
		{short, "12000", "--gamma 1 --method exact", "exact", "dual-cg", false},
	} {
		var coefs [2][]float64
		var reads [2]float64
		for i, flags := range []string{"", " --n-features " + c.features} {
			args := append([]string{"--data", c.data}, strings.Fields(c.flags+flags)...)
			model := filepath.Join(dir, "model.json")
			v := reported(t, append([]string{"fit", "--out", model}, args...)...)
			fit := v["fits"].([]any)[0].(map[string]any)
			if v["method"] != c.method || fit["method"] != c.solved {
				t.Errorf("%v: %v by %v (%v)", args, v["method"], fit["method"], v["method_reason"])
			}
			coefs[i], reads[i] = weights(t, model), v["reads"].(float64)
			if !c.plans {
				continue
			}
			p := reported(t, append(append([]string{"plan"}, args...), "--size", "4", "--sizes", "4")...)
			best := p["options"].([]any)[int(p["best"].(float64))].(map[string]any)
			if best["method"] != c.method || !strings.Contains(p["reason"].(string), "is the default method") {
				t.Errorf("plan %v: %v, fit runs %s", args, p["reason"], c.method)
			}
		}
		if !slices.Equal(coefs[0], coefs[1]) || reads[1] > reads[0] {
			t.Errorf(
				"%s %s: other coefficients, or %v reads with --n-features and %v without",
				c.data,
				c.flags,
				reads[1],
				reads[0],
			)
		}
	}
}

// TestPipedFeatures: rows from a pipe are read once, whatever their number. A cache makes them readable again, and
// fit then runs the method of a file.
func TestPipedFeatures(t *testing.T) {
	leaktest.Check(t)
	dir, text := t.TempDir(), sparseText(60, 12000)
	for _, c := range []struct{ flags, want string }{
		{"", "method one-shot: the rows can be read only once"},
		{"--cache " + dir, "method exact (dual-cg): "},
	} {
		code, out, errs := piped(
			t.Context(),
			strings.NewReader(text),
			append(strings.Fields(c.flags), "fit", "--data", "-", "--n-features", "12000", "--gamma", "1")...)
		if code != done || !strings.Contains(out, c.want) || !strings.Contains(out, "\n1 pass over the data") {
			t.Errorf("%s: exit %d, %s%s", c.flags, code, errs, out)
		}
	}
	code, out, errs := piped(
		t.Context(),
		strings.NewReader(sparseText(200, 13000)),
		"fit",
		"--data",
		"-",
		"--n-features",
		"13000",
		"--gamma",
		"100",
		"--size",
		"8",
	)
	if code != done && code != short || !strings.Contains(out, "method one-shot: the rows can be read only once") {
		t.Errorf("many features: exit %d, %s%s", code, errs, out)
	}
}
