package npy

import (
	"archive/zip"
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sbinet/npyio"
	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
)

// TestWriteAsNumPy: Write writes the bytes that NumPy writes, header included, and the numbers can be read back. The
// entries begin at a multiple of 64 bytes for every shape.
func TestWriteAsNumPy(t *testing.T) {
	for _, c := range [][2]int{{1, 1}, {1, 3}, {3, 1}, {10, 10}, {100, 9}, {1, 12345}, {1, 123456}, {1234567, 1}} {
		data := make([]float64, c[0]*c[1])
		for i := range data {
			data[i] = math.Sin(float64(i))
		}
		var b bytes.Buffer
		if err := Write(&b, c[0], c[1], data); err != nil {
			t.Fatal(err)
		}
		start := b.Len() - 8*len(data)
		if start%64 != 0 || b.Bytes()[start-1] != '\n' {
			t.Errorf("%v: the entries begin at byte %d", c, start)
		}
		path := filepath.Join(t.TempDir(), "x.npy")
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []float64
		for block, err := range s.Blocks(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, block.X...)
		}
		if n, d, _ := s.Dims(); n != int64(c[0]) || d != c[1] || !slices.Equal(got, data) {
			t.Errorf("%v: %d×%d, or other numbers", c, n, d)
		}
		var other mat.Dense
		if err := npyio.Read(&b, &other); err != nil || !slices.Equal(other.RawMatrix().Data, data) {
			t.Errorf("%v: npyio: %v", c, err)
		}
	}
	var b bytes.Buffer
	if err := Write(&b, 1, 3, make([]float64, 3)); err != nil {
		t.Fatal(err)
	}
	// NumPy 1.24 writes this header.
	want := "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1, 3), }" + strings.Repeat(" ", 58) +
		"\n"
	if got := string(b.Bytes()[:128]); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// full is a disk with room for so many bytes.
type full int

func (f *full) Write(p []byte) (int, error) {
	if *f < full(len(p)) {
		return 0, errDisk
	}
	*f -= full(len(p))
	return len(p), nil
}

// TestWriteFails: a shape that is another number of entries, or a disk that is full.
func TestWriteFails(t *testing.T) {
	for _, c := range [][2]int{{2, 2}, {-1, -3}, {1, 4}} {
		var b bytes.Buffer
		if err := Write(&b, c[0], c[1], make([]float64, 3)); !errors.Is(err, dataset.ErrShape) || b.Len() > 0 {
			t.Errorf("%v: %v, %d bytes", c, err, b.Len())
		}
	}
	for _, n := range []int{3, 100000} {
		for _, room := range []full{0, 100} {
			if err := Write(&room, 1, n, make([]float64, n)); !errors.Is(err, errDisk) {
				t.Error(err)
			}
		}
	}
}

// TestDuplicateMembers: an archive with two members of a name does not say which is meant.
func TestDuplicateMembers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npz")
	array := string(text(1, "False", "(4, 1)", 4))
	for name, want := range map[string]string{"x.npy": ": has two members called \"x.npy\": ", "y.npy": ""} {
		if err := os.WriteFile(path, archive(t, "x.npy", array, name, array), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := OpenMember(path, "x", Options{})
		_, again := Members(path)
		for _, err := range []error{err, again} {
			if want == "" {
				if err != nil {
					t.Error(err)
				}
				continue
			}
			if e, ok := errors.AsType[*dataset.InputError](err); !ok || !strings.HasPrefix(e.Error(), path+want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
}

// archive is a .npz archive of members, names and contents in turn.
func archive(t *testing.T, members ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(members); i += 2 {
		m, err := w.Create(members[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Write([]byte(members[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
