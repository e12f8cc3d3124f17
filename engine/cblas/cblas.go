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

	// current number of OpenBLAS threads; changed only if one call at a time may be inside OpenBLAS, or by Share
	current int
	team    team // used by the current Gradient, if there is one slot
	sharing sharing
}

var (
	mu    sync.Mutex
	inUse *Backend // the only backend of the process
)

// New returns the backend with n OpenBLAS threads. An OpenBLAS that was built for fewer threads (MAX_THREADS; 64 on
// Debian) uses fewer, as Capabilities reports.
//
// The number of threads is a setting of the process. Therefore there is only one backend, and a second call of New
// with another n is an error. New first selects the fastest kernels, see [Backend.Capabilities]. GOMAXPROCS at the
// call of New determines the number of concurrent calls inside OpenBLAS.
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

// start selects the fastest kernels and sets the number of threads of the process. OpenBLAS lowers this number if it
// was built for fewer threads.
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

// Capabilities returns the kernel family (core) that OpenBLAS uses, the core that OpenBLAS detected, and a note that
// tells whether New changed the core. It also returns the version, the number of threads, and the largest number of
// concurrent calls.
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

// checkInt32 panics if a dimension or stride does not fit into OpenBLAS's 32-bit integers.
func checkInt32(matrices ...matrix.Matrix) {
	for _, m := range matrices {
		if max(m.Rows, m.Cols, m.Stride) > math.MaxInt32 {
			panic("cblas: dimension exceeds 32 bits")
		}
	}
}
