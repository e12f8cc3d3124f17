package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/fdridge/fdridge/dataset"
)

// TestParallelReadFindsFirstError: parts of a block are read in parallel. Of several bad entries, the error names the
// first. A file that has become shorter is an error, and so are bytes after the last row.
func TestParallelReadFindsFirstError(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	const n, cols = 20000, 8
	path := filepath.Join(t.TempDir(), "x.npy")
	whole := text(1, "False", fmt.Sprintf("(%d, %d)", n, cols), n*cols)
	start := len(whole) - 8*n*cols
	open := func(data []byte) *dataset.Stream {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.BlockRows = n
		return s
	}
	// read are the rows that came before an error.
	read := func(s *dataset.Stream) (rows int, err error) {
		for b, err := range s.Blocks(t.Context()) {
			if err != nil {
				return rows, err
			}
			rows += b.N
		}
		return rows, nil
	}
	if rows, err := read(open(whole)); rows != n || err != nil {
		t.Fatalf("%d rows, %v", rows, err)
	}
	bad := append([]byte(nil), whole...)
	for _, entry := range []int{7000*cols + 3, 7001 * cols, 19000 * cols} {
		binary.LittleEndian.PutUint64(bad[start+8*entry:], math.Float64bits(math.NaN()))
	}
	_, err := read(open(bad))
	wrong, ok := errors.AsType[*dataset.InputError](err)
	if !ok || wrong.Line != 7001 || wrong.Column != 4 || !wrong.NonFinite {
		t.Errorf("entries that are not finite: %v", err)
	}
	s := open(whole)
	if err := os.Truncate(path, int64(start+8*cols*12345+5)); err != nil {
		t.Fatal(err)
	}
	if rows, err := read(s); rows != 0 || err == nil {
		t.Errorf("a file that has become shorter: %d rows, %v", rows, err)
	}
	if err := os.WriteFile(path, append(whole[:len(whole):len(whole)], 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(path, Options{}); err == nil {
		_, err = read(s)
		if err == nil {
			t.Error("a byte behind the last row is not told")
		}
	}
}
