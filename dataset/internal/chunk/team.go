package chunk

import "sync"

const (
	// mostWorkers limits the number of parsing goroutines. One reading goroutine cannot supply
	// more, and each needs memory.
	mostWorkers = 16
	// flight limits the bytes of text in all chunks together. A longer chunk waits until it is the only one.
	flight = 8 << 20
	// keep limits the bytes of memory that chunks keep for reuse.
	keep = 64 << 20
)

// A team is a group of goroutines that parse the chunks of a file.
type team struct {
	free  chan *chunk // chunks to fill with text
	order chan *chunk // filled chunks in the order of the file, whether parsed or not
	work  chan *chunk // chunks to parse
	stop  chan struct{}
	all   sync.WaitGroup
}

// newTeam starts one goroutine that reads and the given number of goroutines that parse. There are
// two more chunks than parsing goroutines: one is filled while the rows of another are delivered.
func newTeam(cutter *cutter, format Format, workers int, sparse bool) *team {
	n := workers + 2
	// Each channel has room for all chunks, so that no send blocks. The additional place is for
	// the chunk that was filled before the team started.
	t := &team{free: make(chan *chunk, n+1), order: make(chan *chunk, n+1), work: make(chan *chunk, n+1), stop: make(chan struct{})}
	for range n {
		t.free <- newChunk(sparse)
	}
	t.all.Go(func() { t.read(cutter) })
	for range workers {
		t.all.Go(func() {
			for c := range t.work {
				select {
				case <-t.stop: // nobody waits for the chunk
				default:
					c.parse(format)
					c.done <- struct{}{}
				}
			}
		})
	}
	return t
}

// next waits for the next chunk to be parsed and returns it. It returns nil if there is none.
func (t *team) next() *chunk {
	c, ok := <-t.order
	if !ok {
		return nil
	}
	<-c.done
	return c
}

// read fills chunks with text until the file ends or the team stops.
func (t *team) read(cutter *cutter) {
	defer close(t.order)
	defer close(t.work)
	var spare []*chunk
	flying, held := 0, 0
	// back waits for a chunk whose rows were delivered. It returns false if the team stops.
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

// close stops the goroutines and waits for their end.
func (t *team) close() {
	close(t.stop)
	t.all.Wait()
}
