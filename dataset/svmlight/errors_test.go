package svmlight

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/fdridge/fdridge/dataset"
)

// TestErrors: what a file gets wrong, behind its name, where it stands.
func TestErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	label := Options{Targets: 1}
	for _, c := range []struct {
		name, text string
		opts       Options
		nonFinite  bool
		want       string
	}{
		{"two targets", "1 1:1\n", Options{Targets: 2}, false, ": a svmlight file has one target, its label; 2 were requested"},
		{"no rows", "\n# 1\n", label, false, ": has no rows"},
		{"labels alone", "1\n2\n", label, false, ": has no features: every row is only a label"},
		{"no pair", "1 1:1\n1 1:1 x\n", label, false, ":2:7: \"x\" is not index:value"},
		{"no index", "1 a:1\n", label, false, ":1:3: \"a\" is not an index"},
		{"index 0", "1 0:1\n", Options{Targets: 1, First: new(1)}, false, ":1:3: index 0, but the first rows count from 1; if all rows count from 0, say so (--first-index 0)"},
		{"index beyond", "1 1:1 3:1\n", Options{Features: 2}, false, ":1:7: index 3 is more than the 2 features"},
		{"order", "1 2:1 2:1\n", label, false, ":1:7: index 2 after index 2: they must increase"},
		{"value beyond the range", "1 1:1\n\n1 1:1e999\n", label, true, ":3:5: value 1e999 exceeds the range of float64"},
		{"label beyond the range", "-1e999 1:1\n", label, true, ":1:1: label -1e999 exceeds the range of float64"},
		{"several labels", "1,2 1:1\n", label, false, ":1:1: label \"1,2\" has several targets instead of one"},
		{"no label", "x 1:1\n", label, false, ":1:1: label \"x\" is not a number"},
		{"no value", "1 1:\n", label, false, ":1:5: value \"\" is not a number"},
		{"underscores", "1 1:1_000\n", label, false, ":1:5: value \"1_000\" is not a number"},
		{"hexadecimal", "0x1p4 1:1\n", label, false, ":1:1: label \"0x1p4\" is not a number"},
		{"infinite", "1 1:Inf\n", label, true, ":1:5: value Inf is not finite"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path, c.opts)
		if err == nil {
			for _, err = range s.Blocks(t.Context()) {
			}
		}
		e, ok := errors.AsType[*dataset.InputError](err)
		if !ok || e.Error() != path+c.want || e.NonFinite != c.nonFinite {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestShareOfGzip: a compressed file has no shares.
func TestShareOfGzip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := gzip.NewWriter(f)
	_, err = w.Write([]byte("1 1:1\n2 1:1\n"))
	if err := errors.Join(err, w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{Range: dataset.Range{Lo: 2, Hi: 9}}); err == nil ||
		err.Error() != path+": is a gzip stream, which cannot be read in parts; decompress it" {
		t.Error(err)
	}
}
