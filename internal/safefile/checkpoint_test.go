//go:build unix && !solaris && !aix

package safefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fdridge/fdridge/internal/wire"
)

// content returns the content of a generation, size bytes long.
func content(generation, size int) []byte {
	return bytes.Repeat([]byte{byte(generation)}, size)
}

func save(f *Checkpoint, text []byte) error {
	s, err := f.Save(int64(len(text)), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	got, err := io.ReadAll(s)
	if err == nil && !bytes.Equal(got, text) {
		err = errors.New("the state that was saved is another")
	}
	return errors.Join(err, s.Close())
}

// loaded returns the content that Load finds, or nil if there is none.
func loaded(t *testing.T, f *Checkpoint) (text []byte, damage error) {
	t.Helper()
	s, err := f.Load()
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		return nil, nil
	}
	text, err = io.ReadAll(s)
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	return text, s.Damage
}

func opened(t *testing.T, name string, d Operations) *Checkpoint {
	t.Helper()
	f, err := open(name, d)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestGenerations(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run")
	f := opened(t, name, Disk)
	if text, _ := loaded(t, f); text != nil {
		t.Errorf("before anything was saved there is %q", text)
	}
	for g := 1; g <= 3; g++ {
		if err := save(f, content(g, 3000*g)); err != nil {
			t.Fatal(err)
		}
		if text, damage := loaded(t, f); !bytes.Equal(text, content(g, 3000*g)) || damage != nil {
			t.Errorf("generation %d: %d bytes, %v", g, len(text), damage)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f = opened(t, name, Disk)
	if _, err := f.Save(10, func(w io.Writer) error {
		_, err := w.Write(make([]byte, 9))
		return err
	}); err == nil {
		t.Error("a state may be shorter than it was to be")
	}
	if text, _ := loaded(t, f); !bytes.Equal(text, content(3, 9000)) {
		t.Errorf("after a state that was no good there are %d bytes", len(text))
	}
	// Killed between the two renames.
	if err := os.Rename(name, name+".previous"); err != nil {
		t.Fatal(err)
	}
	if text, damage := loaded(t, f); !bytes.Equal(text, content(3, 9000)) || damage != nil {
		t.Errorf("of the previous state alone there are %d bytes, %v", len(text), damage)
	}
	if err := save(f, content(4, 10)); err != nil {
		t.Fatal(err)
	}
	if err := f.Remove(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Dir(name)); err != nil || len(left) > 0 {
		t.Errorf("removed, and there are %v, %v", left, err)
	}
}

// TestDamaged: if a state is cut short, longer or changed by one bit, Load returns the state before it and reports the
// damage. Load fails if both states are damaged, if a file is no state, and if its version is newer.
func TestDamaged(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run")
	f := opened(t, name, Disk)
	defer f.Close()
	for g := 1; g <= 2; g++ {
		if err := save(f, content(g, 40)); err != nil {
			t.Fatal(err)
		}
	}
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	put := func(name string, b []byte) {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var bad [][]byte
	for i := range good {
		flipped := bytes.Clone(good)
		flipped[i] ^= 1 << (i % 8)
		bad = append(bad, good[:i], flipped)
	}
	for i, b := range append(bad, append(bytes.Clone(good), 0)) {
		put(name, b)
		s, err := f.Load()
		if errors.Is(err, wire.ErrVersion) && i/2 >= 8 && i/2 < 12 {
			continue
		}
		if err != nil {
			t.Fatalf("damage %d: %v", i, err)
		}
		if text, err := io.ReadAll(s); err != nil || s.Damage == nil || !bytes.Equal(text, content(1, 40)) {
			t.Fatalf("damage %d: %v, %v, %d", i, err, s.Damage, text)
		}
		s.Close()
	}
	if err := save(f, content(3, 40)); err != nil {
		t.Fatal(err)
	}
	put(name, nil)
	if text, damage := loaded(t, f); !bytes.Equal(text, content(1, 40)) || damage == nil {
		t.Errorf("the state that was taken for a damaged one was replaced by that: %d, %v", text, damage)
	}
	put(name+".previous", []byte("a,b\n1,2\n"))
	if s, err := f.Load(); err == nil || !strings.Contains(err.Error(), name+".previous: ") {
		t.Errorf("two damaged states: %v, %v", s, err)
	}
	newer := bytes.Clone(good)
	newer[8] = 2
	put(name, newer)
	put(name+".previous", good)
	if s, err := f.Load(); !errors.Is(err, wire.ErrVersion) {
		t.Errorf("a newer version: %v, %v", s, err)
	}
}

// A faulty disk fails at the operation number at, counted from 0.
type faulty struct {
	Operations
	kind fault
	at   int
	n    int
	did  string // the operation that failed
}

type fault int

const (
	fails  fault = iota // with an error
	short               // a write of less than it was to be, without an error
	killed              // that operation and all after it: the process is gone
)

var faults = []fault{fails, short, killed}

var errFault = fmt.Errorf("injected: %w", syscall.ENOSPC)

// fault tells whether this operation is the one to fail.
func (d *faulty) fault(what string) error {
	d.n++
	if d.n-1 == d.at || (d.kind == killed && d.at >= 0 && d.n > d.at) {
		if d.did == "" {
			d.did = what
		}
		return errFault
	}
	return nil
}

func (d *faulty) Create(name string, others ...string) (File, error) {
	if err := d.fault("create"); err != nil {
		return nil, err
	}
	f, err := d.Operations.Create(name, others...)
	return &faultyFile{f, d}, err
}

func (d *faulty) Rename(from, to string) error {
	if err := d.fault("rename to " + filepath.Ext(to)); err != nil {
		return err
	}
	return d.Operations.Rename(from, to)
}

func (d *faulty) Remove(name string) error {
	if err := d.fault("remove"); err != nil {
		return err
	}
	return d.Operations.Remove(name)
}

func (d *faulty) SyncDir(name string) error {
	if err := d.fault("sync of the folder"); err != nil {
		return err
	}
	return d.Operations.SyncDir(name)
}

type faultyFile struct {
	File
	disk *faulty
}

func (f *faultyFile) Write(b []byte) (int, error) {
	if err := f.disk.fault("write"); err != nil {
		n, e := f.File.Write(b[:len(b)/2])
		if e != nil || f.disk.kind == short {
			return n, e
		}
		return n, err
	}
	return f.File.Write(b)
}

func (f *faultyFile) Sync() error {
	if err := f.disk.fault("sync"); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faultyFile) Close() error {
	if err := f.disk.fault("close"); err != nil {
		return errors.Join(err, f.File.Close())
	}
	return f.File.Close()
}

// TestFaults: Save returns an error for each operation that fails and each kind of failure. Load then finds the last
// state and no damage, and the next save works. If only the sync of the folder failed, Load finds the new state.
func TestFaults(t *testing.T) {
	seen := map[string]int{}
	for _, kind := range faults {
		for states := range 3 {
			for at := 0; ; at++ {
				name := filepath.Join(t.TempDir(), "run")
				d := &faulty{Operations: Disk, kind: kind, at: -1}
				f := opened(t, name, d)
				for g := 1; g <= states; g++ {
					if err := save(f, content(g, 100)); err != nil {
						t.Fatal(err)
					}
				}
				// More than a buffer, so that there are several writes.
				next := content(states+1, 3<<19)
				d.n, d.at, d.did = 0, at, ""
				err := save(f, next)
				if d.did == "" {
					if err != nil {
						t.Fatal(err)
					}
					f.Close()
					break
				}
				did := d.did
				seen[did]++
				if !errors.Is(err, errFault) && !(did == "write" && kind == short && errors.Is(err, io.ErrShortWrite)) {
					t.Fatalf("%s failed, kind %d, and Save returned %v", did, kind, err)
				}
				if kind == killed {
					d.at = -1
					if err := f.Close(); err != nil {
						t.Fatal(err)
					}
					d = &faulty{Operations: Disk, at: -1}
					f = opened(t, name, d)
				}
				want := content(states, 100)
				if states == 0 {
					want = nil
				}
				if did == "sync of the folder" {
					want = next
				}
				if text, damage := loaded(t, f); !bytes.Equal(text, want) || damage != nil {
					t.Fatalf(
						"%s failed, kind %d, after %d states: there are %d bytes, to be %d; %v",
						did,
						kind,
						states,
						len(text),
						len(want),
						damage,
					)
				}
				d.at = -1
				if err := save(f, content(9, 50)); err != nil {
					t.Fatal(err)
				}
				if text, damage := loaded(t, f); !bytes.Equal(text, content(9, 50)) || damage != nil {
					t.Fatalf("after a save that failed the next leaves %d bytes, %v", len(text), damage)
				}
				if err := f.Remove(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	t.Logf("failed: %v", seen)
	for _, what := range []string{
		"create", "write", "sync", "close", "rename to .previous", "rename to ", "sync of the folder",
	} {
		if seen[what] == 0 {
			t.Errorf("no %q has failed", what)
		}
	}
}

// TestFull fills a real disk.
func TestFull(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no file system of one MiB can be mounted, as root can on Linux: %v: %s", err, bytes.TrimSpace(out))
	}
	defer func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	}()
	f := opened(t, filepath.Join(dir, "run"), Disk)
	for g := 1; g <= 2; g++ {
		if err := save(f, content(g, 300<<10)); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if err := save(f, content(3, 700<<10)); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("a disk that is full: %v", err)
		}
		if text, damage := loaded(t, f); !bytes.Equal(text, content(2, 300<<10)) || damage != nil {
			t.Errorf("there are %d bytes, %v", len(text), damage)
		}
	}
	if err := save(f, content(4, 200<<10)); err != nil {
		t.Error(err)
	}
	if err := f.Remove(); err != nil {
		t.Error(err)
	}
}

// TestLocked: only one Checkpoint has the lock at a time, in one process or in two. The error of the others names the
// process that has the lock.
func TestLocked(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run")
	if os.Getenv("FDRIDGE_TEST_LOCK") != "" {
		name = os.Getenv("FDRIDGE_TEST_LOCK")
		patience /= 10
	}
	f, err := OpenCheckpoint(name)
	if os.Getenv("FDRIDGE_TEST_LOCK") != "" {
		fmt.Println("child:", err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestLocked$")
	child.Env = append(os.Environ(), "FDRIDGE_TEST_LOCK="+name)
	out, err := child.CombinedOutput()
	if err != nil ||
		!strings.Contains(string(out), fmt.Sprintf("child: %s.lock is locked by process %d", name, os.Getpid())) {
		t.Errorf("another process: %v, %s", err, out)
	}
	if _, err := OpenCheckpoint(name); !errors.As(err, new(*LockedError)) {
		t.Errorf("twice in a process: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f, err = OpenCheckpoint(name)
	if err != nil {
		t.Fatalf("a lock that was left: %v", err)
	}
	// Whoever waits for the lock of a run that ends gets one of its own.
	gone, err := os.OpenFile(name+".lock", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Remove(); err != nil {
		t.Fatal(err)
	}
	if ok, err := take(gone, name+".lock"); ok || err != nil {
		t.Errorf("a lock that was removed: %v, %v", ok, err)
	}
	f, err = OpenCheckpoint(name)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := take(gone, name+".lock"); ok || err != nil {
		t.Errorf("a lock that was removed and made anew: %v, %v", ok, err)
	}
	gone.Close()
	f.Remove()
	if _, err := OpenCheckpoint(filepath.Join(name, "no", "folder")); err == nil {
		t.Error("a checkpoint in no folder")
	}
}

// TestForeignFiles: files with the names of a checkpoint's files that the checkpoint did not make are left as they are.
// The targets of links with these names are left as they are, too.
func TestForeignFiles(t *testing.T) {
	const text = "important"
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kept := func(name string) {
		t.Helper()
		if b, err := os.ReadFile(name); err != nil || string(b) != text {
			t.Errorf("%s is now %q: %v", name, b, err)
		}
	}
	for how, link := range map[string]bool{"a file": false, "a link": true} {
		t.Run(how, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "c")
			other := name + ".lock"
			if link {
				other = name + ".other"
				if err := os.Symlink(other, name+".lock"); err != nil {
					t.Skip("no links here:", err)
				}
			}
			write(other)
			if f, err := OpenCheckpoint(name); err == nil {
				t.Errorf("locked by another's file: %v", f.Close())
			}
			kept(other)
		})
	}
	t.Run("the state in the making", func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "c")
		write(name + ".other")
		if err := os.Symlink(name+".other", name+".new"); err != nil {
			t.Skip("no links here:", err)
		}
		f := opened(t, name, Disk)
		if err := save(f, []byte("state")); err != nil {
			t.Fatal(err)
		}
		kept(name + ".other")
	})
}
