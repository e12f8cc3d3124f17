package file_test

import (
	"archive/zip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
)

// hourAgo is when the files of these tests are made, for clocks of file systems tick
// slower than the tests run.
var hourAgo = time.Now().Add(-time.Hour)

// aged writes a file that is an hour old.
func aged(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, hourAgo, hourAgo)); err != nil {
		t.Fatal(err)
	}
	return path
}

// A changing is data of changingRows rows in the files paths. Tests change one file, change.
type changing struct {
	paths  []string
	opts   file.Options
	change string
}

const changingRows = 400

func changingFiles(t *testing.T) map[string]changing {
	var csv, svm, lines strings.Builder
	var x []float64
	for i := range changingRows {
		fmt.Fprintf(&csv, "%d,%d,%d\n", i, i+1, i+2)
		fmt.Fprintf(&lines, "{\"a\":%d,\"b\":%d,\"c\":%d}\n", i, i+1, i+2)
		fmt.Fprintf(&svm, "%d 1:%d 2:1\n", i, i+1)
		x = append(x, float64(i), 1, 2)
	}
	shape := fmt.Sprintf("(%d, 3)", changingRows)
	array := npy("<f8", "False", shape, floats(le, x...))
	last := file.Options{Target: []string{"last"}, Targets: 1}
	one := func(name, text string, opts file.Options) changing {
		path := aged(t, name, text)
		return changing{[]string{path}, opts, path}
	}
	beside := one("x.npy", array, file.Options{Targets: 1})
	beside.change = aged(
		t,
		"y.npy",
		npy("<f8", "False", fmt.Sprintf("(%d, 1)", changingRows), floats(le, x[:changingRows]...)),
	)
	beside.opts.Target = []string{beside.change}
	second := one("first.csv", csv.String(), last)
	second.change = aged(t, "second.csv", csv.String())
	second.paths = append(second.paths, second.change)
	part := one("x.csv", csv.String(), last)
	part.opts.Share = dataset.Share{Rank: 1, Size: 2}
	rows := one("x.npy", array, last)
	rows.opts.Share = dataset.Share{Rank: 1, Size: 2}
	return map[string]changing{
		"csv":             one("x.csv", csv.String(), last),
		"gzip":            one("x.csv.gz", zipped(t, csv.String()), last),
		"zstd":            one("x.csv.zst", zstandard(t, csv.String()), last),
		"JSON lines":      one("x.jsonl", lines.String(), last),
		"svmlight":        one("x.svm", svm.String(), file.Options{Targets: 1}),
		"known width":     one("x.svm", svm.String(), file.Options{Targets: 1, Features: 3}),
		"npy":             one("x.npy", array, last),
		"Fortran":         one("x.npy", npy("<f8", "True", shape, floats(le, x...)), last),
		"npy, compressed": one("x.npy.gz", zipped(t, array), last),
		"stored":          one("x.npz", npz(t, zip.Store, "x.npy", array), last),
		"deflated":        one("x.npz", npz(t, zip.Deflate, "x.npy", array), last),
		"Parquet":         one("x.parquet", parquetFile(t, []string{"a", "b", "c"}, changingRows, x), last),
		"targets":         beside,
		"a second file":   second,
		"bytes":           part,
		"rows":            rows,
	}
}

// TestChangedBetweenPasses: if a file was written to after it was opened, the next pass ends with an error. A change of
// only the time, or of only the size, is enough.
func TestChangedBetweenPasses(t *testing.T) {
	for how, change := range map[string]func(path string) error{
		"time": func(path string) error { return os.Chtimes(path, hourAgo, hourAgo.Add(time.Nanosecond)) },
		"size": func(path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			return errors.Join(os.Truncate(path, info.Size()-1), os.Chtimes(path, hourAgo, hourAgo))
		},
	} {
		for name, c := range changingFiles(t) {
			o := opened(t, c.paths, c.opts)
			for range 2 {
				if _, err := contents(o); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			if err := change(c.change); err != nil {
				t.Fatal(err)
			}
			_, err := contents(o)
			e, ok := errors.AsType[*dataset.ChangedError](err)
			if !ok || e.File != c.change || e.Was.Same(e.Is) ||
				!strings.HasPrefix(err.Error(), c.change+": changed while it was in use: it is ") {
				t.Errorf("%s, %s: %v", name, how, err)
			}
		}
	}
}

// TestChangedInPass: a file that is written to in place while a pass reads it ends the
// pass, though what was written is read as numbers, or was never read.
func TestChangedInPass(t *testing.T) {
	for name, c := range changingFiles(t) {
		o := opened(t, c.paths, c.opts)
		if s, ok := o.Source.(*dataset.Stream); ok {
			s.BlockRows = 4
		} else if name != "rows" && name != "targets" && name != "a second file" {
			t.Fatalf("%s: %T", name, o.Source)
		}
		if _, err := contents(o); err != nil {
			t.Fatal(err)
		}
		var err error
		for b, failed := range o.Blocks(t.Context()) {
			err = failed
			if failed != nil || b.First > 0 {
				continue
			}
			f, err := os.OpenFile(c.change, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			info, err := f.Stat()
			if err == nil {
				_, err = f.WriteAt([]byte("0"), info.Size()/2)
			}
			if err := errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
		}
		// Of these the few rows were all read before the first was handed on.
		if read := name == "rows" || name == "targets"; read {
			_, err = contents(o)
		}
		if e, ok := errors.AsType[*dataset.ChangedError](err); !ok || e.File != c.change || e.Was.Size != e.Is.Size {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReplacedInPass: another file by the same name is not this one, which is read to its
// end; the next pass finds it.
func TestReplacedInPass(t *testing.T) {
	path := aged(t, "x.csv", strings.Repeat("1,2\n", changingRows))
	o := opened(t, []string{path}, file.Options{Target: []string{"last"}, Targets: 1})
	o.Source.(*dataset.Stream).BlockRows = 4
	for b, err := range o.Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if b.First == 0 {
			other := path + ".new"
			err := errors.Join(
				os.WriteFile(other, []byte(strings.Repeat("3,4\n", changingRows)), 0o600),
				os.Rename(other, path),
			)
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := contents(o); !changed(err) {
		t.Error(err)
	}
}

func changed(err error) bool {
	_, ok := errors.AsType[*dataset.ChangedError](err)
	return ok
}

// TestWas: a file that is not what it was seen to be is not opened.
func TestWas(t *testing.T) {
	for name, c := range changingFiles(t) {
		info, err := os.Stat(c.change)
		if err != nil {
			t.Fatal(err)
		}
		c.opts.Was = map[string]dataset.Stamp{c.change: dataset.StampOf(info)}
		opened(t, c.paths, c.opts)
		c.opts.Was[c.change] = dataset.Stamp{Size: info.Size(), ModTime: time.Now()}
		if _, err := file.Open(c.paths, c.opts); !changed(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestChangedInScan: svmlight files that are made as wide as the widest are those that
// were scanned.
func TestChangedInScan(t *testing.T) {
	narrow, wide := aged(t, "a.svm", "1 1:1\n"), aged(t, "b.svm", "1 3:1\n")
	o, err := file.Open([]string{narrow, wide}, file.Options{Targets: 1, Widest: func(d int) (int, error) {
		return d, os.WriteFile(narrow, []byte("1 1:"+strconv.Itoa(d)+"\n"), 0o600)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := contents(o); !changed(err) {
		t.Error(err)
	}
}
