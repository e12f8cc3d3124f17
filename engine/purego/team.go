package purego

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// A task is work in numbered parts that can be done at the same time, in any
// order, on any goroutine.
type task interface {
	part(i int, s *scratch)
}

// A team is the goroutines at work on one task: they take parts from next until
// none are left.
type team struct {
	task  task
	parts int64
	next  atomic.Int64
	wg    sync.WaitGroup
}

func (t *team) work(s *scratch) {
	for {
		i := t.next.Add(1) - 1
		if i >= t.parts {
			return
		}
		t.task.part(int(i), s)
	}
}

// The helpers are goroutines that live as long as the program and wait for teams
// to join. So work starts no goroutine and allocates nothing.
var (
	start sync.Once
	calls = make(chan *team)
)

func startHelpers() {
	for range runtime.NumCPU() - 1 {
		go func() {
			s := new(scratch)
			for t := range calls {
				t.work(s)
				t.wg.Done()
			}
		}()
	}
}

// run does a task in so many parts on the calling goroutine and on those helpers
// that are idle, no more than GOMAXPROCS in all.
func (t *team) run(k task, parts int) {
	t.task, t.parts = k, int64(parts)
	t.next.Store(0)
	s := scratches.get()
	t.recruit(parts - 1)
	t.work(s)
	t.wg.Wait()
	scratches.put(s)
	t.task = nil
}

func (t *team) recruit(most int) {
	if most == 0 {
		return
	}
	start.Do(startHelpers)
	for range min(runtime.GOMAXPROCS(0)-1, most) {
		t.wg.Add(1)
		select {
		case calls <- t:
		default:
			t.wg.Done()
			return
		}
	}
}

// A pool keeps values for reuse, up to 64. The last one put back is the first one
// taken, so that few are in use and grow to the size that is needed.
type pool[T any] struct {
	mu   sync.Mutex
	free []*T
}

func (p *pool[T]) get() *T {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.free) - 1
	if last < 0 {
		return new(T)
	}
	x := p.free[last]
	p.free = p.free[:last]
	return x
}

func (p *pool[T]) put(x *T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free == nil {
		p.free = make([]*T, 0, 64)
	}
	if len(p.free) < cap(p.free) {
		p.free = append(p.free, x)
	}
}

// scratch is what one goroutine needs beside the operands.
type scratch struct {
	a, b []float64 // packed panels
	tile [8 * 24]float64
}

var scratches pool[scratch]

// grow returns x with at least n elements, of any content.
func grow(x *[]float64, n int) []float64 {
	if len(*x) < n {
		*x = make([]float64, max(n, 1<<13)) // from 64 KiB on, Go aligns to pages
	}
	return *x
}
