package safefile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestDescriptor: an open file without a name is written in place, and what it held is gone. An error of the
// writer is returned.
func TestDescriptor(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"a longer text", "short"} {
		at := fmt.Sprintf("/dev/fd/%d", f.Fd())
		if err := Write(at, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 100)
		if n, err := f.ReadAt(got, 0); err != io.EOF || string(got[:n]) != text {
			t.Errorf("%q, %v; want %q", got[:n], err, text)
		}
		failed := errors.New("failed")
		if err := Write(at, func(io.Writer) error { return failed }); !errors.Is(err, failed) {
			t.Errorf("%v, want the error of the writer", err)
		}
	}
	if err := Write("/dev/fd/987654", func(io.Writer) error { return nil }); err == nil {
		t.Error("a descriptor that is not open was written")
	}
}
