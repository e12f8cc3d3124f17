// Package parallel runs numbered tasks on all cores, again and again without allocating.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/fdridge/fdridge/engine"
)

// A Loop runs the same numbered tasks each time that [Loop.Run] is called.
type Loop struct {
	do   func(i int) error
	errs []error
	next atomic.Int64
	wait sync.WaitGroup
	work func() // the body of each goroutine: made once, since each closure is an allocation

	sharer engine.Sharer // nil if the backend has no threads of its own to share
}

// New makes a loop of the tasks 0 to n−1. If the tasks call the backend be, it is told to share the
// cores with them (see [engine.Sharer]); be may be nil.
func New(be engine.Backend, n int, do func(i int) error) *Loop {
	l := &Loop{do: do, errs: make([]error, n)}
	l.sharer, _ = be.(engine.Sharer)
	l.work = func() {
		defer l.wait.Done()
		l.take()
	}
	return l
}

// Run runs all tasks and returns their errors, one for each task. The next Run overwrites them.
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

// take runs tasks that no other goroutine has begun, until none is left.
func (l *Loop) take() {
	for {
		i := int(l.next.Add(1)) - 1
		if i >= len(l.errs) {
			return
		}
		l.errs[i] = l.do(i)
	}
}
