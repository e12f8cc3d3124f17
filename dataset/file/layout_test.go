package file_test

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
)

// TestLayout: files that don't go together are both named, with their places in the list
// and what differs; files without names go with any.
func TestLayout(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"a.csv": "a,b,y\n1,2,3\n", "bare.csv": "4,5,6\n", "wide.csv": "a,b,c,y\n1,2,3,4\n", "other.csv": "a,c,y\n1,2,3\n",
		"turned.csv": "b,a,y\n1,2,3\n",
		"target.csv": "a,b,z\n1,2,3\n", "a.svm": "1 1:2\n", "wide.svm": "1 9:2\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for list, want := range map[string]string{
		"a.csv,bare.csv,a.csv": "",
		"a.svm,wide.svm,a.svm": "",
		"a.csv,wide.csv": "wide.csv: has 3 features and 1 targets, a.csv has 2 and 1 (files 2 and 1 of " +
			"the list)",
		"bare.csv,bare.csv,wide.csv": "wide.csv: has 3 features and 1 targets, bare.csv has 2 and 1 (files 3 and 1 of " +
			"the list)",
		"bare.csv,a.csv,other.csv": `other.csv: its columns differ from those of a.csv: feature 2 is "c", not "b" ` +
			`(files 3 and 2 of the list)`,
		"a.csv,turned.csv": `turned.csv: its columns differ from those of a.csv: feature 1 is "b", not "a" ` +
			`(files 2 and 1 of the list)`,
		"a.csv,bare.csv,a.csv,a.svm": "a.svm: is svmlight, but a.csv is csv (files 4 and 1 of the list)",
		"a.csv,bare.csv,./target.csv": `./target.csv: its columns differ from those of a.csv: target 1 is "z", not "y" ` +
			`(files 3 and 1 of the list)`,
	} {
		opts := file.Options{Target: []string{"last"}, Targets: 1}
		if strings.HasSuffix(list, ".svm") {
			opts.Target = nil
		}
		if list == "a.csv,bare.csv,a.csv,a.svm" {
			opts = file.Options{} // a svmlight file has no column to be the target
		}
		opened, err := file.Open(strings.Split(list, ","), opts)
		if want == "" && err == nil {
			if _, d, _ := opened.Dims(); d != opened.Features || opened.Number != 1 {
				t.Errorf("%s: %d features, said to be %+v", list, d, opened.Layout)
			}
			continue
		}
		var input *dataset.InputError
		if err == nil || err.Error() != want || !errors.As(err, &input) {
			t.Errorf("%s: %v, must be %q", list, err, want)
		}
	}
	// The names come from the first file that has names.
	opened, err := file.Open([]string{"bare.csv", "a.csv"}, file.Options{Target: []string{"last"}, Targets: 1})
	if err != nil || strings.Join(opened.Names, " ") != "a b" || strings.Join(opened.TargetNames, " ") != "y" ||
		opened.File != "a.csv" ||
		opened.Number != 2 {
		t.Errorf("%+v, %v", opened.Layout, err)
	}
}

// TestOwnTarget: what is no column is an array of the archive or a file, there or not.
func TestOwnTarget(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no names with a colon")
	}
	t.Chdir(t.TempDir())
	array := npy("<f8", "False", "(2, 1)", floats(le, 1, 2))
	for name, text := range map[string]string{
		"a.csv": "y,w\n1,2\n", "y": "1\n", "x": "1\n", "rows.zip": npz(t, zip.Store, "x.npy", array, "w.npy", array),
		"odd:name.csv": "1\n", "x:w": "1\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range [][3]string{
		{"a.csv", "y", ""}, {"a.csv", "last", ""}, {"a.csv", "2", ""}, {"a.csv", "z", ""}, {"a.csv", "x", "x"},
		{"a.csv", "none.npy", "none.npy"},
		{"a.csv", "rows.zip:w", "rows.zip:w"}, {"a.csv", "odd:name.csv", "odd:name.csv"},
		{"rows.zip", "w", "rows.zip:w"}, {"rows.zip:x", "w", "rows.zip:w"}, {"rows.zip", "y", "y"}, {"rows.zip", "z", ""},
	} {
		if got, err := file.OwnTarget(c[0], file.Options{Target: []string{c[1]}}); err != nil || got != c[2] {
			t.Errorf("%q of %s: %q, %v, want %q", c[1], c[0], got, err, c[2])
		}
	}
	if _, err := file.OwnTarget("none.csv", file.Options{Target: []string{"y"}}); err == nil {
		t.Error("a file that isn't there has no error")
	}
	for path, want := range map[string][2]string{
		"rows.zip:x": {"rows.zip", "x"}, "rows.zip": {"rows.zip", ""}, "odd:name.csv": {"odd:name.csv", ""},
		"x:w": {"x:w", ""}, "none.npz:x": {"none.npz", "x"}, "none.csv:x": {"none.csv:x", ""},
		filepath.Join(".", "y:w"): {"y", "w"},
	} {
		if name, array := file.SplitArray(path); name != want[0] || array != want[1] {
			t.Errorf("%s: %q, %q", path, name, array)
		}
	}
}
