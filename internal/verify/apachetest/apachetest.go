// Package apachetest compares a reader of this module with an independent reader, on the test files of Apache
// Parquet and Apache Arrow.
package apachetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
)

// A Reader is a reader under test.
type Reader struct {
	IsInput func(path string) bool // whether the reader reads the file
	Columns func(path string) ([]string, error)
	// Open opens one column. Missing values must become NaN.
	Open func(path, column string) (dataset.Source, error)
	// More lists files that the independent reader cannot read, or reads wrongly.
	More []string
	// Refused lists parts of file names. Files whose names contain such a part can be read only by the independent
	// reader.
	Refused []string
}

// A column describes the numbers in a column of a file, as the independent reader has read them.
type column struct {
	values, infinite string
	hash             string
}

// Run reads all test files by r, and compares the columns with the results of an independent reader. These results
// are in the file expected, one line for each column of numbers. A line has the file name, the number of the
// column, the numbers of values and of infinite values, and a hash of the values' bits. A line with the word error
// marks a file that the independent reader cannot read.
//
// The folder that the variable FDRIDGE_APACHE names must contain checkouts of parquet-testing and arrow-testing. If
// the variable is not set, Run uses the folder that FDRIDGE_DATA names. If there are no checkouts, the test is
// skipped.
func Run(t *testing.T, expected string, r Reader) {
	folder := os.Getenv("FDRIDGE_APACHE")
	if folder == "" {
		folder = os.Getenv("FDRIDGE_DATA")
	}
	if _, err := os.Stat(filepath.Join(folder, "parquet-testing")); folder == "" || err != nil {
		t.Skip(
			"SKIPPED: Apache's test files are not read, because FDRIDGE_APACHE names no folder with checkouts of " +
				"apache/parquet-testing and apache/arrow-testing",
		)
	}
	want, failed := load(t, expected)
	files, read, extra, refused := 0, 0, 0, 0
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !r.IsInput(filepath.ToSlash(path)) {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		files++
		columns, err := r.Columns(path)
		if !isInputError(err) {
			t.Errorf("%s: %v", name, err)
		}
		for j := range columns {
			key := fmt.Sprint(name, " ", j+1)
			got, err := r.read(path, strconv.Itoa(j+1))
			if !isInputError(err) {
				t.Errorf("%s: %v", key, err)
			}
			w, known := want[key]
			delete(want, key)
			known = known && !strings.Contains(name, "/bad_data/") && !slices.Contains(r.More, name)
			switch e, _ := errors.AsType[*dataset.InputError](err); {
			case known && err == nil && got != w:
				t.Errorf("%s: %v, want %v", key, got, w)
			case known && err != nil && w.values == "0" && strings.Contains(err.Error(), "has no rows"):
				refused++
			case known && err != nil && r.refuses(name):
				refused++
			case known && err != nil && w.infinite == "0":
				t.Errorf("%s: %v", key, err)
			case known && err != nil && !e.NonFinite && !strings.Contains(e.Msg, "beyond 2⁵³"):
				t.Errorf("%s: %v", key, err)
			case known && err == nil:
				read++
			case err != nil:
				refused++
			case slices.Contains(r.More, name) || failed[name] || strings.Contains(name, "/bad_data/"):
				extra++
			default:
				t.Errorf("%s: %v were read; the other reader has no numbers", key, got)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for key := range want {
		if name, _, _ := strings.Cut(key, " "); exists(folder, name) && !r.refuses(name) {
			t.Errorf("%s was not read", key)
		}
	}
	t.Logf(
		"%d files: %d columns have the same bits, %d columns only this reader reads, %d are refused",
		files,
		read,
		extra,
		refused,
	)
}

func (r *Reader) refuses(name string) bool {
	return slices.ContainsFunc(r.Refused, func(part string) bool { return strings.Contains(name, part) })
}

func exists(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, filepath.FromSlash(name)))
	return err == nil
}

func isInputError(err error) bool {
	_, ok := errors.AsType[*dataset.InputError](err)
	return ok || err == nil
}

// load returns the columns in the file expected. The keys are the file name and the number of the column. failed
// has the files that the independent reader cannot read.
func load(t *testing.T, expected string) (columns map[string]column, failed map[string]bool) {
	f, err := os.Open(expected)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // opened for reading, so an error of Close does no harm
	columns, failed = map[string]column{}, map[string]bool{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) != 5 {
			failed[fields[0]] = true
			continue
		}
		columns[fields[0]+" "+fields[1]] = column{fields[2], fields[3], fields[4]}
	}
	if lines.Err() != nil || len(columns) == 0 {
		t.Fatal(expected, lines.Err())
	}
	return columns, failed
}

// read reads one column.
func (r *Reader) read(path, number string) (column, error) {
	src, err := r.Open(path, number)
	if err != nil {
		return column{}, err
	}
	h, n := fnv.New64a(), 0
	for b, err := range src.Blocks(context.Background()) {
		if err != nil {
			return column{}, err
		}
		for _, v := range b.X {
			n++
			text := "NaN"
			if v == v {
				text = strconv.FormatUint(math.Float64bits(v), 16)
			}
			fmt.Fprintln(h, text)
		}
	}
	return column{strconv.Itoa(n), "0", fmt.Sprintf("%016x", h.Sum64())}, nil
}
