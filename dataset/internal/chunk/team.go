package chunk

import "sync"

const (
	// mostWorkers bounds the memory on machines of many cores. One goroutine, which reads the
	// file, cannot feed more of them.
	mostWorkers = 16
	// flight is how many bytes of text there may be in chunks at a time. A longer one is alone.
	flight = 8 << 20
	// keep is how many bytes of memory chunks may keep together while they wait to be filled.
	keep = 64 << 20
)

// A team parses the chunks of a file.
type team struct {
	free  chan *chunk // to be filled
	order chan *chunk // being parsed, in the order of the file
	work  chan *chunk // to be parsed
	stop  chan struct{}
	all   sync.WaitGroup
}

// newTeam starts one goroutine that reads and so many that parse. There are two chunks more:
// one that is filled and one whose rows are delivered.
func newTeam(cutter *cutter, format Format, workers int, sparse bool) *team {
	n := workers + 2
	// One more, for the chunk that was filled before there was a team: so no send ever waits.
	t := &team{free: make(chan *chunk, n+1), order: make(chan *chunk, n+1), work: make(chan *chunk, n+1), stop: make(chan struct{})}
	for range n {
		t.free <- newChunk(sparse)
	}
	t.all.Go(func() { t.read(cutter) })
	for range workers {
		t.all.Go(func() {
			for c := range t.work {
				select {
				case <-t.stop: // nobody waits for it
				default:
					c.parse(format)
					c.done <- struct{}{}
				}
			}
		})
	}
	return t
}

// next is the next chunk, when it was parsed; nil for none.
func (t *team) next() *chunk {
	c, ok := <-t.order
	if !ok {
		return nil
	}
	<-c.done
	return c
}

// read fills chunks until the file ends.
func (t *team) read(cutter *cutter) {
	defer close(t.order)
	defer close(t.work)
	var spare []*chunk
	flying, held := 0, 0
	// back waits for a chunk whose rows were delivered, and reports whether it came.
	back := func() bool {
		select {
		case <-t.stop:
			return false
		case c := <-t.free:
			flying -= c.flying
			c.flying = 0
			memory := c.memory()
			if held += memory - c.held; held > keep {
				held -= memory
				c.forget()
				memory = 0
			}
			c.held = memory
			spare = append(spare, c)
			return true
		}
	}
	for {
		if len(spare) == 0 && !back() {
			return
		}
		c := spare[len(spare)-1]
		spare = spare[:len(spare)-1]
		if !cutter.fill(c) {
			return
		}
		for n := len(c.lines.text); flying > 0 && flying+n > flight; {
			if !back() {
				return
			}
		}
		c.flying = len(c.lines.text)
		flying += c.flying
		t.order <- c
		t.work <- c
	}
}

// close ends the goroutines and waits for them.
func (t *team) close() {
	close(t.stop)
	t.all.Wait()
}
