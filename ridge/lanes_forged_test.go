package ridge_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/internal/wire/wiretest"
	"github.com/fdridge/fdridge/ridge"
)

// lanesOf are the messages of the lanes in a message of several without Meta, in its own memory.
func lanesOf(b []byte) (parts [][]byte) {
	for at := 64; at < len(b)-4; at += len(parts[len(parts)-1]) {
		parts = append(parts, b[at:][:binary.LittleEndian.Uint64(b[at+16:])])
	}
	return parts
}

// sketchOf returns the message of the sketch at the end of a lane's message.
func sketchOf(lane []byte) []byte {
	n := int(binary.LittleEndian.Uint64(lane[88:]))
	return lane[len(lane)-4-n : len(lane)-4]
}

// TestLanesForged: forged lanes are refused when they are read if each lane alone is possible, but all lanes together
// are not. They are not refused later, when rows are added or a fit is requested. One forged lane beside lanes of a few
// rows is accepted and works.
func TestLanesForged(t *testing.T) {
	const d, lanes = 2, 3
	squares := fd.MaxSquares / 4 // that a summary admits
	number := func(b []byte, offset int, v float64) { wiretest.Put(b, offset, math.Float64bits(v)) }
	count := func(n uint64) func(lane []byte) {
		return func(lane []byte) {
			wiretest.Put(lane, 48, n)
			number(lane, 56, float64(n))
			wiretest.Put(sketchOf(lane), 72, n)
		}
	}
	for _, c := range []struct {
		what, want string
		forge      func(lane []byte)
		intercept  bool
		worse      bool // one such lane is enough
	}{
		{"rows", "the lanes have more than 4611686018427387904 rows", count(1 << 61), false, false},
		{"rows that sum to a few again", "the lanes have more than 4611686018427387904 rows", count(1 << 62), false, true},
		{
			"rows of sketches", "the sketches of the lanes have", func(lane []byte) { wiretest.Put(sketchOf(lane), 72, 1<<61) },
			true, false,
		},
		{
			"shrinks", "the sketches of the lanes have", func(lane []byte) { wiretest.Put(sketchOf(lane), 80, 1<<61) }, false,
			false,
		},
		{"squares of the rows", "too far apart", func(lane []byte) { number(lane, 64, squares/2) }, false, false},
		{
			"squares of the sketches", "too far apart", func(lane []byte) { number(sketchOf(lane), 104, squares) }, false, false,
		},
		{"weight", "too far apart", func(lane []byte) {
			wiretest.Put(lane, 40, 3) // weighted, with an intercept
			number(lane, 56, math.MaxFloat64/2)
			clear(lane[112 : 112+8*(d+1)]) // the origin, which so much weight admits nowhere else
		}, true, true},
		{
			"squared norms", "the squares of the targets", func(lane []byte) { number(lane, 112+40*(d+1)+2, 4*squares) }, false,
			false,
		},
		{"products", "or their products", func(lane []byte) { number(lane, 112+40*(d+1)+2+16, -4*squares) }, false, false},
	} {
		s := testkit.Must(
			ridge.NewSummary(
				ridge.SummaryConfig{
					Dim:       d,
					Size:      1,
					Intercept: c.intercept,
					Lanes:     lanes,
					LaneRows:  1,
					Store:     fd.StoreRows,
				},
			),
		)(
			t,
		)
		testkit.Check(t, s.AppendBlock(rows(rand.New(rand.NewPCG(1, 1)), 9, d, 1, false, false)))
		good := testkit.Marshal(t, s)
		forged := func(most int) []byte {
			b := slices.Clone(good)
			for _, lane := range lanesOf(b)[:most] {
				c.forge(lane)
				wiretest.Seal(sketchOf(lane))
				wiretest.Seal(lane)
			}
			return wiretest.Seal(b)
		}
		_, err := ridge.ReadSummary(bytes.NewReader(forged(lanes)), nil)
		if e, ok := errors.AsType[*fd.FormatError](err); !ok || !strings.Contains(e.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
		if c.worse {
			continue
		}
		one, err := ridge.ReadSummary(bytes.NewReader(forged(1)), nil)
		if err != nil {
			t.Errorf("%s in one lane: %v", c.what, err)
			continue
		}
		n := one.Rows()
		testkit.Check(t, one.AppendBlock(rows(rand.New(rand.NewPCG(2, 2)), 9, d, 1, false, false)))
		if one.Rows() != n+9 {
			t.Errorf("%s in one lane: of 9 rows %d are taken", c.what, one.Rows()-n)
		}
		testkit.Check(t, one.Join())
		testkit.Must(one.MarshalBinary())(t)
	}
}

// TestForgedSumOfNothing: rows that have no weight sum to nothing, which the rows that come later
// would be added to.
func TestForgedSumOfNothing(t *testing.T) {
	s := testkit.Must(ridge.NewSummary(ridge.SummaryConfig{Dim: 2, Size: 1, Intercept: true}))(t)
	testkit.Check(t, s.AppendBlock(dataset.Block{N: 1, X: []float64{1, 2}, Y: []float64{3}, W: []float64{0}}))
	b := testkit.Marshal(t, s)
	reread(t, s, "file")
	wiretest.Put(b, 112+8*3, math.Float64bits(1e300))
	_, err := ridge.ReadSummary(bytes.NewReader(wiretest.Seal(b)), nil)
	want := "byte 136 of the message: the sums of the means: number 0 is 1e+300"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// TestLanesForgedBeginning: lanes that follow have begun.
func TestLanesForgedBeginning(t *testing.T) {
	s := testkit.Must(ridge.NewSummary(ridge.SummaryConfig{Dim: 2, Size: 1, Lanes: 3, LaneRows: 1, LanesAfter: 4}))(t)
	testkit.Check(t, s.AppendBlock(rows(rand.New(rand.NewPCG(1, 1)), 5, 2, 1, false, false)))
	b := testkit.Marshal(t, s)
	wiretest.Put(b, 40, 5)
	_, err := ridge.ReadSummary(bytes.NewReader(wiretest.Seal(b)), nil)
	want := "byte 40 of the message: LanesAfter is 5, but all 3 lanes are in use after 5 rows"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// TestLanesFade: a row of almost no weight is so far away that it matters as much as the others. After a decay it still
// matters as much, until the weight of its lane would underflow.
func TestLanesFade(t *testing.T) {
	fit := func(lanes int) (*ridge.Summary, *ridge.Solution) {
		s := testkit.Must(
			ridge.NewSummary(ridge.SummaryConfig{Dim: 1, Size: 1, Intercept: true, Lanes: lanes, LaneRows: 1}),
		)(t)
		x := []float64{0x1p90, 0x1p490, 0, 0}
		testkit.Check(t, s.AppendBlock(dataset.Block{N: 4, X: x, Y: x, W: []float64{1, 0x1p-800, 1, 0}}))
		testkit.Check(t, s.Decay(0x1p-300))
		return s, testkit.Must(s.Fit(0x1p-120))(t)
	}
	_, want := fit(1)
	s, got := fit(2)
	a, b := got.Targets[0], want.Targets[0]
	apart := math.Abs(a.Coef[0] - b.Coef[0])
	if !(apart <= a.ErrorBound+b.ErrorBound) || !(a.RelativeErrorBound < 1e-10) {
		t.Errorf("the weights are %v within %g, without lanes %v within %g", a.Coef, a.ErrorBound, b.Coef, b.ErrorBound)
	}
	if a.TSS.Lo > b.TSS.Hi || b.TSS.Lo > a.TSS.Hi || got.EffectiveDimension.Lo > want.EffectiveDimension.Hi ||
		want.EffectiveDimension.Lo > got.EffectiveDimension.Hi {
		t.Errorf(
			"‖b‖² %v and df %v, without lanes %v and %v",
			a.TSS,
			got.EffectiveDimension,
			b.TSS,
			want.EffectiveDimension,
		)
	}
	before := testkit.Marshal(t, s)
	for _, beta := range []float64{0, -1, 2, math.NaN(), math.Inf(1), 0x1p-1000} {
		if err := s.Decay(beta); err == nil || !bytes.Equal(testkit.Marshal(t, s), before) {
			t.Error(fmt.Errorf("by %v: %w", beta, err))
		}
	}
}
