package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCacheFlags: with --cache the same model, to the bit, the files read once, and nothing left
// but what --cache-keep keeps, which the next run reads.
func TestCacheFlags(t *testing.T) {
	dir := t.TempDir()
	fit := func(args ...string) (model string, reads float64) {
		t.Helper()
		out := filepath.Join(t.TempDir(), "model")
		got := reported(t, append([]string{
			"fit", "--data", housing, "--target", "last", "--standardize", "--rows", "1:2000", "--features", "poly:2",
			"--size", "10", "--method", "cg", "--gamma", "1", "--json", "--out", out,
		}, args...)...)
		return contents(t, out), got["reads"].(float64)
	}
	want, reads := fit()
	if reads < 5 {
		t.Fatalf("%v reads", reads)
	}
	cache := []string{"--cache", dir}
	for _, c := range []struct {
		flags []string
		reads float64
		files int
	}{
		{nil, 1, 0},                      //
		{[]string{"--cache-keep"}, 1, 1}, //
		{[]string{"--cache-keep", "--threads", "1"}, 0, 1},   //
		{[]string{"--cache-keep", "--rows", "1:2000"}, 0, 1}, // as it was
		{[]string{"--cache-keep", "--columns", "-1"}, 1, 2},  // other rows
		{[]string{"--cache-keep", "--tol", "1e-6"}, 0, 2},    // of the same rows
	} {
		args := slices.Concat(cache, c.flags)
		got, reads := fit(args...)
		same := !slices.Contains(args, "--columns") && !slices.Contains(args, "--tol")
		if same && got != want {
			t.Errorf("%v: another model", c.flags)
		}
		left, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if reads != c.reads || len(left) != c.files {
			t.Errorf("%v: %v reads and files %v, want %v and %d", c.flags, reads, left, c.reads, c.files)
		}
	}
	code, _, errs := call(
		"fit",
		"--data",
		housing,
		"--target",
		"last",
		"--gamma",
		"1",
		"--size",
		"6",
		"--method",
		"cg",
		"--out",
		filepath.Join(t.TempDir(), "m"),
		"--cache",
		dir,
		"--cache-gib",
		"1e-6",
	)
	if code != 0 || !strings.Contains(errs, "warning: --cache: ") || !strings.Contains(errs, "more than 1073 bytes") {
		t.Errorf("full: exit %d, %s", code, errs)
	}
	for _, c := range []struct{ args, want []string }{
		{[]string{"--cache-keep"}, []string{"it needs --cache"}},
		{[]string{"--cache", dir, "--cache-gib", "0"}, []string{"--cache-gib", "positive"}},
		{[]string{"--cache", housing}, []string{"--cache", housing}},
		{[]string{"--cache", filepath.Join(dir, "none")}, []string{"--cache", "none"}},
	} {
		code, _, errs := call(
			append([]string{"fit", "--data", housing, "--target", "last", "--gamma", "1"}, c.args...)...)
		if code != 2 {
			t.Errorf("%v: exit %d", c.args, code)
		}
		for _, want := range c.want {
			if !strings.Contains(errs, want) {
				t.Errorf("%v: %s does not say %q", c.args, errs, want)
			}
		}
	}
}
