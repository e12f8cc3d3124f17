package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
)

var errDisk = errors.New("the disk fails")

// failing is a text that cannot be read from byte k on.
type failing struct {
	text []byte
	k    int64
}

func (f failing) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) <= f.k {
		return copy(p, f.text[at:]), nil
	}
	return copy(p, f.text[min(at, f.k):f.k]), errDisk
}

// text is an array of float64 in a version of the format.
func text(version byte, fortran, shape string, entries int) []byte {
	dict := fmt.Sprintf("{'descr': '<f8', 'fortran_order': %s, 'shape': %s, }\n", fortran, shape)
	head := append([]byte("\x93NUMPY"), version, 0)
	if version == 1 {
		head = binary.LittleEndian.AppendUint16(head, uint16(len(dict)))
	} else {
		head = binary.LittleEndian.AppendUint32(head, uint32(len(dict)))
	}
	return append(append(head, dict...), make([]byte, 8*entries)...)
}

// opened is an array in a text that fails from byte k on.
func opened(text []byte, k int, seekable bool) (*input, error) {
	at := failing{text, int64(k)}
	in := &input{name: "x.npy", close: func() error { return nil }, unchanged: func() error { return nil }}
	in.wrap = func(err error, row int) error { return wrapMember(in.name, err, row) }
	section := io.NewSectionReader(at, 0, int64(len(text)))
	in.data = section
	if seekable {
		in.at = section
	}
	return in.begin(int64(len(text)), describe)
}

// all reads an array to its end or first error, in blocks of 3 rows.
func all(in *input) error {
	c, err := columns.Choose(columns.Numbers(in.cols), false, nil, nil)
	if err != nil {
		return err
	}
	var r dataset.Reader = newRowReader(in, c)
	if in.fortran {
		r = newColumnReader(in, c)
	}
	var b dataset.Buffer
	for err == nil {
		b.Reset()
		err = r.Read(&b, 3)
	}
	if failed := r.Close(); failed != nil {
		return failed
	}
	return err
}

// TestFailingDisk: a read that fails at any byte of an array ends it with an error that
// has the cause and, behind the header, the row.
func TestFailingDisk(t *testing.T) {
	const n, d = 7, 2
	for _, version := range []byte{1, 2, 3} {
		for _, fortran := range []string{"False", "True"} {
			whole := text(version, fortran, fmt.Sprintf("(%d, %d)", n, d), n*d)
			start := len(whole) - 8*n*d
			for k := range whole {
				in, err := opened(whole, k, true)
				want := "x.npy: the archive cannot be read: the disk fails"
				if err == nil {
					row := (k-start)/(8*d) + 1
					if fortran == "True" { // all rows are in one window
						row = (k-start)/8%n + 1
					}
					want = fmt.Sprintf("x.npy:%d: the archive cannot be read: the disk fails", row)
					err = all(in)
				}
				if (k < start) != (in == nil) || err == nil || err.Error() != want || !errors.Is(err, errDisk) {
					t.Fatalf("version %d, Fortran %s, byte %d: %v, want %q", version, fortran, k, err, want)
				}
			}
			in, err := opened(whole, len(whole), true)
			if err != nil {
				t.Fatal(err)
			}
			if err := all(in); err != io.EOF {
				t.Errorf("version %d, Fortran %s: %v", version, fortran, err)
			}
		}
	}
	long := append(text(1, "False", "(1,)", 1), "more"...)
	if _, err := opened(long, len(long)-4, true); err == nil ||
		err.Error() != "x.npy: the archive cannot be read: the disk fails" {
		t.Errorf("behind the array: %v", err)
	}
	cut := text(2, "False", "(1,)", 1)[:11]
	if _, err := opened(cut, len(cut), false); err == nil || err.Error() != "x.npy: is too short for a .npy file" {
		t.Errorf("amid the length: %v", err)
	}
	huge := []byte("\x93NUMPY\x02\x00\x01\x00\x01\x00")
	if _, err := opened(huge, len(huge), false); err == nil ||
		err.Error() != "x.npy: has a header of 65537 bytes, more than 65536" {
		t.Errorf("a long header: %v", err)
	}
}

// TestSkipToFailure skips rows that can be read, and reads a row that cannot.
func TestSkipToFailure(t *testing.T) {
	whole := text(1, "False", "(4, 1)", 4)
	in, err := opened(whole, len(whole)-16, true)
	if err != nil {
		t.Fatal(err)
	}
	r := newRowReader(in, columns.Choice{To: []int{0}, Features: 1})
	if ok, err := r.Skip(2); !ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
	if err := r.Read(new(dataset.Buffer), 2); err == nil ||
		err.Error() != "x.npy:3: the archive cannot be read: the disk fails" {
		t.Error(err)
	}
}

// TestFailingClose: an array that cannot be closed after its header is refused.
func TestFailingClose(t *testing.T) {
	whole := text(1, "False", "(4, 1)", 4)
	open := func(dataset.Stamp) (*input, error) {
		in, err := opened(whole, len(whole), true)
		if err == nil {
			in.close = func() error { return errDisk }
		}
		return in, err
	}
	_, err := source(open, open, Options{})
	if err == nil || err.Error() != "x.npy: the archive cannot be read: the disk fails" {
		t.Error(err)
	}
}

// TestChangedFile: a file that is gone, or of another shape, at the next pass is an
// error then.
func TestChangedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	write := func(text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text(1, "False", "(4, 1)", 4))
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Stamp = dataset.Stamp{}
	write(text(1, "False", "(2, 2)", 4))
	for _, want := range []string{": is now 2×2, but was 4×1 when it was opened", ": no such file"} {
		var last error
		for _, last = range s.Blocks(t.Context()) {
		}
		if e, ok := errors.AsType[*dataset.InputError](last); !ok || e.Error() != path+want {
			t.Errorf("%v, want %q", last, want)
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Members(path); err == nil || err.Error() != path+": no such file" {
		t.Error(err)
	}
	if _, err := OpenMember(path, "x", Options{}); err == nil || err.Error() != path+": no such file" {
		t.Error(err)
	}
}

// TestManyMembers: of an archive of many arrays the first are named.
func TestManyMembers(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range 14 {
		if _, err := w.Create(fmt.Sprintf("a%d.npy", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.npz")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	const names = "a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, …"
	if _, err := OpenMember(path, "", Options{}); err == nil ||
		!strings.HasPrefix(err.Error(), path+": holds the arrays "+names+"; select one") {
		t.Error(err)
	}
}

// TestParse: the header is a Python dictionary in any form that Python accepts for one, and nothing else.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"{'descr': '<f8', 'fortran_order': False, 'shape': (300, 2), }  \n":          "{<f8 false [300 2]}",
		"{'descr': '<f8', 'fortran_order': True, 'shape': (300,)}":                   "{<f8 true [300]}",
		"{\"shape\":(12L,3L),\"fortran_order\":False,\"descr\":\"|u1\"}\n":           "{|u1 false [12 3]}",
		"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': ()}":             "{[('a', '<f8')] false []}",
		"{'descr': '<f8', 'fortran_order': False}":                                   "",
		"{'descr': '<f8', 'fortran_order': 0, 'shape': (3,)}":                        "",
		"{'descr': '<f8', 'descr': '<f4', 'fortran_order': False}":                   "",
		"{'descr': '<f8' 'fortran_order': False, 'shape': (3,)}":                     "",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (3 3,)}":                  "",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (,)}":                     "",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}": "",
		"'descr': '<f8', 'fortran_order': False, 'shape': (3,)":                      "",
		"": "",
	} {
		d, err := parse(text)
		if got := fmt.Sprint(d); (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
}
