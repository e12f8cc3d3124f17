// Package parallel runs numbered tasks on all cores. A [Loop] can run its tasks repeatedly without allocating
// memory.
package parallel

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fdridge/fdridge/engine"
)

// A Loop runs the same numbered tasks at each call of [Loop.Run].
type Loop struct {
	do    func(i int) error
	errs  []error
	cores int // largest number of goroutines; 0 means all cores
	next  atomic.Int64
	wait  sync.WaitGroup
	work  func() // the body of each goroutine; a field, because creating a closure allocates

	sharer engine.Sharer // nil if the backend has no threads of its own
}

// New returns a loop over the tasks 0 to n−1. be is the backend that the tasks call, or nil. While the tasks run, a
// backend that implements [engine.Sharer] uses fewer cores.
func New(be engine.Backend, n int, do func(i int) error) *Loop {
	l := &Loop{do: do, errs: make([]error, n)}
	l.sharer, _ = be.(engine.Sharer)
	l.work = func() {
		defer l.wait.Done()
		l.take()
	}
	return l
}

// leastNumbers is the smallest number of float64 that [Do] gives to one goroutine. The start of a goroutine takes
// about as long as copying some thousand numbers.
const leastNumbers = 1 << 14

// Do runs the tasks 0 to n−1 once. It returns the error of the first task that has an error. numbers is the number
// of float64 that all tasks together handle. If it is small, Do uses fewer cores.
func Do(n, numbers int, do func(i int) error) error {
	if n == 1 {
		return do(0)
	}
	l := loops.Get().(*Loop)
	l.errs, l.do = slices.Grow(l.errs[:0], n)[:n], do
	err := First(l.RunFor(numbers))
	l.do = nil
	loops.Put(l)
	return err
}

// loops keeps loops for later calls of Do, because creating a loop allocates memory.
var loops = sync.Pool{New: func() any { return New(nil, 0, nil) }}

// RunFor runs all tasks like Run. numbers is the number of float64 that all tasks together handle. If it is small,
// RunFor uses fewer cores.
func (l *Loop) RunFor(numbers int) []error {
	l.cores = 1 + numbers/leastNumbers
	return l.Run()
}

// Run runs all tasks and returns one error for each task, or nil for a task without error. The next call of Run
// overwrites the returned errors.
func (l *Loop) Run() []error {
	l.next.Store(0)
	others := min(runtime.GOMAXPROCS(0), len(l.errs)) - 1
	if l.cores > 0 {
		others = min(others, l.cores-1)
	}
	if others > 0 && l.sharer != nil {
		l.sharer.Share()
		defer l.sharer.Unshare()
	}
	l.wait.Add(max(others, 0))
	for range others {
		go l.work()
	}
	l.take()
	l.wait.Wait()
	return l.errs
}

// First returns the first error that is not nil.
func First(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// take runs the tasks that no goroutine has started yet, one after another.
func (l *Loop) take() {
	for {
		i := int(l.next.Add(1)) - 1
		if i >= len(l.errs) {
			return
		}
		l.errs[i] = l.do(i)
	}
}
