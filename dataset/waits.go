package dataset

import (
	"context"
	"sync"
	"time"

	"github.com/fdridge/fdridge/internal/background"
)

// Waits tell what a pass waits for. Rows are made ahead of those who use them: a wait for what
// there is not yet is counted, by what makes it, with [Waits.Of]: "reading" of files,
// "Fourier features", "polynomial features" and "standardised rows". Features are made of rows
// that are read, and wait for these in turn.
type Waits struct {
	mu    sync.Mutex
	names []string
	times map[string]time.Duration
}

type waitsKey struct{}

// Context is ctx for passes whose waits are to be counted.
func (w *Waits) Context(ctx context.Context) context.Context {
	ctx = background.IfNil(ctx)
	return context.WithValue(ctx, waitsKey{}, w)
}

// Of returns what was waited for, the first first, and for how long by now.
func (w *Waits) Of() (names []string, times []time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range w.names {
		names, times = append(names, name), append(times, w.times[name])
	}
	return names, times
}

func (w *Waits) add(name string, t time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.times == nil {
		w.times = make(map[string]time.Duration)
	}
	if _, known := w.times[name]; !known {
		w.names = append(w.names, name)
	}
	w.times[name] += t
}

// receive takes the next buffer that is full, and counts the wait for it.
func receive(ctx context.Context, full <-chan *Buffer, name string) (*Buffer, bool) {
	w, ok := ctx.Value(waitsKey{}).(*Waits)
	if !ok {
		b, ok := <-full
		return b, ok
	}
	select {
	case b, ok := <-full:
		return b, ok
	default:
	}
	start := time.Now()
	b, ok := <-full
	w.add(name, time.Since(start))
	return b, ok
}
