package ridge

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/shape"
)

// WindowConfig says what a [Window] is to cover. Summary.Dim, Summary.Size and one of Rows and
// Duration are required; the zero value of every other field is the documented default.
type WindowConfig struct {
	Summary SummaryConfig // of what is read from the window; it has one lane

	Rows     int64         // the last so many rows
	Duration time.Duration // or the rows of the last so much time: those later than now − Duration

	// Share is how much the sketch at the edge of the window may hold: at most Share times the
	// rows that are newer. 1/Share is rounded up to a whole number, at most [MaxParts]. 0 means 1/4.
	// Half the share takes about twice the memory.
	Share float64
	// Inside leaves out the sketch that the edge goes through: then no row is covered that
	// wasn't asked for, and some that were are not. Without it every row is covered that was asked
	// for, and some are that weren't.
	Inside bool
	// BlockRows is how many rows the smallest sketches are made of. 0: as many as a sketch holds
	// before it shrinks. The last BlockRows/Share rows, and up to BlockRows more, are kept as they
	// are, so that an edge among them is sharp.
	BlockRows int
}

// MaxParts is the most that 1/Share may be.
const MaxParts = 64

// A Window is a summary of the newest rows of a stream: the last N, or those of the last T. It holds
// O(log(N/m)/Share) sketches of m rows, and the newest rows as they are: rows are collected in blocks,
// these become sketches, and sketches are merged in pairs as they age, into ones of twice as many rows
// (the exponential histogram of M. Datar, A. Gionis, P. Indyk and R. Motwani, SIAM J. Comput. 2002, of
// mergeable sketches). Those whose rows have all left the window are dropped. So what is read
// from it is an ordinary [Summary] of consecutive rows, to which [Span] says exactly which, and its
// certificates are about these rows and no others: docs/math.md §2.
//
// Time is the caller's, never the clock's: it is what the rows, or [Window.Advance], say it is.
// The same rows at the same times make the same bits, whatever blocks they come in.
//
// Appending copies rows, and allocates nothing else but a new summary for each BlockRows of them.
//
// One goroutine may write at a time; any number may read while none writes.
type Window struct {
	cfg   WindowConfig
	parts int // 1/Share, rounded up
	clock
	appended int64 // rows, ever

	cells   []*cell  // sketches, the oldest first
	recent  []*chunk // rows as they are, behind them
	waiting []*chunk // rows of sketches that are to be made; none between calls
	spare   []*chunk // memory for more
	bad     error    // set when a merge failed; the window is lost

	// Meta is the caller's own, as [Summary.Meta] is, and given to each summary that is read.
	Meta []byte
}

// A Span says which rows a summary covers that was read from a [Window] or a [Fading].
type Span struct {
	First, Rows int64     // rows First to First+Rows, the last not included, of all that were appended, counted from 0
	From, To    time.Time // when the first and the last of them came; zero where no time was told
	// Edge is how many rows the sketch holds that the edge of the window goes through, 0 where it
	// goes between two sketches or through rows that are kept. These are the first of those covered,
	// and at least one of them was asked for and one was not; with [WindowConfig.Inside] they are
	// those right before First. All other rows that are covered were asked for. Edge is at most
	// [WindowConfig.Share] times as many as these.
	Edge int64
}

// NewWindow makes an empty window. Beside those of [NewSummary] there are errors of what cfg says
// of the window.
func NewWindow(cfg WindowConfig) (*Window, error) {
	if cfg.Share == 0 {
		cfg.Share = 0.25
	}
	switch {
	case cfg.Rows < 0 || cfg.Duration < 0 || (cfg.Rows > 0) == (cfg.Duration > 0):
		return nil, badinput.Errorf("ridge: a window is of the last Rows or of the last Duration: of these, %d and %v, one must be positive and the other 0", cfg.Rows, cfg.Duration)
	case !(cfg.Share >= 1.0/MaxParts && cfg.Share <= 1):
		return nil, badinput.Errorf("ridge: Share is %v, must be at least 1/%d and at most 1", cfg.Share, MaxParts)
	case cfg.BlockRows < 0 || cfg.BlockRows > math.MaxInt32:
		return nil, badinput.Errorf("ridge: BlockRows is %d, must not be negative, and below 2³¹", cfg.BlockRows)
	}
	template, err := oneLane(cfg.Summary)
	if err != nil {
		return nil, err
	}
	cfg.Summary = template.cfg
	if cfg.BlockRows == 0 {
		m, p, err := fd.Config{Dim: cfg.Summary.Dim, Size: cfg.Summary.Size, Shrink: cfg.Summary.Shrink, ShrinkRows: cfg.Summary.ShrinkRows, Store: cfg.Summary.Store}.Buffer()
		if err != nil {
			return nil, err
		}
		cfg.BlockRows = m + p
	}
	if !shape.Addressable(uint64(cfg.BlockRows), uint64(cfg.Summary.Dim)+uint64(cfg.Summary.Targets)) {
		return nil, fmt.Errorf("%w: BlockRows·(d+t) = %d·(%d+%d)", fd.ErrSize, cfg.BlockRows, cfg.Summary.Dim, cfg.Summary.Targets)
	}
	return newWindow(cfg), nil
}

// oneLane makes an empty summary of which there is to be one lane.
func oneLane(cfg SummaryConfig) (*Summary, error) {
	if cfg.Lanes > 1 {
		return nil, badinput.Errorf("ridge: Lanes is %d; a summary that forgets has one lane", cfg.Lanes)
	}
	cfg.LanesAfter = 0
	return NewSummary(cfg)
}

// newWindow makes an empty window of a configuration that is complete.
func newWindow(cfg WindowConfig) *Window {
	return &Window{cfg: cfg, parts: int(math.Ceil(1 / cfg.Share)), clock: clock{noTime}}
}

// Config returns the configuration in force.
func (w *Window) Config() WindowConfig { return w.cfg }

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

// Append is [Summary.Append] for rows of the time that it is: see [Window.AppendTimes].
func (w *Window) Append(x, y mat.Matrix, weights []float64) error {
	b, err := blockOf(w.cfg.Summary, x, y, weights)
	if err != nil {
		return err
	}
	return w.AppendBlock(b)
}

// AppendBlock is [Window.AppendTimes] for rows of the time that it is, the last that was told. A
// window of a Duration must have been told one.
func (w *Window) AppendBlock(b dataset.Block) error { return w.append(b, rowTimes{one: w.now}) }

// AppendAt is [Window.AppendTimes] for rows that are all of time t.
func (w *Window) AppendAt(t time.Time, b dataset.Block) error { return appendAt(w, t, b) }

// AppendTimes adds the rows of a block, row i being of times[i], and so makes it the time of the
// last. Rows may be of the same time, and of a later one than those before, never of an earlier
// one: that is a *[TimeError].
//
// All is checked before anything is changed, and the errors are those of [Summary.Append]; a
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

// Summary merges what is in the window into a summary of its own, and says which rows these are.
// The window isn't changed. It takes the time of merging [Window.Sketches] sketches and of appending the rows
// that are kept. Where no rows are covered it is [ErrEmpty].
func (w *Window) Summary() (*Summary, Span, error) {
	if err := w.usable(); err != nil {
		return nil, Span{}, err
	}
	span := w.Span()
	if span.Rows == 0 {
		return nil, span, fmt.Errorf("%w in the window, after %d that were appended", ErrEmpty, w.appended)
	}
	s, err := NewSummary(w.cfg.Summary)
	if err != nil {
		return nil, span, err
	}
	cells, _ := w.covered()
	for _, c := range cells {
		if err := s.Merge(c.sum); err != nil {
			return nil, span, err
		}
	}
	for _, c := range w.recent {
		if err := s.AppendBlock(c.block(w.cfg.Summary.Dim, w.cfg.Summary.Targets)); err != nil {
			return nil, span, err
		}
	}
	s.Meta = slices.Clone(w.Meta)
	return s, span, nil
}
