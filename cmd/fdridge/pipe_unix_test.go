//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFIFO: a FIFO is read as standard input is, and one that nobody writes to lets itself be interrupted.
func TestFIFO(t *testing.T) {
	dir, table := t.TempDir(), rowsCSV(300)
	name, model := filepath.Join(dir, "fifo"), filepath.Join(dir, "m")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error)
	go func() { written <- os.WriteFile(name, []byte(table), 0o600) }()
	must(t, "fit", "--data", name, "--target", "y", "--gamma", "1", "--out", model)
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other")
	must(t, "fit", "--data", write(t, "rows.csv", table), "--target", "y", "--gamma", "1", "--out", other)
	if contents(t, model) != contents(t, other) {
		t.Error("other bits")
	}
	if code, _, errs := call("plan", "--data", name); code != usage ||
		!strings.Contains(errs, name+" can be read only once, and plan reads rows several times") {
		t.Errorf("plan: exit %d, %s", code, errs)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	go func() { // interrupts the command once it opens the FIFO
		defer interrupt()
		for stacks := make([]byte, 1<<20); !bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte(".OpenPipe.func")); {
			time.Sleep(time.Millisecond)
		}
	}()
	if code, _, errs := piped(
		ctx, strings.NewReader(""), "fit", "--data", name, "--target", "y", "--gamma", "1",
	); code != failed ||
		!strings.Contains(errs, "interrupted") {
		t.Errorf("hanging: exit %d, %s", code, errs)
	}
	// Whoever waits for a writer is let go.
	w, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
