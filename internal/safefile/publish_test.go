//go:build unix && !solaris && !aix

package safefile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/fdridge/fdridge/internal/wire"
)

func (d *faulty) Link(from, to string) error {
	if err := d.fault("link"); err != nil {
		return err
	}
	return d.Operations.Link(from, to)
}

func publish(f *Checkpoint, text []byte) error {
	return f.Publish(func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// published returns the published content, or nil if there is none. Content counts as damaged unless it has 100 or
// 3<<19 equal bytes.
func published(t *testing.T, f *Checkpoint) (text []byte, damage error) {
	t.Helper()
	found, damage, err := f.Published(func(file *os.File) (err error) {
		text, err = io.ReadAll(file)
		if n := len(text); err == nil && (n != 100 && n != 3<<19 || !bytes.Equal(text, content(int(text[0]), n))) {
			err = errors.New("is damaged")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !found {
		return nil, nil
	}
	return text, damage
}

// TestPublishFaults: after the first publication there is a whole file with the published name, whichever operation
// fails. It is the last file or the new one. The next publication works and keeps the file before it.
func TestPublishFaults(t *testing.T) {
	seen := map[string]int{}
	for _, kind := range faults {
		for states := range 3 {
			for at := 0; ; at++ {
				name := filepath.Join(t.TempDir(), "live")
				d := &faulty{Operations: Disk, kind: kind, at: -1}
				f := opened(t, name, d)
				for g := 1; g <= states; g++ {
					if err := publish(f, content(g, 100)); err != nil {
						t.Fatal(err)
					}
				}
				next := content(states+1, 3<<19)
				d.n, d.at, d.did = 0, at, ""
				err := publish(f, next)
				if d.did == "" {
					if err != nil {
						t.Fatal(err)
					}
					f.Close()
					break
				}
				did := d.did
				seen[did]++
				// What a short write left is written by another, or it is an error.
				made := did == "sync of the folder" || did == "write" && kind == short && err == nil
				if err == nil != (made && did == "write") ||
					err != nil && !errors.Is(err, errFault) && !errors.Is(err, io.ErrShortWrite) {
					t.Fatalf("%s failed, kind %d, and Publish returned %v", did, kind, err)
				}
				d.at = -1
				want := content(states, 100)
				if made {
					want = next
				}
				text, err := os.ReadFile(name) // as others do
				if states == 0 && !made {
					if !os.IsNotExist(err) {
						t.Fatalf("%s failed, and there is %v", did, err)
					}
				} else if err != nil || !bytes.Equal(text, want) {
					t.Fatalf("%s failed: %d bytes, %v", did, len(text), err)
				}
				last := content(states+2, 100)
				if err := publish(f, last); err != nil {
					t.Fatal(err)
				}
				before, err := os.ReadFile(name + ".previous")
				if states == 0 && !made {
					before, err = want, nil // there was none
				}
				if text, damage := published(t, f); damage != nil || !bytes.Equal(text, last) || err != nil ||
					!bytes.Equal(before, want) {
					t.Fatalf("after %s: %d bytes, %v; before %d, %v", did, len(text), damage, len(before), err)
				}
				f.Close()
			}
		}
	}
	for _, what := range []string{
		"create", "write", "sync", "close", "remove", "link", "rename to ", "sync of the folder",
	} {
		if seen[what] == 0 {
			t.Errorf("never failed: %s; %v", what, seen)
		}
	}
}

// TestPublished: of a damaged file the one before is taken and kept, of a newer version nothing; the lock goes with
// Release.
func TestPublished(t *testing.T) {
	name := filepath.Join(t.TempDir(), "live")
	f := opened(t, name, Disk)
	for g := 1; g <= 2; g++ {
		if err := publish(f, content(g, 100)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(name, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, damage := published(t, f); damage == nil || !bytes.Equal(text, content(1, 100)) {
		t.Fatalf("%d bytes, %v", len(text), damage)
	}
	if err := publish(f, content(3, 100)); err != nil {
		t.Fatal(err)
	}
	if before, err := os.ReadFile(name + ".previous"); err != nil || !bytes.Equal(before, content(1, 100)) {
		t.Errorf("the damaged one is kept: %d bytes, %v", len(before), err)
	}
	if _, _, err := f.Published(func(*os.File) error { return wire.ErrVersion }); !errors.Is(err, wire.ErrVersion) {
		t.Errorf("a newer version: %v", err)
	}
	if found, _, err := f.Published(func(*os.File) error { return errFault }); found || !errors.Is(err, errFault) {
		t.Errorf("both are damaged: %v", err)
	}
	if err := f.Release(); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(name + "*"); err != nil || len(left) != 2 {
		t.Errorf("there are %v, %v", left, err)
	}
}

// TestLinked: a checkpoint whose name is a link is beside the file that it leads to, and the link stays; links in a
// circle are an error.
func TestLinked(t *testing.T) {
	dir := t.TempDir()
	link, name := filepath.Join(dir, "link"), filepath.Join(dir, "run")
	if err := os.Symlink("run", link); err != nil {
		t.Fatal(err)
	}
	f := opened(t, link, Disk)
	for g := 1; g <= 2; g++ {
		if err := save(f, content(g, 100)); err != nil {
			t.Fatal(err)
		}
	}
	if to, err := os.Readlink(link); err != nil || to != "run" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	kept := KeptNames(link)
	if !slices.Equal(kept, []string{name, name + ".previous"}) || !slices.Equal(kept, CheckpointNames(link)[:2]) {
		t.Errorf("there are %v", kept)
	}
	if err := f.Remove(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(link), os.Symlink("link", link)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenCheckpoint(link); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a link to itself: %v", err)
	}
}
