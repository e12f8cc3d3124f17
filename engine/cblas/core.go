//go:build openblas && cgo

package cblas

/*
#cgo LDFLAGS: -llapacke -lopenblas
#include <stdlib.h>

char *openblas_get_corename(void);
char *openblas_get_config(void);
void openblas_set_num_threads(int);
int openblas_get_num_threads(void);

// These functions exist only in builds of OpenBLAS that choose their kernels at run time. In other builds the weak
// symbols are null.
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

// A core holds the names of two kernel families of OpenBLAS, the detected one and the one in use. An example of a
// name is Haswell.
type core struct {
	found string // family that OpenBLAS detected
	used  string // family in use
	note  string // whether New changed the family, and why
}

// width is the vector width in bits of the OpenBLAS kernel families that have fused multiply-add. The families that
// are not listed have vectors of 128 bits or no fused multiply-add. They count as width 0.
var width = map[string]int{
	"SkylakeX":       512,
	"Cooperlake":     512,
	"SapphireRapids": 512,
	"Haswell":        256,
	"Zen":            256,
	"Excavator":      256,
}

// minGemmVectors returns the smallest number of right-hand sides at which one call of Gemm is faster than a call of
// Gemv for each right-hand side. AVX-512 kernels of OpenBLAS multiply small matrices without packing them, so one
// right-hand side is enough. Other kernels pack, which costs time.
func (c core) minGemmVectors() int {
	if width[c.used] == 512 {
		return 1
	}
	return 8
}

// bestCore returns the name of the OpenBLAS kernel family that is fastest on this CPU. It returns "" if the CPU
// lacks AVX2 or FMA.
func bestCore() string {
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

// repairCoreOnce calls repairCore at the first call only.
var repairCoreOnce = sync.OnceValues(repairCore)

// repairCore makes OpenBLAS use the fastest kernels for this CPU. This is necessary because OpenBLAS 0.3.21 does
// not know newer CPUs. It uses the SSE3 kernels named Prescott for them, which are three times slower. If the
// environment variable OPENBLAS_CORETYPE is set, repairCore changes nothing.
func repairCore() (core, error) {
	c := core{found: coreName()}
	c.used = c.found
	want := bestCore()
	var err error
	switch user, set := os.LookupEnv("OPENBLAS_CORETYPE"); {
	case set:
		c.note = fmt.Sprintf("no: OPENBLAS_CORETYPE=%s is set", user)
	case width[c.found] >= width[want]:
		c.note = "no need"
	default:
		c.used, c.note, err = switchCore(want)
		if c.used == want {
			c.note = fmt.Sprintf("yes: %s taken for %s", want, c.found)
		}
	}
	return c, err
}

// switchCore makes OpenBLAS use the kernel family named target. It returns the name of the family that OpenBLAS
// uses afterwards. If this name is not target, the note gives the reason. The environment variable
// OPENBLAS_CORETYPE is set only during the switch.
func switchCore(target string) (used, note string, err error) {
	if C.can_repair() == 0 {
		return coreName(), fmt.Sprintf("no: this OpenBLAS cannot change its core; set OPENBLAS_CORETYPE=%s", target), nil
	}
	name := C.CString(target)
	defer C.free(unsafe.Pointer(name))
	if C.repair(name) != 0 {
		return coreName(), "", fmt.Errorf("cblas: cannot set OPENBLAS_CORETYPE=%s", target)
	}
	used = coreName()
	return used, fmt.Sprintf("no: asked for %s, got %s", target, used), nil
}

func coreName() string { return C.GoString(C.openblas_get_corename()) }

// version returns the description of the OpenBLAS build. It must not be called concurrently, because OpenBLAS
// writes the text to a single buffer.
func version() string { return C.GoString(C.openblas_get_config()) }

func setThreads(n int) { C.openblas_set_num_threads(C.int(n)) }
func threads() int     { return int(C.openblas_get_num_threads()) }
