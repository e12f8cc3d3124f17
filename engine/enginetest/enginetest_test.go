package enginetest_test

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"

	"github.com/klauspost/cpuid/v2"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
)

// TestBackends runs the suite on every backend of the build, in one process.
func TestBackends(t *testing.T) { enginetest.Each(t, enginetest.Run) }

// TestCores holds each core of OpenBLAS that this CPU can run to what is promised of it,
// in a process of its own.
func TestCores(t *testing.T) {
	if !slices.Contains(engine.Names(), "openblas") || runtime.GOARCH != "amd64" {
		t.Skip("skipped aloud: a build without OpenBLAS, or not for amd64")
	}
	cores := []string{"Prescott", "Nehalem"}
	if cpuid.CPU.Supports(cpuid.AVX) {
		cores = append(cores, "Sandybridge")
	}
	if cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3) {
		cores = append(cores, "Haswell", "Zen")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, core := range cores {
		cmd := exec.Command(self, "-test.run=^TestBackends$/^openblas$/^Promises$")
		cmd.Env = append(os.Environ(), "OPENBLAS_CORETYPE="+core)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", core, err, out)
		}
	}
}
