package file_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/arrow"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/jsonl"
	arrays "github.com/fdridge/fdridge/dataset/npy"
	"github.com/fdridge/fdridge/dataset/parquet"
	"github.com/fdridge/fdridge/dataset/svmlight"
)

// TestAbsent: a file that there is not, or not any more when a pass begins, is fs.ErrNotExist to every
// reader, and bad input.
func TestAbsent(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "absent")
	check := func(name string, err error) {
		t.Helper()
		if !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, dataset.ErrInput) ||
			!strings.HasSuffix(err.Error(), ": no such file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"csv":      func() error { _, err := csv.Open(absent, csv.Options{}); return err }(),
		"jsonl":    func() error { _, err := jsonl.Open(absent, jsonl.Options{}); return err }(),
		"svmlight": func() error { _, err := svmlight.Open(absent, svmlight.Options{}); return err }(),
		"npy":      func() error { _, err := arrays.Open(absent, arrays.Options{}); return err }(),
		"npz":      func() error { _, err := arrays.OpenMember(absent, "x", arrays.Options{}); return err }(),
		"parquet":  func() error { _, err := parquet.Open(absent, parquet.Options{}); return err }(),
		"arrow":    func() error { _, err := arrow.Open(absent, arrow.Options{}); return err }(),
		"columns":  func() error { _, err := csv.Columns(absent, csv.Options{}); return err }(),
	} {
		check(name, err)
	}
	for _, format := range []string{"", "csv", "jsonl", "svmlight", "npy", "npz", "parquet", "arrow"} {
		_, err := file.Open([]string{absent}, file.Options{Format: format})
		check("any format, "+format, err)
	}
	_, err := dataset.Cached(dataset.NewStream(1, 1, 0, false, nil), dataset.CacheOptions{Dir: absent})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory for rows: %v", err)
	}

	name := write(t, "1,2\n3,4\n")[0]
	src, err := csv.Open(name, csv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	for _, err := range src.Blocks(t.Context()) {
		check("a pass", err)
	}
}
