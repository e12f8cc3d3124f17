package csv

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// TestErrors: what a file gets wrong that no other table has, behind its name.
func TestErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	commas := strings.Repeat(",", maxFields)
	names := "a,b,c,d,e,f,g,h,i,j,k,l,m"
	const many = ": the row has more than 1048576 fields"
	for _, c := range []struct {
		name, text string
		opts       Options
		want       string
	}{
		{"fields", commas + "\n", Options{}, ""},
		{"too many fields", commas + ",\n", Options{}, ":1" + many},
		{"too many, below", "1\n" + commas + ",\n", Options{Delimiter: ','}, ":2" + many},
		{"too many, quoted", `"1"` + commas + ",\n", Options{}, ":1" + many},
		{"too many, in two lines", "1,2\n\"1\n\"" + commas + ",\n", Options{}, ":3" + many},
		{
			"no such column", names + "\n", Options{Targets: []string{"z"}},
			":1: there is no column \"z\"; the 13 columns are a, b, c, d, e, f, g, h, i, j, k, l, …",
		},
		{
			"underscores", "1,2\n3,1_000\n", Options{},
			":2:3: column 2: \"1_000\" is not a number; encode the column as numbers, or leave it out",
		},
		{
			"hexadecimal", "1,2\n0x1p4,3\n", Options{},
			":2:1: column 1: \"0x1p4\" is not a number; encode the column as numbers, or leave it out",
		},
		{
			"no header", "1_000,2\n3,4\n", Options{},
			":1:1: column 1: \"1_000\" is not a number; encode the column as numbers, or leave it out",
		},
		{"delimiter", "1;2\n", Options{Delimiter: '"'}, ": '\"' cannot be a delimiter"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := pass(t, path, c.opts)
		if c.want == "" {
			e, ok := errors.AsType[*dataset.InputError](err)
			if !ok || e.Line != 1 || e.Column != 1 || !strings.HasPrefix(e.Msg, "column 1 is empty") {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if e, ok := errors.AsType[*dataset.InputError](err); !ok || e.Error() != path+c.want {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// pass opens a file and reads it to its end or first error.
func pass(t *testing.T, path string, opts Options) error {
	s, err := Open(path, opts)
	if err != nil {
		return err
	}
	for _, err = range s.Blocks(t.Context()) {
	}
	return err
}

// TestChangedFile: what has become of a file by the next pass.
func TestChangedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a,b\n1,2\n")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Stamp = dataset.Stamp{} // which lets it become another file
	again := func(want string) {
		t.Helper()
		var last error
		for _, last = range s.Blocks(t.Context()) {
		}
		if e, ok := errors.AsType[*dataset.InputError](last); !ok || e.Error() != path+want {
			t.Errorf("%v, want %q", last, want)
		}
	}
	write("a,\"b\n1,2\n")
	again(":2:5: extraneous or missing \" in quoted-field")
	write("a,b\n1,2\n3\n")
	again(":3:1: the row has 1 fields, the first line has 2")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	again(": no such file")
}

// TestFailingDisk: a read that fails at any byte of a record is an error of its line,
// with the cause, quoted or not.
func TestFailingDisk(t *testing.T) {
	errDisk := errors.New("the disk fails")
	path := filepath.Join(t.TempDir(), "data")
	const text = "1,2\n\"3\n3\",4\n5,\"6\"\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for k := range len(text) {
		f, err := rawfile.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		f.Reset(io.MultiReader(strings.NewReader(text[:k]), iotest.ErrReader(errDisk)))
		r := newRecords(f, &layout{delimiter: ','})
		for err == nil {
			err = r.next()
		}
		want := fmt.Sprintf("%s:%d: cannot be read: the disk fails", path, 1+strings.Count(text[:k], "\n"))
		if err.Error() != want || !errors.Is(err, errDisk) {
			t.Errorf("byte %d: %v, want %q", k, err, want)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
