package enginetest

import (
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/purego"
)

// EachKernel is like [Each], but it runs f once for each purego kernel of this machine. Sub-tests are named after the
// kernels.
func EachKernel(t *testing.T, f func(t *testing.T, be engine.Backend)) {
	Each(t, func(t *testing.T, be engine.Backend) {
		if be.Name() != "purego" {
			f(t, be)
			return
		}
		for _, name := range purego.KernelNames() {
			be, err := purego.New(purego.Config{Kernel: name})
			if err != nil {
				t.Fatal(err)
			}
			t.Run(name, func(t *testing.T) { f(t, be) })
		}
	})
}

// Crowd is the number of goroutines that share one backend in tests.
const Crowd = 96
