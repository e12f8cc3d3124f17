package purego

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A task is work that consists of numbered parts. The parts may run concurrently and in any order.
type task interface {
	doPart(i int, s *scratch)
}

// A team is a set of goroutines that work on one task. Each goroutine takes the next part until no part is left.
type team struct {
	task  task
	parts int64
	next  atomic.Int64
	room  int // number of helpers that may still join; protected by the mutex of the board
	busy  atomic.Int64
	wg    sync.WaitGroup
}

// patience is the time that a goroutine actively waits for work or for other goroutines before it sleeps. It does
// not sleep at once, because waking a goroutine takes about as long as a small task.
const patience = 100 * time.Microsecond

// spin waits until done returns true, but at most for the time patience.
func spin(done func() bool) {
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
		t.task.doPart(int(i), s)
	}
}

// working is the number of goroutines that now work on the tasks of all teams.
var working atomic.Int64

// free returns the number of goroutines that a new task may use. It is GOMAXPROCS minus the number of goroutines
// that work on other tasks, but at least 1. If several sketches are filled at a time, most tasks get one goroutine.
// The matrix B of a product is then packed once, not once for each goroutine.
func free() int {
	return max(1, runtime.GOMAXPROCS(0)-int(working.Load()))
}

// run runs all parts of the task k on the calling goroutine and on helper goroutines that are free.
func (t *team) run(k task, parts int) {
	t.task = k
	t.parts = int64(parts)
	t.room = min(parts, free()) - 1
	working.Add(1)
	defer working.Add(-1)
	t.next.Store(0)
	s := scratches.get()
	if t.room > 0 {
		helpers.post(t)
		t.work(s)
		helpers.remove(t)
		spin(t.isIdle)
		t.wg.Wait()
	} else {
		t.work(s)
	}
	scratches.put(s)
	t.task = nil
}

func (t *team) isIdle() bool { return t.busy.Load() == 0 }

// A board lists the teams that need helper goroutines. Helpers never end, so a task starts no goroutine and
// allocates nothing.
type board struct {
	start  sync.Once
	mu     sync.Mutex
	posted sync.Cond
	teams  []*team
	open   atomic.Int64 // number of elements of teams
}

func (b *board) hasTeams() bool { return b.open.Load() > 0 }

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
		working.Add(1)
		t.work(s)
		working.Add(-1)
		t.busy.Add(-1)
		t.wg.Done()
	}
}

// join waits for a team that needs a helper goroutine, and adds the calling goroutine to this team.
func (b *board) join() *team {
	spin(b.hasTeams)
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.teams) == 0 {
		b.posted.Wait()
	}
	t := b.teams[0]
	t.wg.Add(1)
	t.busy.Add(1)
	t.room--
	if t.room == 0 {
		b.delete(0)
	}
	return t
}

// scratch is the workspace of one goroutine.
type scratch struct {
	a, b []float64 // packed panels
	four []fourSums
	tile [8 * 24]float64
}

var scratches pool[scratch]

// grow returns the slice *x, with unspecified elements. If *x has fewer than n elements, grow first replaces *x by
// a larger slice.
func grow(x *[]float64, n int) []float64 {
	if len(*x) < n {
		*x = make([]float64, max(n, 1<<13)) // Go aligns slices of 64 KiB and more to pages
	}
	return *x
}
