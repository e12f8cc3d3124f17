package purego_test

import (
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/engine/purego"
)

// differ names the first element that is not bitwise the same, "" if all are.
func differ(got, want []float64) string {
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			return fmt.Sprintf("element %d is %x, was %x", i, got[i], want[i])
		}
	}
	return ""
}

func TestNew(t *testing.T) {
	for _, cfg := range []purego.Config{
		{Kernel: "mmx"}, {MC: -1}, {KC: -1}, {NC: -1}, {MC: math.MaxInt}, {KC: math.MaxInt}, {NC: math.MaxInt},
	} {
		if be, err := purego.New(cfg); err == nil || be != nil {
			t.Errorf("%+v accepted", cfg)
		}
	}
}

// TestKernels tests each kernel of the machine with matrices whose sizes lie around the edges of its tiles.
// enginetest's own test runs the suite on the first kernel with blocks of the usual size. The second kernel runs the
// products of the suite with blocks so small that every product has several. Other kernels must keep the promised
// accuracies.
//
// If FDRIDGE_THOROUGH is set, each other kernel runs the suite with blocks of the usual size, and each kernel runs the
// products with small blocks. The second kernel then runs the whole suite with small blocks.
func TestKernels(t *testing.T) {
	thorough := os.Getenv("FDRIDGE_THOROUGH") != ""
	kernels := purego.Kernels()
	for i, k := range kernels {
		backend := func(cfg purego.Config) *purego.Backend {
			be, err := purego.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			return be
		}
		usual := backend(purego.Config{Kernel: k.Name})
		if thorough && i > 0 || testing.Short() {
			t.Run(k.Name, func(t *testing.T) { enginetest.Run(t, usual) })
		}
		if i > 1 && !testing.Short() {
			t.Run(k.Name+"/promises", func(t *testing.T) { enginetest.Promises(t, usual) })
		}
		t.Run(k.Name+"/edges", func(t *testing.T) { enginetest.Edges(t, usual, 2*k.MR+1, 2*k.NR+1) })
		small, second := backend(purego.Config{Kernel: k.Name, MC: 1, KC: 7, NC: 1}), i == min(1, len(kernels)-1)
		switch {
		case testing.Short():
		case thorough && second:
			t.Run(k.Name+"/small", func(t *testing.T) { enginetest.Run(t, small) })
		case thorough || second:
			t.Run(k.Name+"/small", func(t *testing.T) { enginetest.Products(t, small) })
		}
	}
}
