package dataset

import (
	"context"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// A Pipe is a stream of bytes that can be read only once, such as standard input, a FIFO or a connection. The
// options of the file formats accept a Pipe instead of a file. The Pipe keeps the bytes that were read to detect
// the format. The pass over the rows reads these bytes again.
//
// A goroutine reads ahead by at most three buffers of 512 KiB. When the context of the Pipe is cancelled, reading
// from the Pipe returns at once, and the goroutine ends after its current read. Reading the zero value returns a
// *[SourceError].
type Pipe struct {
	// Prompt states that rows must be delivered without delay: a block of rows ends when no more data have arrived.
	// Otherwise blocks are as large as for a file and do not depend on the timing. Set Prompt before the first
	// read.
	Prompt bool

	name    string
	ahead   pump
	head    []byte // bytes that Look has read
	held    []byte // current buffer
	rest    []byte // unread part of held
	isTaken bool   // Take was called

	passed int64  // bytes that the pass has read
	last   []byte // the last of them, at most pipeTail bytes
	tail   atomic.Pointer[PipeTail]
}

// A PipeTail describes the data of a pipe that was read to its end.
type PipeTail struct {
	Text []byte // the last bytes, at most 8 KiB
	Size int64  // bytes in all
}

// A pump reads a stream on its own goroutine, before the data are needed.
type pump struct {
	ctx        context.Context
	open       func() (io.ReadCloser, error)
	begin, end sync.Once
	full, free chan []byte
	stopped    chan struct{}
	err        error // why reading ended; written before full is closed, read after

	mu     sync.Mutex
	from   io.Closer // the opened stream, to be closed
	closed bool      // from is closed, or must be closed when it is opened
}

const (
	pipeBuffer  = 512 << 10
	pipeBuffers = 3
	// pipeHead limits the bytes that a Pipe keeps to detect the format. Two lines of the maximum length fit.
	pipeHead = 129 << 20
	pipeTail = 8 << 10
)

// NewPipe returns a Pipe that reads r and does not close it. Errors use name as the file name.
func NewPipe(ctx context.Context, name string, r io.Reader) *Pipe {
	return newPipe(ctx, name, func() (io.ReadCloser, error) {
		if r == nil {
			return nil, errNoPipe
		}
		if f, ok := r.(*os.File); ok {
			enlargePipe(f)
		}
		return io.NopCloser(r), nil
	})
}

// OpenPipe returns a Pipe that reads the FIFO with the given name. The first read opens the FIFO and waits for a
// writer.
func OpenPipe(ctx context.Context, name string) *Pipe {
	return newPipe(ctx, name, func() (io.ReadCloser, error) {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		enlargePipe(f)
		return f, nil
	})
}

func newPipe(ctx context.Context, name string, open func() (io.ReadCloser, error)) *Pipe {
	p := &Pipe{name: name}
	p.ahead.ctx, p.ahead.open, p.ahead.stopped = ctx, open, make(chan struct{})
	p.ahead.full = make(chan []byte, pipeBuffers)
	p.ahead.free = make(chan []byte, pipeBuffers)
	for range pipeBuffers {
		p.ahead.free <- nil
	}
	return p
}

// Name returns the name that errors use.
func (p *Pipe) Name() string { return p.name }

// Look returns a reader that starts at the beginning of the data. The Pipe keeps all bytes that this reader reads,
// so that they can be read again. After a call of [Pipe.Take], the reader returns only bytes that were kept before.
func (p *Pipe) Look() io.Reader { return &pipeReader{p: p} }

// Take returns a reader of all data, for a single pass over the rows. A second call returns a *[OnceError].
func (p *Pipe) Take() (*Taken, error) {
	if p.isTaken {
		return nil, &OnceError{What: "a second pass over " + p.name}
	}
	p.isTaken = true
	return &Taken{pipeReader{p: p, pass: true}}, nil
}

// Tail returns the end of the data, if the pass over the rows has read all data. Otherwise it returns nil.
func (p *Pipe) Tail() *PipeTail { return p.tail.Load() }

// keepTail keeps the last bytes that the pass over the rows has read.
func (p *Pipe) keepTail(read []byte) {
	p.passed += int64(len(read))
	read = read[max(0, len(read)-pipeTail):]
	if over := len(p.last) + len(read) - pipeTail; over > 0 {
		p.last = p.last[:copy(p.last, p.last[over:])]
	}
	p.last = append(p.last, read...)
}

// Stop makes all current and future reads return [context.Canceled], and closes the FIFO of OpenPipe.
func (p *Pipe) Stop() { p.ahead.stop() }

func (p *pump) stop() {
	if p.open == nil {
		return // the zero value has nothing to stop
	}
	p.end.Do(func() {
		close(p.stopped)
		p.mu.Lock()
		from := p.from
		p.closed = true
		p.mu.Unlock()
		if from != nil {
			_ = from.Close() // the stream was opened for reading, so an error of Close does no harm
		}
	})
}

// run reads the stream into buffers until its end, an error, a call of stop, or the end of p.ctx.
func (p *pump) run() {
	defer close(p.full)
	from, err := p.open()
	if err != nil {
		p.err = err
		return
	}
	p.mu.Lock()
	p.from = from
	closed := p.closed
	p.mu.Unlock()
	if closed {
		p.err = from.Close()
		return
	}
	const mostEmpty = 100
	for empty := 0; ; {
		var b []byte
		select {
		case <-p.stopped:
			return
		case <-p.ctx.Done():
			return
		case b = <-p.free:
		}
		if b == nil {
			b = make([]byte, pipeBuffer)
		}
		n, err := from.Read(b[:pipeBuffer])
		if n > 0 {
			empty = 0
			p.full <- b[:n] // never blocks: there are as many places as buffers
		} else if p.free <- b; err == nil {
			empty++
			if empty == mostEmpty {
				err = io.ErrNoProgress
			}
		}
		if err != nil {
			p.err = err
			return
		}
	}
}

// fetch gets new data from the goroutine that reads ahead, if p.rest is empty. p.rest are the bytes to deliver
// next. If wait is false and no data have arrived, fetch returns errNotYet.
func (p *Pipe) fetch(wait bool) error {
	if len(p.rest) > 0 {
		return nil
	}
	if p.held != nil {
		p.ahead.free <- p.held
		p.held = nil
	}
	b, err := p.ahead.next(wait)
	if err != nil {
		return err
	}
	p.held, p.rest = b, b
	return nil
}

// next returns the next buffer of data. If wait is false and no data have arrived, it returns errNotYet.
func (p *pump) next(wait bool) (b []byte, err error) {
	if p.open == nil {
		return nil, errNoPipe
	}
	p.begin.Do(func() { go p.run() })
	if p.ctx.Err() != nil { // takes precedence over data that have arrived
		return nil, p.ctx.Err()
	}
	var ok bool
	if !wait {
		select {
		case b, ok = <-p.full:
		default:
			return nil, errNotYet
		}
	} else {
		select {
		case b, ok = <-p.full:
		case <-p.ctx.Done():
			return nil, p.ctx.Err()
		case <-p.stopped:
			return nil, context.Canceled
		}
	}
	switch {
	case ok:
		return b, nil
	case p.err != nil:
		return nil, p.err
	}
	return nil, context.Canceled // stopped
}

// errNotYet reports that no data have arrived.
var errNotYet = &SourceError{"no more has come yet"}

// errNoPipe reports that a zero Pipe or a zero Taken was read.
var errNoPipe = &SourceError{"a pipe without a reader; create it with NewPipe or OpenPipe"}

// A Taken reads all data of a [Pipe], for the only pass over the rows. [Pipe.Take] returns it.
type Taken struct{ pipeReader }

// Available returns a number of bytes that can be read without waiting. More bytes may be available.
func (t *Taken) Available() int {
	p := t.p
	if p == nil {
		return 0
	}
	n := len(p.head) - t.at + len(p.rest)
	if n == 0 && p.fetch(false) == nil {
		n = len(p.rest)
	}
	return n
}

// Prompt returns the field Prompt of the Pipe.
func (t *Taken) Prompt() bool {
	return t.p != nil && t.p.Prompt
}

// Stop stops the Pipe.
func (t *Taken) Stop() {
	if t.p != nil {
		t.p.Stop()
	}
}

// A pipeReader reads a Pipe from its beginning: first the bytes that the Pipe has kept, then new bytes.
type pipeReader struct {
	p    *Pipe
	at   int  // position in head
	pass bool // reads for the pass, so that new bytes are not kept
}

// Read implements [io.Reader]. It waits only if no bytes have arrived.
func (r *pipeReader) Read(to []byte) (int, error) {
	p := r.p
	if p == nil {
		return 0, errNoPipe
	}
	n, err := r.read(to)
	if r.pass {
		p.keepTail(to[:n])
		if err == io.EOF {
			p.tail.Store(&PipeTail{Text: p.last, Size: p.passed})
		}
	}
	return n, err
}

func (r *pipeReader) read(to []byte) (int, error) {
	p := r.p
	if r.at < len(p.head) {
		n := copy(to, p.head[r.at:])
		r.at += n
		return n, nil
	}
	if len(to) == 0 {
		return 0, nil
	}
	if !r.pass {
		return r.look(to)
	}
	n := 0
	for n < len(to) {
		if err := p.fetch(n == 0); err != nil {
			if n > 0 { // the next Read returns the error
				return n, nil
			}
			return 0, err
		}
		k := copy(to[n:], p.rest)
		n += k
		p.rest = p.rest[k:]
	}
	return n, nil
}

// look reads new bytes into to, and keeps a copy of them in the Pipe.
func (r *pipeReader) look(to []byte) (int, error) {
	p := r.p
	switch {
	case p.isTaken:
		return 0, &OnceError{What: "looking at " + p.name + " again"}
	case len(p.head) >= pipeHead:
		return 0, &InputError{File: p.name, Msg: "the beginning is too long to detect the format"}
	}
	if err := p.fetch(true); err != nil {
		return 0, err
	}
	n := copy(to, p.rest)
	p.head = append(p.head, p.rest[:n]...)
	p.rest = p.rest[n:]
	r.at += n
	return n, nil
}
