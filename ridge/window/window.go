// Package window implements summaries of streams that forget old rows. A [Window] keeps the newest rows: the last N
// rows, or the rows of the last duration T. A [Fading] halves the weight of each row after each half-life. Both
// implement the interface [Stream]. A summary that keeps all rows ([Whole]) implements it, too.
package window

import (
	"fmt"
	"slices"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/accum"
)

// A Window is a summary of the newest rows of a stream: the last N rows, or the rows of the last duration T. It stores
// O(log(N/m)/Share) sketches, each of at most m rows, and the newest rows themselves. Two sketches are merged into a
// sketch that summarizes twice as many rows. This is the exponential histogram of M. Datar, A. Gionis, P. Indyk and R.
// Motwani, SIAM J. Comput. 2002, with mergeable sketches.
//
// [Window.Summary] returns an ordinary [ridge.Summary] of consecutive rows. Its [Span] states which rows these are,
// and all certificates are for these rows (docs/math.md §2).
//
// The caller sets the time, with the rows or by [Window.Advance]. The same rows at the same times give the same bits,
// however they are divided into blocks.
//
// One goroutine may write at a time; any number may read while none writes.
type Window struct {
	ring
	notes
}

// New returns an empty window. If cfg is invalid, the error is [ridge.ErrInput] or an error of [ridge.NewSummary].
func New(cfg Config) (*Window, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	return &Window{ring: newRing(cfg)}, nil
}

// Config returns the configuration with all defaults filled in.
func (w *Window) Config() Config { return w.cfg }

// Settings returns the part of the configuration that every [Stream] has.
func (w *Window) Settings() Settings {
	return Settings{w.cfg.Summary, Policy{Rows: w.cfg.Rows, Duration: w.cfg.Duration}}
}

// Rows returns the number of rows appended, including rows that have left the window.
func (w *Window) Rows() int64 { return w.appended }

// Sketches returns the number of sketches that the window stores. Share and BlockRows are fields of [Config]. For
// a window of N rows and k = ⌈1/Share⌉, the number is at most
//
//	(k+1)·(1 + log₂(N·(1+Share)/(k·BlockRows))).
//
// If N ≤ k·BlockRows, the number is 0.
func (w *Window) Sketches() int { return len(w.cells) }

// Now returns the time that was set last. If no time was set, it returns the zero time.
func (w *Window) Now() time.Time { return timeOf(w.now) }

// Advance sets the current time to t. Rows that are appended later without a time get the time t. Rows older than
// Config.Duration leave the window. The error is a *[TimeError] if t is earlier than the current time.
func (w *Window) Advance(t time.Time) error {
	if err := w.checkUsable(); err != nil {
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

// Append adds the rows of a block, all with the current time. If the window has a Duration, the caller must have
// set a time before. Errors are as for [Window.AppendTimes].
func (w *Window) Append(b dataset.Block) error {
	return w.append(b, rowTimes{first: w.now})
}

// AppendAt adds the rows of a block, all with the time t. It is otherwise like [Window.AppendTimes].
func (w *Window) AppendAt(t time.Time, b dataset.Block) error {
	return appendAt(w, t, b)
}

// AppendTimes adds the rows of a block with the given times, one for each row. It sets the current time to the time
// of the last row. A time must not be earlier than the times of the rows before it, in the block or in earlier
// blocks. Otherwise the error is a *[TimeError].
//
// AppendTimes checks all input before it changes the window. It neither modifies nor keeps its arguments. Other
// errors are the errors of [ridge.Summary.Append]. A *[fd.RangeError] is also returned if the new rows and the rows
// in the window together are out of range.
func (w *Window) AppendTimes(times []time.Time, b dataset.Block) error {
	return appendTimes(w, times, b)
}

// Span returns a description of the rows that a summary would contain now. If there are no rows, only First is set:
// it is the number of the next row.
func (w *Window) Span() Span {
	s := Span{First: w.appended}
	cells, edge := w.covered()
	if edge != nil {
		s.Edge = edge.sum.Rows()
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
		s.From = timeOf(from)
		s.To = timeOf(to)
	}
	s.First -= s.Rows
	return s
}

// Copies returns 1, for the result of Summary.
func (w *Window) Copies() int { return 1 }

// Summary returns a new summary of the rows in the window, and their [Span]. It merges the sketches of the window,
// and appends the newest rows, which are stored without a sketch. The window is unchanged. The error is
// [ridge.ErrEmpty] if there are no rows.
func (w *Window) Summary() (*ridge.Summary, Span, error) {
	if err := w.checkUsable(); err != nil {
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
		block := c.block(w.cfg.Summary.Dim, w.cfg.Summary.Targets)
		if err := s.Append(0, block); err != nil {
			return nil, span, err
		}
	}
	return summaryOf(s, slices.Clone(w.meta)), span, nil
}
