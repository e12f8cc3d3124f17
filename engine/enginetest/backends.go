package enginetest

import (
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/purego"
)

// EachKernel is [Each] with purego once for each kernel that runs here, as sub-tests
// of their names.
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

// Crowd is how many goroutines a test has work for one backend at a time.
const Crowd = 96
