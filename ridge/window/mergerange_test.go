package window_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/wire/wiretest"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/window"
)

// The tests below append rows of one feature up to the edge of what can be merged. Lanes or sketches
// that begin with far and with −far have a squared distance of 4·far². They can be merged if
// 4·far² times their weight is at most 2¹⁰²⁰, that is if the weight is at most heaviest.
const (
	far      = 0x1p400
	faint    = 0x1p-600 // the weight of rows that only set an origin
	heaviest = 0x1p218
)

// weighted is a block of rows x of weight w, whose targets are zero.
func weighted(w float64, x ...float64) dataset.Block {
	b := dataset.Block{N: len(x), X: x, Y: make([]float64, len(x))}
	for range x {
		b.W = append(b.W, w)
	}
	return b
}

// appendable is a summary, a window or a fading summary.
type appendable interface {
	wiretest.Message
	Append(dataset.Block) error
}

// admits reports whether s takes a block. If it does not, the error is a *fd.RangeError and s is unchanged. If it does,
// s and its message can be read.
func admits(t *testing.T, s appendable, read func() error, fresh wiretest.Message, add func() error) bool {
	t.Helper()
	before := wiretest.Marshal(t, s)
	err := add()
	after := wiretest.Marshal(t, s)
	if err != nil {
		if _, ok := errors.AsType[*fd.RangeError](err); !ok || !bytes.Equal(after, before) {
			t.Errorf("refused by %v, state changed: %v", err, !bytes.Equal(after, before))
		}
		return false
	}
	if err := read(); err != nil {
		t.Errorf("taken, and cannot be read: %v", err)
	}
	if err := fresh.UnmarshalBinary(after); err != nil {
		t.Errorf("taken, and its message is refused: %v", err)
	}
	return true
}

// nearLimit are multiples of a limit, and whether what has them is in range. Just below it nothing
// need be taken.
var nearLimit = map[float64]bool{0.5: true, 0.99: true, 1.01: false, 1.9: false, 3.9: false}

// TestFarSketchesMerge: a window takes rows while their sketches can be merged, and no others.
func TestFarSketchesMerge(t *testing.T) {
	for f, want := range nearLimit {
		w := must(
			window.New(
				window.Config{
					Summary:   ridge.SummaryConfig{Dim: 1, Size: 1, Intercept: true, Store: fd.StoreRows},
					Rows:      100,
					Share:     1,
					BlockRows: 2,
				},
			),
		)(
			t,
		)
		all := true
		for _, b := range []dataset.Block{
			weighted(faint, far), weighted(f*heaviest/2, 0), // a sketch
			weighted(faint, -far), weighted(f*heaviest/2, 0), // another
			weighted(faint, 0, 0), weighted(faint, 0, 0),
		} {
			all = admits(
				t, w, func() error { _, _, err := w.Summary(); return err }, new(window.Window),
				func() error { return w.Append(b) },
			) && all
		}
		if all != want {
			t.Errorf("%g of the weight that can be merged: all taken is %v", f, all)
		}
		plain := must(
			window.New(
				window.Config{
					Summary:   ridge.SummaryConfig{Dim: 1, Size: 1, Store: fd.StoreRows},
					Rows:      100,
					Share:     1,
					BlockRows: 2,
				},
			),
		)(
			t,
		)
		check(t, plain.Append(weighted(faint, far, -far)))
		check(t, plain.Append(weighted(f*heaviest, 0, 0))) // means that are not used can be anywhere
	}
}

// TestWindowSumsRound: the squares of rows that arrive together are summed in another order than the squares of their
// sketches. Rounding can make the second sum larger. The window stays readable.
func TestWindowSumsRound(t *testing.T) {
	limit := math.Sqrt(fd.MaxSquares / 4)
	small := make([]float64, 64)
	for i := range small {
		small[i] = limit * 0x1p-27 // of whose square nothing is left beside the limit's
	}
	for _, f := range []float64{1, 1 - 0x1p-53, 1 - 1e-6} {
		// Weights, which are added up likewise.
		v := must(
			window.New(
				window.Config{
					Summary:   ridge.SummaryConfig{Dim: 1, Size: 1, Intercept: true, Store: fd.StoreRows},
					Rows:      1000,
					Share:     1,
					BlockRows: 1,
				},
			),
		)(
			t,
		)
		taken := true
		for _, b := range []dataset.Block{
			weighted(faint, far), weighted(faint, -far), weighted(f*heaviest, 0),
			weighted(heaviest*0x1p-54, make([]float64, 64)...), weighted(faint, 0),
		} {
			taken = admits(
				t, v, func() error { _, _, err := v.Summary(); return err }, new(window.Window),
				func() error { return v.Append(b) },
			) && taken
		}
		if f == 1-1e-6 && !taken {
			t.Error("weights are refused far from the limit")
		}
		w := must(
			window.New(
				window.Config{
					Summary:   ridge.SummaryConfig{Dim: 1, Size: 1, Store: fd.StoreRows},
					Rows:      1000,
					Share:     1,
					BlockRows: 1,
				},
			),
		)(
			t,
		)
		all := true
		for _, x := range [][]float64{{f * limit}, small, {0}, {0}} {
			all = admits(
				t, w, func() error { _, _, err := w.Summary(); return err }, new(window.Window),
				func() error { return w.Append(weighted(1, x...)) },
			) && all
		}
		if f == 1-1e-6 && !all {
			t.Error("refused far from the limit")
		}
	}
}

// TestFadingRange: a fading summary refuses rows whose weights would be out of range at the end of
// a half-life, before any row of the block is added.
func TestFadingRange(t *testing.T) {
	late := []time.Time{start.Add(time.Second / 2), start.Add(1990 * time.Millisecond)}
	cfg := window.FadingConfig{
		Summary:  ridge.SummaryConfig{Dim: 1, Size: 1, Store: fd.StoreRows},
		HalfLife: time.Second,
	}
	read := func(f *window.Fading) func() error {
		return func() error { _, _, err := f.Summary(); return err }
	}
	for f, want := range nearLimit {
		s := must(window.NewFading(cfg))(t)
		check(t, s.AppendAt(start, weighted(1, 1)))
		b := weighted(1, 1, math.Sqrt(f*fd.MaxSquares/4/2))
		got := admits(t, s, read(s), new(window.Fading), func() error { return s.AppendTimes(late, b) })
		if got != want {
			t.Errorf("%g of the squares that can be summed: taken is %v", f, got)
		}
	}
	cfg.Summary.Intercept, cfg.Summary.Lanes, cfg.Summary.LaneRows = true, 2, 1
	for f, want := range nearLimit {
		s := must(window.NewFading(cfg))(t)
		check(t, s.AppendAt(start, weighted(faint, far, -far)))
		b := weighted(f*heaviest/2, 0, 0)
		b.W[0] = 1
		got := admits(t, s, read(s), new(window.Fading), func() error { return s.AppendTimes(late, b) })
		if got != want {
			t.Errorf("%g of the weight that can be merged: taken is %v", f, got)
		}
	}
	// Rows of the block itself may be what is far.
	for _, f := range []float64{0.5, 1.01} {
		s := must(window.NewFading(cfg))(t)
		b := weighted(f*heaviest/2, 1, far, -far, 0)
		b.W[0], b.W[1], b.W[2] = 1, faint, faint
		times := []time.Time{late[0], late[1], late[1], late[1]}
		check(t, s.AppendAt(start, weighted(1, 1)))
		got := admits(t, s, read(s), new(window.Fading), func() error { return s.AppendTimes(times, b) })
		if got != (f < 1) {
			t.Errorf("%g of the weight that can be merged, far rows among those that come: taken is %v", f, got)
		}
	}
}

// TestWindowLongerThanTime: a window of more time than has passed since the first time that can be told
// keeps all rows. A later one has lost those that are older than its duration, to the nanosecond.
func TestWindowLongerThanTime(t *testing.T) {
	const duration = 250 * 365 * 24 * time.Hour
	first := time.Date(1700, 1, 1, 0, 0, 0, 0, time.UTC)
	w := must(
		window.New(
			window.Config{
				Summary:   ridge.SummaryConfig{Dim: 1, Size: 1, Store: fd.StoreRows},
				Duration:  duration,
				Share:     1,
				BlockRows: 2,
			},
		),
	)(
		t,
	)
	times := []time.Time{first, first.AddDate(0, 0, 1), first.AddDate(200, 0, 0)}
	for i, at := range times {
		check(t, w.AppendAt(at, weighted(1, float64(i))))
		if got := w.Span(); got.Rows != int64(i+1) || !got.From.Equal(first) || !got.To.Equal(at) {
			t.Fatalf("after %d rows: %+v", i+1, got)
		}
	}
	for _, c := range []struct {
		at   time.Time
		rows int64
	}{
		{times[0].Add(duration - 1), 3}, {times[0].Add(duration), 2}, {times[1].Add(duration - 1), 2},
		{times[1].Add(duration), 1},
	} {
		check(t, w.Advance(c.at))
		if got := w.Span(); got.Rows != c.rows || !got.From.Equal(times[3-c.rows]) {
			t.Errorf("at %v: %+v, want %d rows", c.at, got, c.rows)
		}
	}
}

// TestWindowOfOtherShapes: a message whose sketches are of another shape than its summary of no rows is
// refused.
func TestWindowOfOtherShapes(t *testing.T) {
	made := func(cfg ridge.SummaryConfig) (message []byte, sketches, blocks int) {
		cfg.Store = fd.StoreRows
		w := must(window.New(window.Config{Summary: cfg, Rows: 100, Share: 1, BlockRows: 2}))(t)
		for i := range 6 {
			b := dataset.Block{N: 1, X: make([]float64, cfg.Dim), Y: make([]float64, cfg.Targets)}
			b.X[0] = float64(1 + i)
			check(t, w.Append(b))
		}
		message = wiretest.Marshal(t, w)
		sketches = 120 + int(le(message, 112))
		blocks = sketches
		for range le(message, 80) {
			blocks += 24 + int(le(message, blocks+24+16))
		}
		return message, sketches, blocks
	}
	cfg := ridge.SummaryConfig{Dim: 3, Size: 2, Targets: 1, ShrinkRows: 4}
	own, begin, end := made(cfg)
	for what, change := range map[string]func(c *ridge.SummaryConfig){
		"the same":   func(*ridge.SummaryConfig) {},
		"size":       func(c *ridge.SummaryConfig) { c.Size = 1 },
		"dimension":  func(c *ridge.SummaryConfig) { c.Dim = 4 },
		"targets":    func(c *ridge.SummaryConfig) { c.Targets = 2 },
		"intercept":  func(c *ridge.SummaryConfig) { c.Intercept = true },
		"shrinkRows": func(c *ridge.SummaryConfig) { c.ShrinkRows = 5 },
		"driver":     func(c *ridge.SummaryConfig) { c.Shrink = fd.SVD },
	} {
		other := cfg
		change(&other)
		message, from, to := made(other)
		forged := slices.Concat(own[:begin], message[from:to], own[end:])
		wiretest.Put(forged, 16, uint64(len(forged)))
		err := new(window.Window).UnmarshalBinary(wiretest.Seal(forged))
		if _, ok := errors.AsType[*fd.FormatError](err); ok == (what == "the same") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
