// Package window has summaries of streams that forget: a [Window] is of the newest rows, the last N or those
// of the last T, and in a [Fading] each row counts half as much after each half-life. Both, and the summary of
// all rows ([Whole]), are a [Stream].
package window

import (
	"fmt"
	"slices"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/accum"
)

// A Window is a summary of the newest rows of a stream: the last N, or those of the last T. It holds
// O(log(N/m)/Share) sketches of m rows, and the newest rows as they are: rows are collected in blocks,
// these become sketches, and sketches are merged in pairs as they age, into ones of twice as many rows
// (the exponential histogram of M. Datar, A. Gionis, P. Indyk and R. Motwani, SIAM J. Comput. 2002, of
// mergeable sketches). Those whose rows have all left the window are dropped. So what is read
// from it is an ordinary [ridge.Summary] of consecutive rows, to which [Span] says exactly which, and its
// certificates are about these rows and no others: docs/math.md §2.
//
// Time is the caller's, never the clock's: it is what the rows, or [Window.Advance], say it is.
// The same rows at the same times make the same bits, whatever blocks they come in.
//
// Appending copies rows, and allocates nothing else but a new summary for each BlockRows of them.
//
// One goroutine may write at a time; any number may read while none writes.
type Window struct {
	ring
	notes
}

// New makes an empty window. Beside those of [ridge.NewSummary] there are errors of what cfg says
// of the window.
func New(cfg Config) (*Window, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	return &Window{ring: newRing(cfg)}, nil
}

// Config returns the configuration in force.
func (w *Window) Config() Config { return w.cfg }

// Settings returns the part of the configuration that every [Stream] has.
func (w *Window) Settings() Settings {
	return Settings{w.cfg.Summary, Policy{Rows: w.cfg.Rows, Duration: w.cfg.Duration}}
}

// Rows is how many rows were appended, those that have left the window included.
func (w *Window) Rows() int64 { return w.appended }

// Sketches is how many sketches are alive. For a window that holds N rows, with k = ⌈1/Share⌉, there are at most
//
//	(k+1)·(1 + log₂(N·(1+Share)/(k·BlockRows))),
//
// and none for N ≤ k·BlockRows.
func (w *Window) Sketches() int { return len(w.cells) }

// Now is the time that it is, the last that was told; zero where none was.
func (w *Window) Now() time.Time { return timeOf(w.now) }

// Advance makes it time t, so that rows leave a window of a Duration though none come, and rows
// that are appended without a time are of time t. A time before one that was told is a *[TimeError].
func (w *Window) Advance(t time.Time) error {
	if err := w.usable(); err != nil {
		return err
	}
	now, err := w.next(t, -1)
	if err != nil {
		return err
	}
	w.now = now
	w.expire()
	return nil
}

// Append is [Window.AppendTimes] for rows of the time that it is, the last that was told. A
// window of a Duration must have been told one.
func (w *Window) Append(b dataset.Block) error { return w.append(b, rowTimes{one: w.now}) }

// AppendAt is [Window.AppendTimes] for rows that are all of time t.
func (w *Window) AppendAt(t time.Time, b dataset.Block) error { return appendAt(w, t, b) }

// AppendTimes adds the rows of a block, row i being of times[i], and so makes it the time of the
// last. Rows may be of the same time, and of a later one than those before, never of an earlier
// one: that is a *[TimeError].
//
// All is checked before anything is changed, and the errors are those of [ridge.Summary.Append]; a
// *[fd.RangeError] is also one where rows together with those in the window are out of range. The
// arguments are not written and not kept.
func (w *Window) AppendTimes(times []time.Time, b dataset.Block) error {
	return appendTimes(w, times, b)
}

// Span says which rows a summary would cover that were read now. Without rows it is the zero value but for First,
// which is the row to come.
func (w *Window) Span() Span {
	s := Span{First: w.appended}
	cells, cut := w.covered()
	if cut != nil {
		s.Edge = cut.sum.Rows()
	}
	var from, to int64
	seen := func(rows, first, last int64) {
		if s.Rows == 0 {
			from = first
		}
		s.Rows += rows
		to = last
	}
	for _, c := range cells {
		seen(c.sum.Rows(), c.from, c.to)
	}
	for _, c := range w.recent {
		if n := c.live(); n > 0 {
			seen(int64(n), c.times[c.gone], c.times[c.rows.N-1])
		}
	}
	if s.Rows > 0 {
		s.From, s.To = timeOf(from), timeOf(to)
	}
	s.First -= s.Rows
	return s
}

// Copies returns 1, for the summary that is read.
func (w *Window) Copies() int { return 1 }

// Summary merges what is in the window into a summary of its own, and says which rows these are.
// The window isn't changed. It takes the time of merging [Window.Sketches] sketches and of appending the rows
// that are kept. Where no rows are covered it is [ridge.ErrEmpty].
func (w *Window) Summary() (*ridge.Summary, Span, error) {
	if err := w.usable(); err != nil {
		return nil, Span{}, err
	}
	span := w.Span()
	if span.Rows == 0 {
		return nil, span, fmt.Errorf("%w in the window, after %d that were appended", ridge.ErrEmpty, w.appended)
	}
	s, err := accum.New(accum.Config(w.cfg.Summary))
	if err != nil {
		return nil, span, err
	}
	cells, _ := w.covered()
	for _, c := range cells {
		if err := merge(s, c.sum); err != nil {
			return nil, span, err
		}
	}
	for _, c := range w.recent {
		if err := s.Append(0, c.block(w.cfg.Summary.Dim, w.cfg.Summary.Targets)); err != nil {
			return nil, span, err
		}
	}
	return ridge.SummaryOf(s, slices.Clone(w.meta)), span, nil
}
