package chunk

import "sync"

const (
	// maxWorkers is the number of parsers that one reading goroutine can supply.
	maxWorkers = 16
	// maxText limits the total bytes of text of all chunks in use. A chunk longer than maxText waits until no other is in
	// use.
	maxText = 8 << 20
	// maxKept limits the bytes of memory that a chunk keeps for reuse.
	maxKept = 4 << 20
)

// A team of goroutines parses the chunks of a file.
type team struct {
	free  chan *chunk // chunks to fill with text
	order chan *chunk // filled chunks in the order of the file, whether parsed or not
	work  chan *chunk // chunks to parse
	stop  chan struct{}
	all   sync.WaitGroup
}

// newTeam starts a goroutine that reads, and several that parse. Their number is workers. It makes workers + 2 chunks,
// because one is being filled and the rows of another are being delivered.
func newTeam(cutter *cutter, format Format, workers int, sparse bool) *team {
	n := workers + 2
	// Each channel has space for these n chunks and for one that the caller adds, so no send blocks.
	t := &team{
		free:  make(chan *chunk, n+1),
		order: make(chan *chunk, n+1),
		work:  make(chan *chunk, n+1),
		stop:  make(chan struct{}),
	}
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

// next waits for the next parsed chunk, or returns nil.
func (t *team) next() *chunk {
	c, ok := <-t.order
	if !ok {
		return nil
	}
	<-c.done
	return c
}

// read fills chunks until the file ends or the team stops.
func (t *team) read(cutter *cutter) {
	defer close(t.order)
	defer close(t.work)
	var spare []*chunk
	inFlight := 0
	// awaitChunk adds a delivered chunk to spare, unless the team stops.
	awaitChunk := func() bool {
		select {
		case <-t.stop:
			return false
		case c := <-t.free:
			inFlight -= c.inFlight
			c.inFlight = 0
			if c.memory() > maxKept {
				c.forget()
			}
			spare = append(spare, c)
			return true
		}
	}
	for {
		if len(spare) == 0 && !awaitChunk() {
			return
		}
		c := spare[len(spare)-1]
		spare = spare[:len(spare)-1]
		if !cutter.fill(c) {
			return
		}
		for n := len(c.lines.text); inFlight > 0 && inFlight+n > maxText; {
			if !awaitChunk() {
				return
			}
		}
		c.inFlight = len(c.lines.text)
		inFlight += c.inFlight
		t.order <- c
		t.work <- c
	}
}

// close stops the goroutines and waits for their end.
func (t *team) close() {
	close(t.stop)
	t.all.Wait()
}
