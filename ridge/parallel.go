package ridge

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/fdridge/fdridge/engine"
)

// A parallel does numbered things side by side, on as many cores as there are, again and again
// without allocating.
type parallel struct {
	do   func(i int) error
	errs []error
	next atomic.Int64
	wait sync.WaitGroup
	work func() // what a goroutine of its own runs: made once, as it would be allocated

	sharer engine.Sharer // nil where the backend is none
}

func newParallel(be engine.Backend, n int, do func(i int) error) *parallel {
	p := &parallel{do: do, errs: make([]error, n)}
	p.sharer, _ = be.(engine.Sharer)
	p.work = func() {
		defer p.wait.Done()
		p.take()
	}
	return p
}

// run does all of them, and returns the errors.
func (p *parallel) run() []error {
	p.next.Store(0)
	others := min(runtime.GOMAXPROCS(0), len(p.errs)) - 1
	if others > 0 && p.sharer != nil {
		p.sharer.Share()
		defer p.sharer.Unshare()
	}
	p.wait.Add(others)
	for range others {
		go p.work()
	}
	p.take()
	p.wait.Wait()
	return p.errs
}

// take does what nobody else has begun, until nothing is left.
func (p *parallel) take() {
	for {
		i := int(p.next.Add(1)) - 1
		if i >= len(p.errs) {
			return
		}
		p.errs[i] = p.do(i)
	}
}
