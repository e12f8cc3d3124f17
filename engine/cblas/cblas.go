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
	blas    netlib.Implementation
	core    core
	version string
	asked   int             // threads that New was asked for
	threads int             // that OpenBLAS has for a call
	slots   chan struct{}   // one for each call inside OpenBLAS
	own     *purego.Backend // for what BLAS lacks

	now     int  // threads that OpenBLAS is set to; changes only where there is one slot, or with sharing
	team    team // of the call inside, where there is one slot
	sharing sharing
}

var (
	mu    sync.Mutex
	inUse *Backend // of this process
)

// New returns the backend with n OpenBLAS threads, or, where OpenBLAS was built
// for fewer (its MAX_THREADS; 64 on Debian), as many as that: Capabilities tells.
// They are a setting of the process, so there is one backend: a second New with
// another n is an error. The machine's core is repaired first, see
// [Backend.Capabilities]. GOMAXPROCS, as it is then, sets how many calls may be
// inside OpenBLAS at a time.
func New(n int) (*Backend, error) {
	if n < 1 {
		return nil, fmt.Errorf("cblas: %d threads", n)
	}
	mu.Lock()
	defer mu.Unlock()
	if inUse != nil {
		if inUse.asked != n {
			return nil, fmt.Errorf("cblas: this process has OpenBLAS set to %d threads, cannot change to %d", inUse.asked, n)
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

// start repairs the core and sets the threads of the process. OpenBLAS itself
// lowers a number it was not built for.
func start(n int) (*Backend, error) {
	c, err := repaired()
	if err != nil {
		return nil, err
	}
	own, err := purego.New(purego.Config{})
	if err != nil {
		return nil, err
	}
	setThreads(min(n, math.MaxInt32))
	have := threads()
	return &Backend{core: c, version: version(), asked: n, threads: have, now: have, slots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/have)), own: own,
		sharing: sharing{places: make(chan struct{}, runtime.GOMAXPROCS(0))}}, nil
}

// Name is "openblas".
func (*Backend) Name() string { return "openblas" }

// Capabilities tells OpenBLAS's core in use, the one it had found and whether
// that was repaired, its version and threads, and how many calls may run at once.
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
	if b.now != n {
		setThreads(n)
		b.now = n
	}
}

// fits panics when a dimension or stride does not fit OpenBLAS's 32-bit integers.
func fits(matrices ...matrix.Matrix) {
	for _, m := range matrices {
		if max(m.Rows, m.Cols, m.Stride) > math.MaxInt32 {
			panic("cblas: dimension exceeds 32 bits")
		}
	}
}
