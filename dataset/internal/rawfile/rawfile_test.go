package rawfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"

	"github.com/fdridge/fdridge/dataset"
)

var errDisk = errors.New("the disk fails")

// opened is a file of a text.
func opened(t *testing.T, text string) *File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() }) // which may be closed already
	return f
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// holds checks an error behind the name of the file.
func holds(t *testing.T, what string, f *File, err error, want string) {
	t.Helper()
	if e, ok := errors.AsType[*dataset.InputError](err); !ok || e.Error() != f.Name+want {
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}

// TestFailingDisk: a read that fails at any byte is an error of the line it is in.
func TestFailingDisk(t *testing.T) {
	const text = "ab\nc\n\ndefg\n"
	for k := range len(text) {
		f := opened(t, text)
		f.Reset(io.MultiReader(strings.NewReader(text[:k]), iotest.ErrReader(errDisk)))
		var err error
		for err == nil {
			_, err = f.ReadLine()
		}
		line := string(rune('1' + strings.Count(text[:k], "\n")))
		holds(t, text[:k], f, err, ":"+line+": cannot be read: the disk fails")
	}
	long := opened(t, "")
	long.Reset(io.MultiReader(strings.NewReader(strings.Repeat("x", bufferSize+1)), iotest.ErrReader(errDisk)))
	_, err := long.ReadLine()
	holds(t, "a long line", long, err, ":1: cannot be read: the disk fails")

	packed := opened(t, zipped(t, "1\n"))
	if err := packed.file.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = packed.file.Read(make([]byte, 1))
	holds(t, "under gzip", packed, packed.Wrap(err, 2), ":2: cannot be read: read "+packed.Name+": file already closed")
}

// endless is a line without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestLongLine: a line is given up once it is too long, not read to its end.
func TestLongLine(t *testing.T) {
	f := opened(t, "")
	f.Reset(io.MultiReader(strings.NewReader("a\n"), endless{}))
	if _, err := f.ReadLine(); err != nil {
		t.Fatal(err)
	}
	_, err := f.ReadLine()
	holds(t, "endless", f, err, ":2: the row and the blank lines before it are longer than 64 MiB")
}

// TestLimitRefuses: a share of a compressed file, and one of a file that fails.
func TestLimitRefuses(t *testing.T) {
	part := dataset.Range{Lo: 4, Hi: 8}
	f := opened(t, zipped(t, "1\n2\n3\n4\n5\n"))
	holds(t, "gzip", f, f.Limit(part), ": is a gzip stream, which cannot be read in parts; decompress it")

	f = opened(t, "1\n2\n3\n4\n5\n")
	if err := f.Limit(part); err != nil {
		t.Fatal(err)
	}
	if err := f.file.Close(); err != nil {
		t.Fatal(err)
	}
	bad := &dataset.InputError{File: f.Name, Line: 1, Msg: "bad"}
	if err := f.Place(bad); !errors.Is(err, bad) || !errors.Is(err, os.ErrClosed) {
		t.Errorf("an error whose line cannot be counted: %v", err)
	}
	f = opened(t, "1\n2\n3\n4\n5\n")
	if err := f.file.Close(); err != nil {
		t.Fatal(err)
	}
	err := f.Limit(part)
	holds(t, "a closed file", f, err, ": cannot be read: seek "+f.Name+": file already closed")
	if !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}
