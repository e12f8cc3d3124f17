// Package parallel runs numbered tasks on all cores. Repeated runs do not allocate.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/fdridge/fdridge/engine"
)

// A Loop runs the same numbered tasks at each call of [Loop.Run].
type Loop struct {
	do   func(i int) error
	errs []error
	next atomic.Int64
	wait sync.WaitGroup
	work func() // the body of each goroutine; a field, because creating a closure allocates

	sharer engine.Sharer // nil if the backend has no threads of its own
}

// New returns a loop over the tasks 0 to n−1. be is the backend that the tasks call, or nil. The backend uses
// fewer cores during a run (see [engine.Sharer]).
func New(be engine.Backend, n int, do func(i int) error) *Loop {
	l := &Loop{do: do, errs: make([]error, n)}
	l.sharer, _ = be.(engine.Sharer)
	l.work = func() {
		defer l.wait.Done()
		l.take()
	}
	return l
}

// Run runs all tasks and returns one error per task. The next call of Run overwrites the returned errors.
func (l *Loop) Run() []error {
	l.next.Store(0)
	others := min(runtime.GOMAXPROCS(0), len(l.errs)) - 1
	if others > 0 && l.sharer != nil {
		l.sharer.Share()
		defer l.sharer.Unshare()
	}
	l.wait.Add(others)
	for range others {
		go l.work()
	}
	l.take()
	l.wait.Wait()
	return l.errs
}

// take runs tasks that no worker has started, until none is left.
func (l *Loop) take() {
	for {
		i := int(l.next.Add(1)) - 1
		if i >= len(l.errs) {
			return
		}
		l.errs[i] = l.do(i)
	}
}
