package purego

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
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
	room  int // for so many helpers more; of the board
	busy  atomic.Int64
	wg    sync.WaitGroup
}

// patience is how long a goroutine looks for work, or waits for the others, before
// it goes to sleep: to wake one takes about as long as a small task.
const patience = 100 * time.Microsecond

// awhile waits until done, or patience ends.
func awhile(done func() bool) {
	for start := time.Now(); !done() && time.Since(start) < patience; {
		runtime.Gosched()
	}
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

// run does a task in so many parts on the calling goroutine and on those helpers
// that are free, no more than GOMAXPROCS in all.
func (t *team) run(k task, parts int) {
	t.task, t.parts, t.room = k, int64(parts), min(parts, runtime.GOMAXPROCS(0))-1
	t.next.Store(0)
	s := scratches.get()
	if t.room > 0 {
		helpers.post(t)
		t.work(s)
		helpers.remove(t)
		awhile(t.quiet)
		t.wg.Wait()
	} else {
		t.work(s)
	}
	scratches.put(s)
	t.task = nil
}

func (t *team) quiet() bool { return t.busy.Load() == 0 }

// A board lists the teams that have room for helpers: goroutines that live as
// long as the program. So work starts no goroutine and allocates nothing.
type board struct {
	start  sync.Once
	mu     sync.Mutex
	posted sync.Cond
	teams  []*team
	open   atomic.Int64 // how many there are
}

func (b *board) any() bool { return b.open.Load() > 0 }

var helpers board

func (b *board) post(t *team) {
	b.start.Do(func() {
		b.posted.L = &b.mu
		for range runtime.NumCPU() - 1 {
			go b.help()
		}
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.teams = append(b.teams, t)
	b.open.Add(1)
	for range t.room {
		b.posted.Signal()
	}
}

func (b *board) remove(t *team) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.teams, t); i >= 0 {
		b.delete(i)
	}
}

func (b *board) delete(i int) {
	b.teams = slices.Delete(b.teams, i, i+1)
	b.open.Add(-1)
}

func (b *board) help() {
	s := new(scratch)
	for {
		t := b.join()
		t.work(s)
		t.busy.Add(-1)
		t.wg.Done()
	}
}

// join waits for a team with room and takes it.
func (b *board) join() *team {
	awhile(b.any)
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.teams) == 0 {
		b.posted.Wait()
	}
	t := b.teams[0]
	t.wg.Add(1)
	t.busy.Add(1)
	if t.room--; t.room == 0 {
		b.delete(0)
	}
	return t
}

// scratch is what one goroutine needs beside the operands.
type scratch struct {
	a, b []float64 // packed panels
	four []fourSums
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
