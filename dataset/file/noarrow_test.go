//go:build noarrow

package file_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
)

// TestWithoutArrow: Parquet and Arrow files are known by their first bytes, or by their name, and
// refused in words; all else is read.
func TestWithoutArrow(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if got := file.LeftOut(); !slices.Equal(got, []string{"parquet", "arrow"}) {
		t.Errorf("left out: %v", got)
	}
	for path, format := range map[string]string{
		write("a", "PAR1 and more"): "parquet", write("b", "ARROW1\x00\x00"): "arrow", write("c.bin", "\xff\xff\xff\xff\x10\x00\x00\x00"): "arrow",
	} {
		for _, opts := range []file.Options{{}, {Format: format}, {Target: []string{"y"}, Targets: 1}, {Columns: []string{"1"}}} {
			_, err := file.Open([]string{path}, opts)
			if e, ok := errors.AsType[*dataset.InputError](err); !ok || e.File != path || !strings.Contains(err.Error(), format) || !strings.Contains(err.Error(), "noarrow") {
				t.Errorf("%s: %v", path, err)
			}
		}
		if _, err := file.Columns(path, file.Options{}); err == nil || !strings.Contains(err.Error(), "noarrow") {
			t.Errorf("the columns of %s: %v", path, err)
		}
		if !file.Numbered(format) {
			t.Errorf("%s is another format than it was", format)
		}
	}
	src, err := file.Open([]string{write("rows.csv", "a,b,y\n1,2,3\n4,5,6\n")}, file.Options{Target: []string{"y"}, Targets: 1})
	if err != nil {
		t.Fatal(err)
	}
	var rows int
	for b, err := range src.Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		rows += b.N
	}
	if rows != 2 {
		t.Errorf("%d rows", rows)
	}
}
