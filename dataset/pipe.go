package dataset

import (
	"context"
	"io"
	"os"
	"sync"

	"github.com/fdridge/fdridge/internal/background"
)

// A Pipe is text or numbers that come once, and at their own pace: standard input, a FIFO, a
// connection. The options of a format take one in the place of a file. Finding out what the data
// are reads the beginning, which is kept, and so the one pass that can be made has all rows.
//
// A goroutine reads ahead of whoever reads the Pipe, no more than three buffers of 512 KiB. Where
// the context it was made with is done, a read ends with the context's error, whatever the other
// end does; the goroutine then ends when the read that it waits in returns. The zero value is of
// nothing: reading it is a *[SourceError].
type Pipe struct {
	// Prompt says that rows are wanted as soon as they are there: a block ends where no more have
	// come. Else blocks are as large as those of a file, and do not tell how the data came. It is
	// set before the first read.
	Prompt bool

	name  string
	ahead pump
	head  []byte // what was looked at
	held  []byte // the buffer at hand
	rest  []byte // of it
	taken bool   // by the pass
}

// A pump reads ahead on a goroutine of its own.
type pump struct {
	ctx        context.Context
	open       func() (io.ReadCloser, error)
	begin, end sync.Once
	full, free chan []byte
	stopped    chan struct{}
	err        error // why there is no more; written before full is closed, read after

	mu   sync.Mutex
	from io.Closer // what was opened, to be closed
	done bool      // it is closed, or to be as soon as it is opened
}

const (
	pipeBuffer  = 512 << 10
	pipeBuffers = 3
	// pipeHead bounds what is kept of what was looked at: two lines of a text as long as they may be.
	pipeHead = 129 << 20
)

// NewPipe returns what r yields; name is what errors call it. r is not closed.
func NewPipe(ctx context.Context, name string, r io.Reader) *Pipe {
	ctx = background.IfNil(ctx)
	return newPipe(ctx, name, func() (io.ReadCloser, error) {
		if r == nil {
			return nil, errNoPipe
		}
		if f, ok := r.(*os.File); ok {
			widen(f)
		}
		return io.NopCloser(r), nil
	})
}

// OpenPipe returns what is written to a FIFO. It is opened when it is first read, which waits for
// somebody to write.
func OpenPipe(ctx context.Context, name string) *Pipe {
	ctx = background.IfNil(ctx)
	return newPipe(ctx, name, func() (io.ReadCloser, error) {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		widen(f)
		return f, nil
	})
}

func newPipe(ctx context.Context, name string, open func() (io.ReadCloser, error)) *Pipe {
	p := &Pipe{name: name}
	p.ahead.ctx, p.ahead.open, p.ahead.stopped = ctx, open, make(chan struct{})
	p.ahead.full, p.ahead.free = make(chan []byte, pipeBuffers), make(chan []byte, pipeBuffers)
	for range pipeBuffers {
		p.ahead.free <- nil
	}
	return p
}

// Name is what errors call it.
func (p *Pipe) Name() string { return p.name }

// Look returns what comes, from the beginning. What is read of it is kept. After [Pipe.Take] there
// is only what was kept.
func (p *Pipe) Look() io.Reader { return &pipeReader{p: p} }

// Take returns what comes, from the beginning, for the one pass there is. A second time it is an
// *[OnceError].
func (p *Pipe) Take() (*Taken, error) {
	if p.taken {
		return nil, &OnceError{What: "a second pass over " + p.name}
	}
	p.taken = true
	return &Taken{pipeReader{p: p, pass: true}}, nil
}

// Stop ends whatever waits for the Pipe, and all reads to come, with [context.Canceled]. What it
// has opened is closed.
func (p *Pipe) Stop() { p.ahead.stop() }

func (p *pump) stop() {
	if p.open == nil {
		return // there is nothing to wait for
	}
	p.end.Do(func() {
		close(p.stopped)
		p.mu.Lock()
		from := p.from
		p.done = true
		p.mu.Unlock()
		if from != nil {
			_ = from.Close() // it was only read
		}
	})
}

// run reads until there is no more.
func (p *pump) run() {
	defer close(p.full)
	from, err := p.open()
	if err != nil {
		p.err = err
		return
	}
	p.mu.Lock()
	p.from = from
	done := p.done
	p.mu.Unlock()
	if done {
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
			p.full <- b[:n] // never blocks: as many buffers as places
		} else if p.free <- b; err == nil {
			if empty++; empty == mostEmpty {
				err = io.ErrNoProgress
			}
		}
		if err != nil {
			p.err = err
			return
		}
	}
}

// more gets bytes to read, where there are none: it waits for them if it may.
func (p *Pipe) more(wait bool) error {
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

// next is the next buffer that was read.
func (p *pump) next(wait bool) (b []byte, err error) {
	if p.open == nil {
		return nil, errNoPipe
	}
	p.begin.Do(func() { go p.run() })
	if p.ctx.Err() != nil { // before what has come by now
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
	return nil, context.Canceled // it was stopped
}

// errNotYet says that nothing has come yet.
var errNotYet = &SourceError{"no more has come yet"}

// errNoPipe reports the zero value of a Pipe, or of what is taken of one.
var errNoPipe = &SourceError{"a pipe of nothing, made by neither NewPipe nor OpenPipe"}

// A Taken is a [Pipe] for its one pass.
type Taken struct{ pipeReader }

// Available is how many bytes have come that Read would return without waiting, as far as it is
// known: 0 says that it may wait.
func (t *Taken) Available() int {
	p := t.p
	if p == nil {
		return 0
	}
	n := len(p.head) - t.at + len(p.rest)
	if n == 0 && p.more(false) == nil {
		n = len(p.rest)
	}
	return n
}

// Prompt is that of the Pipe.
func (t *Taken) Prompt() bool { return t.p != nil && t.p.Prompt }

// Stop is that of the Pipe.
func (t *Taken) Stop() {
	if t.p != nil {
		t.p.Stop()
	}
}

// A pipeReader reads from the beginning of a Pipe: what was looked at, and what comes then.
type pipeReader struct {
	p    *Pipe
	at   int  // in the head
	pass bool // and does not add to it
}

// Read is that of [io.Reader]. It returns what has come, and waits only where that is nothing.
func (r *pipeReader) Read(to []byte) (int, error) {
	p := r.p
	if p == nil {
		return 0, errNoPipe
	}
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
		if err := p.more(n == 0); err != nil {
			if n > 0 { // it comes again
				return n, nil
			}
			return 0, err
		}
		k := copy(to[n:], p.rest)
		n, p.rest = n+k, p.rest[k:]
	}
	return n, nil
}

// look reads on and keeps what it reads.
func (r *pipeReader) look(to []byte) (int, error) {
	p := r.p
	switch {
	case p.taken:
		return 0, &OnceError{What: "looking at " + p.name + " again"}
	case len(p.head) >= pipeHead:
		return 0, &InputError{File: p.name, Msg: "has too long a beginning"}
	}
	if err := p.more(true); err != nil {
		return 0, err
	}
	n := copy(to, p.rest)
	p.head, p.rest = append(p.head, p.rest[:n]...), p.rest[n:]
	r.at += n
	return n, nil
}
