package randsketch

import (
	"runtime"
	"sync"
)

// minShare is the work, in additions or thereabouts, below which another goroutine
// costs more than it saves.
const minShare = 1 << 15

// A team divides a loop over at most GOMAXPROCS goroutines, which end with it.
// After the first time it allocates nothing.
type team struct {
	members  []*member
	n, parts int
	work     func(s *stream, lo, hi int)
	done     sync.WaitGroup
}

// A member does one part and has a generator of its own.
type member struct {
	stream *stream
	run    func()
}

// do calls work for parts of 0 to n that together cover it, all of it costing
// cost. The parts must not depend on each other.
func (t *team) do(n, cost int, work func(s *stream, lo, hi int)) {
	if n == 0 {
		return
	}
	t.n, t.work = n, work
	t.parts = min(runtime.GOMAXPROCS(0), n, 1+cost/minShare)
	for i := len(t.members); i < t.parts; i++ {
		t.members = append(t.members, &member{stream: newStream(), run: func() {
			t.part(i)
			t.done.Done()
		}})
	}
	t.done.Add(t.parts - 1)
	for _, m := range t.members[1:t.parts] {
		go m.run()
	}
	t.part(0)
	t.done.Wait()
}

func (t *team) part(i int) {
	t.work(t.members[i].stream, t.n*i/t.parts, t.n*(i+1)/t.parts)
}
