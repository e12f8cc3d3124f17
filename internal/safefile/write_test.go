package safefile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/fdridge/fdridge/internal/safefile"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "model.json")
	put := func(text string, fail error) error {
		return safefile.Write(name, func(w io.Writer) error {
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
			return fail
		})
	}
	if err := put("first", nil); err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	if err := put("half of the sec", full); !errors.Is(err, full) {
		t.Errorf("the error was lost: %v", err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != "first" {
		t.Errorf("after a failed write: %q, %v", got, err)
	}
	if err := put("second", nil); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != "second" {
		t.Errorf("after a second write: %q, %v", got, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("files left: %v, %v", left, err)
	}
	if err := safefile.Write(filepath.Join(dir, "no", "such"), func(io.Writer) error { return nil }); err == nil {
		t.Error("a missing folder is no error")
	}
}
