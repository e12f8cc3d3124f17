package leaktest

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestFindsMapped(t *testing.T) {
	name := filepath.Join(t.TempDir(), "mapped")
	if err := os.WriteFile(name, make([]byte, 1), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before := take()
	m, err := syscall.Mmap(int(f.Fd()), 0, 1, syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	if left := strings.Join(take().without(before), "\n"); !strings.Contains(left, name+": 1 times mapped, was 0") {
		t.Errorf("found %q", left)
	}
	if err := syscall.Munmap(m); err != nil {
		t.Fatal(err)
	}
	if left := take().without(before); len(left) > 0 {
		t.Errorf("still %q", left)
	}
}
