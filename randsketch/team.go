package randsketch

import (
	"runtime"
	"sync"
)

// minShare is the least work for a goroutine, in additions. With less work, a goroutine costs more than it saves.
const minShare = 1 << 15

// A team divides a loop over at most GOMAXPROCS goroutines, which end with the loop. It reuses its memory, so that
// only the first loops allocate.
type team struct {
	members  []*member
	n, parts int
	work     func(s *stream, lo, hi int)
	done     sync.WaitGroup
}

// A member runs a part of the loop and has its own generator.
type member struct {
	stream *stream
	run    func()
}

// do divides the range 0 to n into parts and calls work for each part, in parallel. cost is the work of all
// parts together, in additions. The parts must be independent.
func (t *team) do(n, cost int, work func(s *stream, lo, hi int)) {
	if n == 0 {
		return
	}
	t.n, t.work = n, work
	t.parts = min(runtime.GOMAXPROCS(0), n, 1+cost/minShare)
	for i := len(t.members); i < t.parts; i++ {
		t.members = append(t.members, &member{
			stream: newStream(),
			run: func() {
				t.part(i)
				t.done.Done()
			},
		})
	}
	t.done.Add(t.parts - 1)
	for _, m := range t.members[1:t.parts] {
		go m.run()
	}
	t.part(0)
	t.done.Wait()
}

func (t *team) part(i int) {
	lo := t.n * i / t.parts
	hi := t.n * (i + 1) / t.parts
	t.work(t.members[i].stream, lo, hi)
}
