package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/fdridge/fdridge/internal/wire"
)

// TestLentMemory: an array in the memory of the calling program gives the same model as the same array in a file. This
// holds whether or not the system allows direct copies. Wrong sizes and addresses are errors.
func TestLentMemory(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const n, d = 3000, 5
	x := make([]float64, n*d)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range x {
		x[i] = r.NormFloat64()
	}
	dir := t.TempDir()
	dict := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }\n", n, d)
	header := append([]byte("\x93NUMPY\x01\x00"), byte(len(dict)), 0)
	header = append(header, dict...)
	whole := append(bytes.Clone(header), wire.Bytes(x)...)
	for name, content := range map[string][]byte{"whole.npy": whole, "header.npy": header} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fit := func(data string, env ...string) (string, error) {
		memory, err := os.Open("/proc/self/mem")
		if err != nil {
			t.Fatal(err)
		}
		defer memory.Close()
		c := exec.Command(
			exe,
			"fit",
			"--data",
			data,
			"--target",
			"last",
			"--gamma",
			"auto:0.1,1,10",
			"--select",
			"loo",
			"--log-format",
			"none",
			"--out",
			"out.json",
		)
		c.Dir, c.Env, c.ExtraFiles = dir, append(
			append(os.Environ(), "FDRIDGE_TEST_COMMAND=1"),
			env...), []*os.File{
			memory,
		}
		if said, err := c.CombinedOutput(); err != nil {
			return string(said), err
		}
		model, err := os.ReadFile(filepath.Join(dir, "out.json"))
		return string(model), err
	}
	want, err := fit("whole.npy")
	if err != nil {
		t.Fatal(want, err)
	}
	at, size := uintptr(unsafe.Pointer(&x[0])), 8*len(x)
	lent := fmt.Sprintf("FDRIDGE_MEMORY=3:%d:%d", at, size)
	parent := fmt.Sprintf("FDRIDGE_PARENT=%d", os.Getpid())
	for _, env := range [][]string{{lent}, {lent, parent}} {
		if got, err := fit("header.npy", env...); err != nil || got != want {
			t.Errorf("%v: %v: %s, want %s", env, err, got, want)
		}
	}
	for env, want := range map[string]string{
		fmt.Sprintf("FDRIDGE_MEMORY=3:%d:%d", at, size-8): "is truncated",
		fmt.Sprintf("FDRIDGE_MEMORY=3:8:%d", size):        "cannot be read",
		"FDRIDGE_MEMORY=3:8":                              "is not a descriptor, an address and a number of bytes",
	} {
		if got, err := fit("header.npy", env, parent); err == nil || !strings.Contains(got, want) {
			t.Errorf("%s: %v: %s, want %s", env, err, got, want)
		}
	}
	runtime.KeepAlive(x)
}
