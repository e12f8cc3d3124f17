//go:build unix

package safefile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/fdridge/fdridge/internal/safefile"
)

func write(t *testing.T, name string) {
	t.Helper()
	err := safefile.Write(name, func(w io.Writer) error {
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
}

// TestLinksInCircles: links that lead to each other are an error, and stay.
func TestLinksInCircles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	links := map[string]string{"round": "round", "there": at("back"), "back": "there"}
	for from, to := range links {
		if err := os.Symlink(to, at(from)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"round", "there", "back", "round/file"} {
		err := safefile.Write(at(name), func(io.Writer) error {
			t.Errorf("%s is written", name)
			return nil
		})
		if !errors.Is(err, syscall.ELOOP) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for from, to := range links {
		if is, err := os.Readlink(at(from)); err != nil || is != to {
			t.Errorf("%s leads to %q, %v", from, is, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != len(links) {
		t.Errorf("there are %v, %v", left, err)
	}
}

// TestLinkedFolder: a link in a folder that is a link itself leads on from where the folder is.
func TestLinkedFolder(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.MkdirAll(at("real/deep"), 0o755),
		os.Symlink("real/deep", at("folder")),
		os.Symlink("../file", at("folder/link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	write(t, at("folder/link"))
	check(t, at("real/file"), 0o666&^umask())
}

// TestReplaceModes: Replace and Publish keep the permissions of the file that they replace, or of the one before
// if that alone is there. Nobody may read more of the new file while it is written.
func TestReplaceModes(t *testing.T) {
	for what, replace := range map[string]func(safefile.Operations, string, string, string, func(io.Writer) error) error{
		"Replace": safefile.Replace,
		"Publish": safefile.Publish,
	} {
		for _, mode := range []fs.FileMode{0o600, 0o640, 0o664, 0o400} {
			dir := t.TempDir()
			name := filepath.Join(dir, "file")
			put := func() {
				t.Helper()
				err := replace(safefile.Disk, name+".new", name, name+".previous", func(w io.Writer) error {
					if info, err := os.Stat(name + ".new"); err != nil || info.Mode()&^mode != 0 && mode == 0o600 {
						t.Errorf("%s: while it is written: %v, %v", what, info.Mode(), err)
					}
					_, err := io.WriteString(w, "new")
					return err
				})
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			}
			if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
			put()
			put()
			check(t, name, mode)
			check(t, name+".previous", mode)
			if err := os.Remove(name); err != nil { // killed between two renames
				t.Fatal(err)
			}
			put()
			check(t, name, mode)
		}
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
