//go:build unix

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/safefile"
)

// TestChangedExit: data that change under a run are bad input.
func TestChangedExit(t *testing.T) {
	err := fmt.Errorf(
		"reading: %w",
		&dataset.ChangedError{File: "rows.csv", Was: dataset.Stamp{Size: 1}, Is: dataset.Stamp{Size: 2}},
	)
	if code := exitCode(err); code != usage {
		t.Errorf("exit %d", code)
	}
}

// edit writes to a file in place and gives it the times it had.
func edit(t *testing.T, name string, at int64) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if at < 0 {
		at += info.Size()
	}
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, time.Time{}, info.ModTime()); err != nil {
		t.Fatal(err)
	}
}

// TestCheckpointDigest: a checkpoint is refused if its data were edited at either end, even if their size and time are
// unchanged. After the edit is undone the run resumes.
func TestCheckpointDigest(t *testing.T) {
	_, args := unfinished(t)
	for _, at := range []int64{1 << 15, -1, -1 << 16} {
		edit(t, "rows.npy", at)
		code, out, errs := call(args...)
		if code != usage || out != "" ||
			!strings.Contains(errs, "ck is of another run: rows.npy, its first and last 64 KiB was ") {
			t.Errorf("byte %d: exit %d, %q, %q", at, code, out, errs)
		}
		edit(t, "rows.npy", at)
	}
	if code, _, errs := call(args...); code != done {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// rewrite changes what a checkpoint tells of itself.
func rewrite(t *testing.T, name string, change func(k map[string]any)) {
	t.Helper()
	f, err := safefile.OpenCheckpoint(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := f.Load()
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(s)
	if err != nil {
		t.Fatal(err)
	}
	n := 8 + binary.LittleEndian.Uint64(all)
	var k map[string]any
	d := json.NewDecoder(bytes.NewReader(all[8:n]))
	d.UseNumber()
	if err := d.Decode(&k); err != nil {
		t.Fatal(err)
	}
	change(k)
	text, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	out := append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	out = append(out, all[n:]...)
	if _, err := f.Save(int64(len(out)), func(w io.Writer) error { _, err := w.Write(out); return err }); err != nil {
		t.Fatal(err)
	}
}

// TestCheckpointVersions: a checkpoint of another version is refused.
func TestCheckpointVersions(t *testing.T) {
	_, args := unfinished(t)
	for _, version := range []int{0, 2} {
		rewrite(t, "ck", func(k map[string]any) { k["version"] = version })
		code, _, errs := call(args...)
		if code != usage ||
			!strings.Contains(
				errs,
				fmt.Sprintf("ck: is a checkpoint of version %d, but this program reads version 1", version),
			) {
			t.Errorf("exit %d: %s", code, errs)
		}
	}
}
