package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestUnpenalizedFlag: columns without penalty by names, numbers, ranges and a penalty file come to the same model. The
// report names them. What cannot be fitted names its flags and columns.
func TestUnpenalizedFlag(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	data := write(t, "banded.csv", bandedCSV(300))
	penalty := write(t, "p.csv", strings.Repeat("0\n", 3)+strings.Repeat("1\n", 9))
	fit := []string{"fit", "--data", data, "--target", "y", "--gamma", "40"}
	with := func(more ...string) []string { return append(slices.Clone(fit), more...) }
	text := must(t, with("--unpenalized", "a1,3,a2", "--out", in("names"))...)
	if want := "no penalty: a1, a2, a3"; !strings.Contains(text, want) {
		t.Errorf("%s does not say %q", text, want)
	}
	must(
		t,
		with(
			"--unpenalized",
			"a1-a3",
			"--method",
			"cg",
			"--size",
			"3",
			"--checkpoint",
			in("job"),
			"--out",
			in("range"),
		)...)
	must(
		t,
		with("--penalty", penalty, "--out", in("file"), "--report", in("page.html"), "--save-sketch", in("kept"))...)
	must(t, "solve", in("kept"), "--gamma", "40") // of all columns, with the penalty 1
	ones := write(t, "ones.csv", strings.Repeat("1\n", 12))
	must(t, with("--unpenalized", "a1-a3", "--penalty", ones, "--out", in("both"))...)
	near(t, "both", in("both"), in("names"), 1e-9)
	must(t, with("--unpenalized", "1-3", "--bands", "b1-b9=1", "--standardize", "--out", in("scaled"))...)
	near(t, "range", in("range"), in("names"), 1e-7)
	near(t, "file", in("file"), in("names"), 1e-9)
	page, err := os.ReadFile(in("page.html"))
	if err != nil || !strings.Contains(string(page), "no penalty: a1, a2, a3") {
		t.Errorf("the page does not name the columns without penalty: %v", err)
	}
	if text := must(t, "show", in("names")); strings.Contains(text, "inf") {
		t.Errorf("show: %s", text)
	}
	must(t, "predict", "--model", in("names"), "--data", data, "--target", "y")
	must(t, "predict", "--model", in("names"), "--data", data, "--target", "y", "--interval", in("names"))
	must(t, "fit", "--data", data, "--target", "y", "--select", "loo", "--method", "dual", "--unpenalized", "a1")
	twice := write(t, "twice.csv", "a,b,c,y\n1,2,3,1\n4,1,5,0\n2,2,4,3\n0,7,7,2\n5,0,5,9\n3,2,5,1\n")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"unknown":  {with("--unpenalized", "a1,z"), `--unpenalized: "z"`},
		"features": {with("--unpenalized", "a1", "--features", "poly:2"), "--unpenalized"},
		"band":     {with("--unpenalized", "a1", "--bands", "a1-a3=2"), "is also in"},
		"sum": {
			[]string{"fit", "--data", twice, "--target", "y", "--gamma", "1", "--unpenalized", "1-3"},
			"every column is without penalty",
		},
		"sketches": {
			[]string{"sketch", "--data", data, "--target", "y", "--penalty", penalty, "-o", in("s")},
			"which only fit accepts",
		},
		"interval": {
			[]string{"predict", "--model", in("names"), "--data", data, "--target", "y", "--interval", in("kept")},
			"have no penalty",
		},
	} {
		if code, _, errs := call(c.args...); code != usage || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit %d, %s", name, code, errs)
		}
	}
	dummies := write(
		t,
		"dummies.csv",
		"w,x,c=1,c=2,y\n1,2,1,0,1\n4,1,0,1,0\n2,2,1,0,3\n0,7,0,1,2\n5,0,1,0,9\n3,2,0,1,1\n",
	)
	code, _, errs := call("fit", "--data", dummies, "--target", "y", "--gamma", "1", "--unpenalized", "c=1,c=2")
	if code != usage || !strings.Contains(errs, "column c=2 is a linear combination of c=1") {
		t.Errorf("two columns that sum to 1: exit %d, %s", code, errs)
	}
}
