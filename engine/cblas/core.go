//go:build openblas && cgo

package cblas

/*
#cgo LDFLAGS: -llapacke -lopenblas
#include <stdlib.h>

char *openblas_get_corename(void);
char *openblas_get_config(void);
void openblas_set_num_threads(int);
int openblas_get_num_threads(void);

// Exported by builds of OpenBLAS that choose their kernels at run time.
extern void gotoblas_dynamic_init(void) __attribute__((weak));
extern void gotoblas_dynamic_quit(void) __attribute__((weak));

static int can_repair(void) { return gotoblas_dynamic_init != 0 && gotoblas_dynamic_quit != 0; }

static int repair(const char *core) {
	if (setenv("OPENBLAS_CORETYPE", core, 1) != 0) return -1;
	gotoblas_dynamic_quit();
	gotoblas_dynamic_init();
	return unsetenv("OPENBLAS_CORETYPE");
}
*/
import "C"

import (
	"fmt"
	"os"
	"sync"
	"unsafe"

	"github.com/klauspost/cpuid/v2"
)

// A core is what OpenBLAS runs on: what it detected, what it runs now and why.
type core struct{ found, used, note string }

// width ranks OpenBLAS's cores by the vector instructions of their kernels, in
// bits; all others have 128 or, for Sandybridge and the like, no FMA.
var width = map[string]int{
	"SkylakeX": 512, "Cooperlake": 512, "SapphireRapids": 512,
	"Haswell": 256, "Zen": 256, "Excavator": 256,
}

// products is from how many right-hand sides on the products of a matrix with them
// are faster as one Gemm than as a Gemv for each: OpenBLAS's kernels for AVX-512
// know small matrices, the others pack even those.
func (c core) products() int {
	if width[c.used] == 512 {
		return 1
	}
	return 8
}

// wanted is the core whose kernels this CPU can run best, "" if none of the wide
// ones.
func wanted() string {
	switch c := cpuid.CPU; {
	case c.Supports(cpuid.AVX512F, cpuid.AVX512CD, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512VL):
		return "SkylakeX"
	case !c.Supports(cpuid.AVX2, cpuid.FMA3):
		return ""
	case c.VendorID == cpuid.AMD:
		return "Zen"
	default:
		return "Haswell"
	}
}

// repaired is [detectCore], once and before any other call.
var repaired = sync.OnceValues(detectCore)

// detectCore makes OpenBLAS use the kernels this CPU can run. OpenBLAS 0.3.21 does
// not know newer CPUs and falls back to Prescott's SSE3 kernels, three times
// slower. A user's own OPENBLAS_CORETYPE wins.
func detectCore() (core, error) {
	c := core{found: coreName()}
	c.used = c.found
	want := wanted()
	var err error
	switch user, set := os.LookupEnv("OPENBLAS_CORETYPE"); {
	case set:
		c.note = fmt.Sprintf("no: OPENBLAS_CORETYPE=%s is set", user)
	case width[c.found] >= width[want]:
		c.note = "no need"
	default:
		c.used, c.note, err = change(want)
		if c.used == want {
			c.note = fmt.Sprintf("yes: %s taken for %s", want, c.found)
		}
	}
	return c, err
}

// change makes OpenBLAS run another core's kernels and returns the one it then
// runs, with a note where that isn't the one asked for. OPENBLAS_CORETYPE, which
// says so, is set for that moment only.
func change(want string) (used, note string, err error) {
	if C.can_repair() == 0 {
		return coreName(), fmt.Sprintf("no: this OpenBLAS cannot change its core; set OPENBLAS_CORETYPE=%s", want), nil
	}
	name := C.CString(want)
	defer C.free(unsafe.Pointer(name))
	if C.repair(name) != 0 {
		return coreName(), "", fmt.Errorf("cblas: cannot set OPENBLAS_CORETYPE=%s", want)
	}
	used = coreName()
	return used, fmt.Sprintf("no: asked for %s, got %s", want, used), nil
}

func coreName() string { return C.GoString(C.openblas_get_corename()) }

// version returns OpenBLAS's description of its build. It is called once: OpenBLAS writes the text
// into a buffer of the process, so that two calls at a time read each other's half-written text.
func version() string { return C.GoString(C.openblas_get_config()) }

func setThreads(n int) { C.openblas_set_num_threads(C.int(n)) }
func threads() int     { return int(C.openblas_get_num_threads()) }
