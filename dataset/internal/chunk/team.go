package chunk

import "sync"

const (
	// maxWorkers limits the number of goroutines that parse, because one reading goroutine cannot supply more.
	maxWorkers = 16
	// maxText limits the total bytes of text of all chunks in use. A chunk longer than maxText has to wait until no
	// other chunk is in use.
	maxText = 8 << 20
	// maxKept limits the memory, in bytes, that a chunk keeps for its next use. A chunk with more memory gives it
	// up.
	maxKept = 4 << 20
)

// A team is a group of goroutines that read and parse the chunks of a file.
type team struct {
	free  chan *chunk // chunks to fill with text
	order chan *chunk // filled chunks in the order of the file, whether parsed or not
	work  chan *chunk // chunks to parse
	stop  chan struct{}
	all   sync.WaitGroup
}

// newTeam starts one goroutine that reads chunks and several goroutines, as many as workers, that parse them. It
// makes workers + 2 chunks, because one more chunk is being filled and the rows of another are being delivered.
func newTeam(cutter *cutter, format Format, workers int, sparse bool) *team {
	n := workers + 2
	// Each channel has space for all n chunks, and for one more that the caller adds. So no send on a channel
	// blocks.
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

// next waits until the next chunk is parsed and returns it. It returns nil if there are no more chunks.
func (t *team) next() *chunk {
	c, ok := <-t.order
	if !ok {
		return nil
	}
	<-c.done
	return c
}

// read fills chunks with text and passes them to the parsing goroutines. It ends at the end of the file, or when
// the team is stopped.
func (t *team) read(cutter *cutter) {
	defer close(t.order)
	defer close(t.work)
	var spare []*chunk
	inFlight := 0
	// awaitChunk waits for a chunk whose rows were delivered, and adds it to spare. If the team is stopped, it
	// returns false.
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
