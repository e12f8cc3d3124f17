package ridge_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/internal/wire/wiretest"
	"github.com/fdridge/fdridge/ridge"
)

// eachLanes calls test with configurations of several lanes and blocks for them.
func eachLanes(t *testing.T, test func(t *testing.T, cfg ridge.SummaryConfig, blocks []dataset.Block)) {
	const d, blocks = 6, 9
	for kind := range 16 {
		intercept, weighted, sparse, kept := kind&1 != 0, kind&2 != 0, kind&4 != 0, kind&8 != 0
		for _, c := range []struct{ lanes, rows, after int }{{2, 1, 0}, {3, 4, 13}, {5, 7, 0}, {7, 2, 31}} {
			cfg := ridge.SummaryConfig{
				Dim:        d,
				Targets:    2,
				Size:       3,
				ShrinkRows: 4,
				Intercept:  intercept,
				Lanes:      c.lanes,
				LaneRows:   c.rows,
				LanesAfter: int64(c.after),
				Store:      fd.StoreRows,
			}
			if kept {
				cfg.Store = fd.StoreSmaller
			}
			r := rand.New(rand.NewPCG(uint64(kind), uint64(c.lanes)))
			var given []dataset.Block
			for range blocks {
				given = append(given, rows(r, 1+r.IntN(30), d, 2, sparse, weighted))
			}
			t.Run(
				fmt.Sprintf("lanes=%d,rows=%d,kind=%d", c.lanes, c.rows, kind),
				func(t *testing.T) { test(t, cfg, given) },
			)
		}
	}
}

// ofLanes is a summary of the blocks.
func ofLanes(t *testing.T, cfg ridge.SummaryConfig, blocks []dataset.Block) *ridge.Summary {
	t.Helper()
	s := testkit.Must(ridge.NewSummary(cfg))(t)
	for _, b := range blocks {
		testkit.Check(t, s.AppendBlock(b))
	}
	return s
}

// TestLanesMerged: a summary of several lanes is to the bit what summaries of the rows that each
// lane has come to, merged in pairs.
func TestLanesMerged(t *testing.T) {
	eachLanes(t, func(t *testing.T, cfg ridge.SummaryConfig, blocks []dataset.Block) {
		got := ofLanes(t, cfg, blocks)
		one := cfg
		one.Lanes = 1
		parts := make([]*ridge.Summary, cfg.Lanes)
		for i := range parts {
			parts[i] = testkit.Must(ridge.NewSummary(one))(t)
		}
		row := 0
		for _, b := range blocks {
			together := make([]dataset.Buffer, cfg.Lanes) // sparse rows that are centred
			for lo := 0; lo < b.N; {
				hi, lane := min(b.N, lo+cfg.LaneRows-(row+lo)%cfg.LaneRows), (row+lo)/cfg.LaneRows%cfg.Lanes
				if after := int(cfg.LanesAfter); row+lo < after {
					hi, lane = min(b.N, after-row), 0
				}
				var view engine.CSR
				if b.Sparse == nil || !cfg.Intercept || !parts[lane].Sketch().KeepsSparse() {
					testkit.Check(t, parts[lane].AppendBlock(b.Cut(lo, hi, cfg.Dim, cfg.Targets, &view)))
				} else {
					if together[lane].N == 0 {
						together[lane].Reset()
						together[lane].Sparse = true
					}
					for i := lo; i < hi; i++ {
						together[lane].AppendRow(b, i, cfg.Dim, cfg.Targets)
					}
				}
				lo = hi
			}
			for i := range together {
				if together[i].N > 0 {
					testkit.Check(t, parts[i].AppendBlock(together[i].Block(0, cfg.Dim)))
				}
			}
			row += b.N
		}
		if got.Rows() != int64(row) {
			t.Errorf("%d rows seen, there were %d", got.Rows(), row)
		}
		testkit.Check(t, got.Join())
		want := testkit.Must(got.MarshalBinary())(t)
		joined := testkit.Marshal(t, merged(t, one, parts))
		if !bytes.Contains(want, joined) {
			t.Error("the lanes joined are not the summaries merged")
		}
	})
}

// merged merges summaries in pairs, and leaves them as they are.
func merged(t *testing.T, cfg ridge.SummaryConfig, parts []*ridge.Summary) *ridge.Summary {
	t.Helper()
	if len(parts) == 1 {
		return parts[0]
	}
	half := (len(parts) + 1) / 2
	into := testkit.Must(ridge.NewSummary(cfg))(t)
	if half == 1 {
		testkit.Check(t, into.Merge(parts[0]))
	} else {
		into = merged(t, cfg, parts[:half])
	}
	testkit.Check(t, into.Merge(merged(t, cfg, parts[half:])))
	return into
}

// TestLanesSameBits: neither cores, nor fits on the way, nor messages change a bit.
func TestLanesSameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	eachLanes(t, func(t *testing.T, cfg ridge.SummaryConfig, blocks []dataset.Block) {
		want := ofLanes(t, cfg, blocks)
		for _, procs := range []int{1, 2, 3, 8} {
			runtime.GOMAXPROCS(procs)
			same(t, fmt.Sprintf("GOMAXPROCS=%d", procs), ofLanes(t, cfg, blocks), want)
		}
		got := testkit.Must(ridge.NewSummary(cfg))(t)
		for i, b := range blocks {
			testkit.Check(t, got.AppendBlock(b))
			way := slices.Sorted(maps.Keys(wiretest.Readers))[i%len(wiretest.Readers)]
			if i%3 > 0 {
				testkit.Must(got.Fit(2))(t)
			} else {
				got = reread(t, got, way)
			}
		}
		same(t, "written and read", got, want)
		if got.Config() != want.Config() {
			t.Errorf("configuration %+v, was %+v", got.Config(), want.Config())
		}
		fits := testkit.Must(want.Path([]float64{0.1, 3}))(t)
		testkit.Check(t, want.Join())
		for i, f := range testkit.Must(want.Path([]float64{0.1, 3}))(t) {
			if a, b := fmt.Sprintf("%+v", *f), fmt.Sprintf("%+v", *fits[i]); a != b {
				t.Errorf("joined:\n%s\nbefore:\n%s", a, b)
			}
		}
		again := reread(t, want, "file")
		testkit.Check(t, want.AppendBlock(blocks[0]))
		testkit.Check(t, again.AppendBlock(blocks[0]))
		same(t, "joined, written, read and gone on with", again, want)
	})
}

// TestLanesDecayAndMerge: forgetting and merging mean what they do without lanes.
func TestLanesDecayAndMerge(t *testing.T) {
	eachLanes(t, func(t *testing.T, cfg ridge.SummaryConfig, blocks []dataset.Block) {
		one := cfg
		one.Lanes = 1
		build := func(cfg ridge.SummaryConfig) *ridge.Summary {
			s, o := ofLanes(t, cfg, blocks[:4]), ofLanes(t, cfg, blocks[4:7])
			testkit.Check(t, s.Decay(0.5))
			testkit.Check(t, s.Merge(o))
			for _, b := range blocks[7:] {
				testkit.Check(t, s.AppendBlock(b))
			}
			return s
		}
		got, want := build(cfg), build(one)
		if g, w := got.Weight(), want.Weight(); got.Rows() != want.Rows() || math.Abs(g-w) > 1e-12*w {
			t.Errorf("%d rows of weight %g, without lanes %d of %g", got.Rows(), g, want.Rows(), w)
		}
		f, w := testkit.Must(got.Fit(5))(t), testkit.Must(want.Fit(5))(t)
		for j := range cfg.Targets {
			a, b := f.Targets[j], w.Targets[j]
			apart := 0.0
			for i, v := range a.Coef {
				apart = math.Hypot(apart, v-b.Coef[i])
			}
			if !(apart <= a.ErrorBound+b.ErrorBound) {
				t.Errorf("target %d: %g apart, the bounds are %g and %g", j, apart, a.ErrorBound, b.ErrorBound)
			}
			if a.RSS.Lo > b.RSS.Hi || b.RSS.Lo > a.RSS.Hi {
				t.Errorf("target %d: RSS %v and %v", j, a.RSS, b.RSS)
			}
		}
	})
}

// TestLanesContinued: a pass that is gone on with, from a message written amid it, and joined, is to
// the bit what Summarize makes.
func TestLanesContinued(t *testing.T) {
	const n, d = 30000, 3
	r := rand.New(rand.NewPCG(1, 1))
	b := rows(r, n, d, 1, false, false)
	src := testkit.Must(dataset.FromDense(n, d, 1, b.X, b.Y))(t)
	cfg := ridge.SummaryConfig{Dim: d, Size: 2, Intercept: true, Lanes: 3, Store: fd.StoreRows}
	want := testkit.Must(ridge.Summarize(t.Context(), src, cfg, nil))(t)
	s, written := testkit.Must(ridge.NewSummary(cfg))(t), []byte(nil)
	testkit.Check(t, s.Continue(t.Context(), src, func(rows int64) {
		if rows < n && rows > n/2 {
			written = testkit.Marshal(t, s)
		}
	}))
	got := testkit.Must(ridge.ReadSummary(bytes.NewReader(written), nil))(t)
	if got.Rows() == n || got.Rows() == 0 || got.Joined() {
		t.Fatalf("written after %d rows", got.Rows())
	}
	testkit.Check(t, got.Continue(t.Context(), src, nil))
	same(t, "gone on with", got, s)
	testkit.Check(t, got.Join())
	same(t, "joined", got, want)
}

// TestLanesRefuse: of several bad rows, in whichever lane, the first is told, and nothing
// is changed.
func TestLanesRefuse(t *testing.T) {
	eachLanes(t, func(t *testing.T, cfg ridge.SummaryConfig, blocks []dataset.Block) {
		s := ofLanes(t, cfg, blocks[:3])
		before := testkit.Marshal(t, s)
		r := rand.New(rand.NewPCG(1, 2))
		for _, value := range []float64{math.NaN(), math.Inf(1), 1e200} {
			b := rows(r, 25, cfg.Dim, cfg.Targets, false, true)
			first := 1 + r.IntN(12)
			b.W[first] = 1
			for _, i := range []int{24, first + 1 + r.IntN(10), first} {
				b.X[i*cfg.Dim+2] = value
			}
			err := s.AppendBlock(b)
			var finite *fd.NonFiniteError
			var scale *fd.RangeError
			switch {
			case errors.As(err, &finite) && finite.Row == first && finite.Col == 2:
			case value == 1e200 && errors.As(err, &scale) && scale.Row == first:
			default:
				t.Errorf("%v in row %d: %v", value, first, err)
			}
			if !bytes.Equal(testkit.Marshal(t, s), before) {
				t.Fatalf("%v: the refusal has changed the summary", value)
			}
		}
	})
}

// TestLanesApart: lanes whose rows can each be summed but not all together are refused when
// they come, not when they are read.
func TestLanesApart(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		s := testkit.Must(
			ridge.NewSummary(
				ridge.SummaryConfig{Dim: 1, Size: 1, Intercept: intercept, Lanes: 4, LaneRows: 1, Store: fd.StoreRows},
			),
		)(
			t,
		)
		var refused error
		seen := int64(0)
		for ; refused == nil && seen < 9; seen++ { // the squares of all eight are just in range
			refused = s.AppendBlock(
				dataset.Block{N: 1, X: []float64{math.Sqrt(fd.MaxSquares / 4 / 8.1)}, Y: []float64{1}},
			)
			reread(t, s, "file")
		}
		var scale *fd.RangeError
		if !errors.As(refused, &scale) || seen != 9 || s.Rows() != 8 {
			t.Errorf("intercept %v: %d rows taken, then %v", intercept, s.Rows(), refused)
		}
		reread(t, s, "file")
		testkit.Check(t, s.Join())
		reread(t, s, "file")
	}
}

// TestLanesAllocateNothing: in steady state.
func TestLanesAllocateNothing(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, intercept := range []bool{false, true} {
			s := testkit.Must(
				ridge.NewSummary(
					ridge.SummaryConfig{Dim: 16, Size: 4, Intercept: intercept, Lanes: 3, LaneRows: 8, Backend: be},
				),
			)(
				t,
			)
			b := rows(rand.New(rand.NewPCG(1, 1)), 100, 16, 1, false, true)
			add := func() { testkit.Check(t, s.AppendBlock(b)) }
			add()
			if got := testing.AllocsPerRun(20, add); got != 0 {
				t.Errorf("%v allocations a block", got)
			}
		}
	})
}

// TestLanesMessage: a message of lanes that says what no summary has is refused, with the place.
func TestLanesMessage(t *testing.T) {
	s := testkit.Must(
		ridge.NewSummary(ridge.SummaryConfig{Dim: 2, Size: 1, Lanes: 3, LaneRows: 1, Store: fd.StoreRows}),
	)(t)
	testkit.Check(t, s.AppendBlock(rows(rand.New(rand.NewPCG(1, 1)), 5, 2, 1, false, false)))
	b := testkit.Marshal(t, s)
	for _, c := range []struct {
		offset int
		value  byte
		want   string
	}{
		{24, 1, "byte 24 of the message: the number of lanes is 1, not between 2 and 1024"},
		{32, 0, "byte 32 of the message: LaneRows is 0, not between 1 and 2³¹−1"},
		{47, 0x80, "byte 40 of the message: LanesAfter is 9223372036854775808"},
		{48, 2, "byte 48 of the message: 2 of 3 lanes follow"},
		{56, 1, "byte 65 of the message: in lane 1: not a message of fdridge"},
		{12, 60, "byte 12 of the message: holds kind 60, not a summary"},
	} {
		bad := slices.Clone(b)
		bad[c.offset] = c.value
		_, err := ridge.ReadSummary(bytes.NewReader(wiretest.Seal(bad)), nil)
		format, ok := errors.AsType[*fd.FormatError](err)
		if !ok || !bytes.Contains([]byte(format.Error()), []byte(c.want)) {
			t.Errorf("%d at byte %d: %v, want %q", c.value, c.offset, err, c.want)
		}
	}
}

// TestLanesOfNothing: the zero Summary has no sketch, and a new one of several lanes an empty one.
func TestLanesOfNothing(t *testing.T) {
	if s := new(ridge.Summary).Sketch(); s != nil {
		t.Errorf("the zero Summary has the sketch %+v", s)
	}
	s := testkit.Must(ridge.NewSummary(ridge.SummaryConfig{Dim: 3, Size: 2, Lanes: 4}))(t)
	if n := s.Sketch().Rows(); n != 0 {
		t.Errorf("%d rows before the first", n)
	}
	if _, err := s.Fit(1); !errors.Is(err, ridge.ErrEmpty) {
		t.Error(err)
	}
	testkit.Check(t, s.Join())
}
