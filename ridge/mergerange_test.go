package ridge_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/internal/wire/wiretest"
	"github.com/fdridge/fdridge/ridge"
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
	AppendBlock(dataset.Block) error
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

// TestFarLanesMerge: lanes accept rows if and only if they can still be merged afterwards. Merge accepts a summary
// under the same condition.
func TestFarLanesMerge(t *testing.T) {
	cfg := ridge.SummaryConfig{Dim: 1, Size: 1, Intercept: true, Lanes: 2, LaneRows: 1, Store: fd.StoreRows}
	of := func(intercept bool, blocks ...dataset.Block) *ridge.Summary {
		c := cfg
		c.Intercept = intercept
		s := testkit.Must(ridge.NewSummary(c))(t)
		for _, b := range blocks {
			testkit.Check(t, s.AppendBlock(b))
		}
		return s
	}
	for f, want := range nearLimit {
		origins, heavy, half := weighted(faint, far, -far), weighted(f*heaviest/2, 0, 0), weighted(f*heaviest/4, 0, 0)
		together, other := of(true, origins), of(true, heavy)
		merged, apart, plain := of(true, origins), of(true, origins), of(false, origins)
		for what, c := range map[string]struct {
			s    *ridge.Summary
			add  func() error
			want bool
		}{
			"in a block":           {together, func() error { return together.AppendBlock(heavy) }, want},
			"by Merge":             {merged, func() error { return merged.Merge(other) }, want},
			"without an intercept": {plain, func() error { return plain.AppendBlock(heavy) }, true},
		} {
			got := admits(t, c.s, func() error { _, err := c.s.Spectrum(); return err }, new(ridge.Summary), c.add)
			if got != c.want {
				t.Errorf("%g of the weight that can be merged, %s: taken is %v", f, what, got)
			}
		}
		all := true
		for range 2 {
			all = admits(
				t, apart, func() error { _, err := apart.Spectrum(); return err }, new(ridge.Summary),
				func() error { return apart.AppendBlock(half) },
			) && all
		}
		if all != want {
			t.Errorf("%g of the weight that can be merged, in two blocks: taken is %v", f, all)
		}
	}
	// Squares are summed over all lanes.
	large := math.Sqrt(0.4 * fd.MaxSquares / 4)
	squares, more := of(false, weighted(1, large, large)), of(false, weighted(1, large))
	if admits(
		t, squares, func() error { _, err := squares.Spectrum(); return err }, new(ridge.Summary),
		func() error { return squares.Merge(more) },
	) {
		t.Error("squares out of range are taken")
	}
	// Only the first lane begins far away: the squared distance is far².
	s := of(true, weighted(faint, far, 0))
	if admits(
		t, s, func() error { _, err := s.Spectrum(); return err }, new(ridge.Summary),
		func() error { return s.AppendBlock(weighted(4.1*heaviest/2, 0, 0)) },
	) {
		t.Error("lanes that are too far from each other are taken")
	}
}

// TestChangedAfterReading: a summary that was read and then changed gives the same results as a summary that was
// changed without being read.
func TestChangedAfterReading(t *testing.T) {
	for _, lanes := range []int{1, 3} {
		cfg := ridge.SummaryConfig{Dim: 5, Size: 2, Intercept: true, Lanes: lanes, LaneRows: 4, Store: fd.StoreRows}
		of := func(seed uint64) *ridge.Summary {
			s := testkit.Must(ridge.NewSummary(cfg))(t)
			testkit.Check(t, s.AppendBlock(rows(rand.New(rand.NewPCG(31, seed)), 50, 5, 1, false, true)))
			return s
		}
		for what, change := range map[string]func(s *ridge.Summary) error{
			"decay": func(s *ridge.Summary) error { return s.Decay(0.25) },
			"merge": func(s *ridge.Summary) error { return s.Merge(of(2)) },
			"append": func(s *ridge.Summary) error {
				return s.AppendBlock(rows(rand.New(rand.NewPCG(31, 3)), 9, 5, 1, false, true))
			},
		} {
			read, unread := of(1), of(1)
			testkit.Must(read.Fit(1))(t)
			testkit.Check(t, change(read))
			testkit.Check(t, change(unread))
			got, want := testkit.Must(read.Fit(1))(t), testkit.Must(unread.Fit(1))(t)
			if a, b := got.Targets[0], want.Targets[0]; !slices.Equal(a.Coef, b.Coef) || a.ErrorBound != b.ErrorBound {
				t.Errorf("%s, %d lanes: %+v, want %+v", what, lanes, a, b)
			}
			if got, want := testkit.Must(read.Spectrum())(t).Bound, testkit.Must(unread.Spectrum())(t).Bound; got != want {
				t.Errorf("%s, %d lanes: the bound is %+v, want %+v", what, lanes, got, want)
			}
		}
	}
}
