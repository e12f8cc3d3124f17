package enginetest

import (
	"os"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/purego"
)

// EachKernel runs f for every backend of the build. For the backend purego, it runs f once with each kernel that
// this machine supports. Sub-tests are named after the backends and kernels.
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

// EachInCrowd runs f for every backend of the build. It is for tests that call one backend from [Crowd] goroutines.
// If FDRIDGE_THOROUGH is set, it runs f for every purego kernel too. Otherwise only TestCrowd in package engine
// runs every kernel.
func EachInCrowd(t *testing.T, f func(t *testing.T, be engine.Backend)) {
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		EachKernel(t, f)
		return
	}
	Each(t, f)
}

// Crowd is the number of goroutines that share one backend in tests.
const Crowd = 96
