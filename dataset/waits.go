package dataset

import (
	"context"
	"sync"
	"time"
)

// Waits measures how long a pass waits for each of its steps: "reading", "rows" (encoding), "Fourier features",
// "polynomial features" and "standardised rows". Each step computes blocks in advance, on a goroutine. The wait for
// a step is the time from the request of a block until it is ready. This time includes the step's own waits for the
// step before.
type Waits struct {
	mu    sync.Mutex
	names []string
	times map[string]time.Duration
}

type waitsKey struct{}

// Context returns a copy of ctx. w measures the waits of all passes with this context.
func (w *Waits) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, waitsKey{}, w)
}

// Of returns the names of the steps, in the order of their first wait, and the total wait for each step.
func (w *Waits) Of() (names []string, times []time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range w.names {
		names = append(names, name)
		times = append(times, w.times[name])
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

// receive takes the next buffer from the channel full. It adds its waiting time to the named step of Waits.
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
