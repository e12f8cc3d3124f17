package leaktest

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestFinds: what is left behind is found, and no longer once it has gone.
func TestFinds(t *testing.T) {
	Check(t)
	before := goroutines()
	stop := make(chan struct{})
	go func() { <-stop }()
	if now := goroutines(); len(now) != len(before)+1 {
		t.Errorf("%d goroutines, and one more makes %d", len(before), len(now))
	}
	time.AfterFunc(10*time.Millisecond, func() { close(stop) })
	if left := await(before); len(left) > 0 {
		t.Errorf("still there: %v", left)
	}
	if runtime.GOOS != "linux" {
		return
	}
	name, files := filepath.Join(t.TempDir(), "open"), take()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if left := strings.Join(take().without(files), "\n"); left != name+": 1 times open, was 0" {
		t.Errorf("found %q", left)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// A recorder is a test that only notes its failure.
type recorder struct {
	testing.TB
	end    func()
	failed bool
}

func (*recorder) Helper()                 {}
func (r *recorder) Cleanup(f func())      { r.end = f }
func (r *recorder) Errorf(string, ...any) { r.failed = true }

// TestForgotten: a file that nobody refers to is still found open.
func TestForgotten(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells which files are open")
	}
	r := &recorder{TB: t}
	Check(r)
	name := filepath.Join(t.TempDir(), "forgotten")
	if _, err := os.Create(name); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		garbage := make([]byte, 1<<20)
		runtime.KeepAlive(garbage)
	}
	r.end()
	if !r.failed {
		t.Error("not found")
	}
}
