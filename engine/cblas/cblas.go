//go:build openblas && cgo

package cblas

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"sync"

	"gonum.org/v1/netlib/blas/netlib"

	"github.com/fdridge/fdridge/engine/internal/matrix"
	"github.com/fdridge/fdridge/engine/purego"
)

// Backend implements engine.Backend.
type Backend struct {
	blas      netlib.Implementation
	core      core
	version   string
	requested int             // the argument of New
	threads   int             // number of threads that OpenBLAS can use for a call
	slots     chan struct{}   // one element for each call inside OpenBLAS
	fallback  *purego.Backend // for operations that BLAS lacks

	// current is the number of threads that OpenBLAS now uses. It changes only in Share and Unshare, or if slots
	// has room for only one call at a time.
	current int
	team    team // used by the current Gradient, if there is one slot
	sharing sharing
}

var (
	mu    sync.Mutex
	inUse *Backend // the only backend of the process
)

// New returns the backend with n OpenBLAS threads. OpenBLAS uses fewer threads if it was built for fewer. The limit
// is the build option MAX_THREADS, which is 64 on Debian. Capabilities reports the number in use.
//
// The number of threads is a setting of the process. Therefore a process has only one backend, and a second call of
// New with another n returns an error. The first call selects the fastest kernels, see [Backend.Capabilities]. The
// value of GOMAXPROCS at the first call determines how many calls can run inside OpenBLAS at the same time.
func New(n int) (*Backend, error) {
	if n < 1 {
		return nil, fmt.Errorf("cblas: %d threads", n)
	}
	mu.Lock()
	defer mu.Unlock()
	if inUse != nil {
		if inUse.requested != n {
			return nil, fmt.Errorf(
				"cblas: OpenBLAS is already set to %d threads in this process, cannot change to %d",
				inUse.requested,
				n,
			)
		}
		return inUse, nil
	}
	b, err := start(n)
	if err != nil {
		return nil, err
	}
	inUse = b
	return b, nil
}

// start creates the backend. It selects the fastest kernels and sets the number of OpenBLAS threads of the process
// to n. If this build of OpenBLAS allows fewer than n threads, OpenBLAS uses the largest number that it allows.
func start(n int) (*Backend, error) {
	c, err := repairCoreOnce()
	if err != nil {
		return nil, err
	}
	own, err := purego.New(purego.Config{})
	if err != nil {
		return nil, err
	}
	setThreads(min(n, math.MaxInt32))
	have := threads()
	return &Backend{
		core:      c,
		version:   version(),
		requested: n,
		threads:   have,
		current:   have,
		slots:     make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/have)),
		fallback:  own,
		sharing:   sharing{places: make(chan struct{}, runtime.GOMAXPROCS(0))},
	}, nil
}

// Name returns "openblas".
func (*Backend) Name() string { return "openblas" }

// Capabilities returns the OpenBLAS kernel family (core) in use, the core that OpenBLAS had detected, and a note
// that says whether New changed the core. It also returns the version, the number of threads, and the largest
// number of concurrent calls.
func (b *Backend) Capabilities() map[string]string {
	return map[string]string{
		"kernel":           b.core.used,
		"core_found":       b.core.found,
		"core_repaired":    b.core.note,
		"version":          b.version,
		"threads":          strconv.Itoa(b.threads),
		"concurrent_calls": strconv.Itoa(cap(b.slots)),
	}
}

func (b *Backend) setThreads(n int) {
	if b.current != n {
		setThreads(n)
		b.current = n
	}
}

// checkInt32 panics if a dimension or stride is too large for the 32-bit integers of OpenBLAS.
func checkInt32(matrices ...matrix.Matrix) {
	for _, m := range matrices {
		if max(m.Rows, m.Cols, m.Stride) > math.MaxInt32 {
			panic("cblas: dimension exceeds 32 bits")
		}
	}
}
