package parquet_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/parquet"
)

// TestErrors: what is refused when a file is opened, behind its name.
func TestErrors(t *testing.T) {
	one := []float64{1}
	plain := write(
		t,
		encode(
			t,
			1,
			[]column{{node("a", false, double, nil), one, nil}, {node("b", false, double, nil), one, nil}},
			layout{},
		),
	)
	absent := filepath.Join(t.TempDir(), "absent")
	for _, c := range []struct {
		name, path string
		opts       parquet.Options
		want       string
	}{
		{"absent", absent, parquet.Options{}, ": no such file"},
		{
			"no such column", plain, parquet.Options{Columns: []string{"c"}},
			": there is no column \"c\"; the 2 columns are a, b",
		},
		{"none left", plain, parquet.Options{Targets: []string{"a", "b"}}, ": no column is left for the features"},
	} {
		_, err := parquet.Open(c.path, c.opts)
		_, _, err2 := parquet.Names(c.path, c.opts)
		for _, err := range []error{err, err2} {
			if e, ok := errors.AsType[*dataset.InputError](err); !ok || e.Error() != c.path+c.want {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
		}
	}
	if _, err := parquet.Columns(absent); err == nil || err.Error() != absent+": no such file" {
		t.Error(err)
	}
}

// TestChangedColumn: if a column has become text by the next pass, the pass fails. A pass over a deleted file fails,
// too.
func TestChangedColumn(t *testing.T) {
	path := write(t, encode(t, 1, []column{{node("a", false, double, nil), []float64{1, 2}, nil}}, layout{}))
	s, err := parquet.Open(path, parquet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Stamp = dataset.Stamp{}
	text := column{node("a", false, bytesType, as(1)), []string{"x", "y"}, nil}
	if err := os.WriteFile(path, encode(t, 1, []column{text}, layout{}), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		": column a holds text or categories; encode it as numbers, or leave it out", ": no such file",
	} {
		_, err := contents(s)
		if e, ok := errors.AsType[*dataset.InputError](err); !ok || e.Error() != path+want {
			t.Errorf("%v, want %q", err, want)
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDamagedBeyond: a pass over a damaged file, whole or begun amid the rows, has an
// error with the file, or numbers, but no panic, and it ends. Of the bytes every third is
// damaged, and every one where FDRIDGE_THOROUGH is set.
func TestDamagedBeyond(t *testing.T) {
	whole := encode(
		t,
		2,
		[]column{
			{node("a", true, double, nil), sequence(50), slicesOf(50)},
			{node("b", false, long, nil), make([]int64, 50), nil},
		},
		layout{codec: snap, encoding: indices, pageRows: 12},
	)
	failed, path, step := 0, write(t, whole), 3
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		step = 1
	}
	for i := 0; i < len(whole); i += step {
		bent := bytes.Clone(whole)
		bent[i] ^= 0x55
		rewrite(t, path, bent)
		s, err := parquet.Open(path, parquet.Options{})
		if err != nil {
			continue
		}
		s.BlockRows = 7
		for _, first := range []int64{0, 75} {
			for _, err = range dataset.From(context.Background(), s, first) {
			}
			if err == nil {
				continue
			}
			failed++
			if e, ok := errors.AsType[*dataset.InputError](err); !ok || !strings.HasPrefix(e.Error(), path+":") {
				t.Errorf("byte %d: %v", i, err)
			}
		}
	}
	if failed == 0 {
		t.Error("no byte did harm")
	}
}
