//go:build unix && !solaris && !aix

package safefile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// stopping removes so many files and no more.
type stopping struct {
	Operations
	left int
}

var errStopped = errors.New("stopped")

func (d *stopping) Remove(name string) error {
	if d.left == 0 {
		return errStopped
	}
	d.left--
	return d.Operations.Remove(name)
}

// TestRemoveStopped: if the removal of a checkpoint stops anywhere, a run can resume from the last state or not at all,
// but never from the state before it. The lock stays until all other files are removed.
func TestRemoveStopped(t *testing.T) {
	for removed := range 5 {
		name := filepath.Join(t.TempDir(), "run")
		d := &stopping{Disk, -1}
		f := opened(t, name, d)
		for g := 1; g <= 2; g++ {
			if err := save(f, content(g, 10)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(name+".new", []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		d.left = removed
		if err := f.Remove(); errors.Is(err, errStopped) != (removed < 4) || (err == nil) != (removed == 4) {
			t.Fatalf("%d removed: %v", removed, err)
		}
		var left []string
		for _, name := range CheckpointNames(name) {
			if _, err := os.Lstat(name); err == nil {
				left = append(left, name)
			}
		}
		if len(left) != 4-removed || len(left) > 0 && left[len(left)-1] != name+".lock" {
			t.Errorf("%d removed: left are %q", removed, left)
		}
		f = opened(t, name, Disk)
		if text, _ := loaded(t, f); text != nil && !bytes.Equal(text, content(2, 10)) {
			t.Errorf("%d removed: %q is found", removed, text)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
