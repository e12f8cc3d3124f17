package file

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
)

// TestFormats holds each format to what the others count on: it opens, it is recognised by
// what is said of it, and nothing is said of two.
func TestFormats(t *testing.T) {
	seen := map[string]string{}
	for _, f := range formats() {
		if f.open == nil || len(f.suffixes) == 0 || (f.columns == nil) != (f.chosen == nil) && f.arrays == nil ||
			(f.widen != nil) != f.labelled ||
			f.columns != nil && f.arrays != nil {
			t.Errorf("%s is not complete", f.name)
		}
		if !slices.Contains(Formats, f.name) || Numbered(f.name) != f.numbered || Labelled(f.name) != f.labelled {
			t.Errorf("%s is not found by its name", f.name)
		}
		for _, mark := range slices.Concat([]string{f.name}, f.suffixes, f.magic) {
			if other, ok := seen[mark]; ok {
				t.Errorf("%q is said of %s and of %s", mark, f.name, other)
			}
			seen[mark] = f.name
		}
		for _, magic := range f.magic {
			path := filepath.Join(t.TempDir(), "data")
			if err := os.WriteFile(path, []byte(magic+"…"), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := Format(path, Options{Format: "auto"}); got != f.name || err != nil {
				t.Errorf("what begins with %q is taken for %s (%v), not %s", magic, got, err, f.name)
			}
		}
		for _, suffix := range f.suffixes {
			if got := suffixFormat("a" + suffix + ".gz"); got != f.name {
				t.Errorf("the suffix %s is taken for %q, not %s", suffix, got, f.name)
			}
		}
	}
	if _, _, err := (&Opened{}).openPart(part{path: "nowhere"}, Options{Format: "arff"}); err == nil ||
		err.Error() != errUnknown("arff").Error() {
		t.Errorf("a format that there is not: %v", err)
	}
}

// TestColumns checks that the names of a header are found, and that where a format has none
// there are none.
func TestColumns(t *testing.T) {
	for text, want := range map[string][]string{"a,b\n1,2\n": {"a", "b"}, "1,2\n3,4\n": nil, "1 1:2\n": nil} {
		path := filepath.Join(t.TempDir(), "rows")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Columns(path, Options{}); !slices.Equal(got, want) || err != nil {
			t.Errorf("%q: columns %q (%v), want %q", text, got, err, want)
		}
	}
	if _, err := Columns("testdata/nowhere", Options{}); !errors.Is(err, dataset.ErrInput) {
		t.Errorf("a file that is not there: %v", err)
	}
}
