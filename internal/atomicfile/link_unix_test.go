//go:build unix

package atomicfile_test

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/fdridge/fdridge/internal/atomicfile"
)

func write(t *testing.T, name string) {
	t.Helper()
	err := atomicfile.Write(name, func(w io.Writer) error {
		_, err := io.WriteString(w, "new")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, name string, mode fs.FileMode) {
	t.Helper()
	info, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); info.Mode() != mode || err != nil || string(got) != "new" {
		t.Errorf("%s has mode %v and %q (%v), want %v", name, info.Mode(), got, err, mode)
	}
}

// TestLinks: what a link leads to is written, by way of others and where nothing is yet.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.Mkdir(at("sub"), 0o755),
		os.WriteFile(at("sub/real"), []byte("old"), 0o640),
		os.Symlink("sub/real", at("link")),
		os.Symlink(at("link"), at("second")),
		os.Symlink("sub/nothing", at("dangling")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	write(t, at("second"))
	check(t, at("sub/real"), 0o640)
	write(t, at("dangling"))
	check(t, at("sub/nothing"), 0o666&^umask())
	for _, link := range []string{"link", "second", "dangling"} {
		if _, err := os.Readlink(at(link)); err != nil {
			t.Errorf("%s is no link any more: %v", link, err)
		}
	}
	if err := os.Symlink("round", at("round")); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(at("round/file"), func(io.Writer) error { return nil }); err == nil {
		t.Error("a link to itself is no error")
	}
}

func umask() fs.FileMode {
	mask := syscall.Umask(0)
	syscall.Umask(mask)
	return fs.FileMode(mask)
}

// TestModes: a file that is replaced keeps its permissions, a new one has what the
// umask leaves.
func TestModes(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	name := filepath.Join(t.TempDir(), "model")
	write(t, name)
	check(t, name, 0o600)
	if err := os.Chmod(name, 0o664); err != nil {
		t.Fatal(err)
	}
	write(t, name)
	check(t, name, 0o664)
}
