package window_test

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/internal/wire/wiretest"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/window"
)

// A stream is rows with weights, nil where none have any, and the time of each.
type stream struct {
	table
	times []time.Time
	mixed bool // now dense, now sparse
}

// start is when streams begin.
var start = time.Date(2024, 2, 29, 23, 59, 58, 5, time.UTC)

// streamOf draws n rows that are hard for sketches. There may be columns of different sizes, a common offset, repeated
// rows, rows of zeros and drift. There may also be weights of different sizes, bursts of equal times and long pauses.
func streamOf(r *rand.Rand, n, d, t int) stream {
	var s stream
	sizes, offset := make([]float64, d), 0.0
	for j := range sizes {
		sizes[j] = math.Pow(10, -3*r.Float64()*float64(j))
	}
	if r.IntN(3) == 0 {
		offset = math.Pow(10, 6*r.Float64())
	}
	drift, again := math.Pow(10, (r.Float64()-0.5)*0.2), r.IntN(4) == 0
	weighted, burst := r.IntN(3) == 0, r.Float64()
	s.sparse = r.IntN(3) == 0
	filled := 0.75
	if d > 8 { // so that rows stay sparse
		filled, s.sparse = 0.5/float64(d), true
	}
	at, scale := start, 1.0
	tick := []time.Duration{1, time.Second}[r.IntN(2)] // of the clock
	for i := range n {
		row, y := make([]float64, d), make([]float64, t)
		for j := range row {
			if r.Float64() < filled {
				row[j] = scale * (offset + sizes[j]*r.NormFloat64())
			}
		}
		switch {
		case again && i > 0 && r.IntN(2) == 0:
			copy(row, s.x[r.IntN(i)])
		case r.IntN(20) == 0:
			clear(row)
		}
		for j := range y {
			y[j] = scale*r.NormFloat64() + row[0]
		}
		if weighted {
			s.w = append(s.w, []float64{0, 1, 1, 0.5, math.Pow(10, 12*r.Float64()-6)}[r.IntN(5)])
		}
		if r.Float64() >= burst {
			pause := time.Duration(r.Int64N(int64(3 * time.Second)))
			if r.IntN(30) == 0 {
				pause += time.Duration(r.Int64N(int64(time.Minute)))
			}
			at = at.Add(pause.Truncate(tick))
		}
		s.x, s.y, s.times = append(s.x, row), append(s.y, y), append(s.times, at)
		scale *= drift
	}
	return s
}

// dimOf draws a number of features: few, or now and then so many that rows are kept sparse.
func dimOf(r *rand.Rand) int {
	if r.IntN(20) == 0 {
		return 16 + r.IntN(5)
	}
	return 1 + r.IntN(5)
}

// cut is rows lo to hi.
func (s stream) cut(lo, hi int) dataset.Block {
	b := dataset.Block{N: hi - lo, Y: testkit.Flat(s.y[lo:hi])}
	if s.w != nil {
		b.W = s.w[lo:hi]
	}
	if s.sparse != (s.mixed && lo%3 == 0) {
		b.Sparse = testkit.Compress(s.x[lo:hi])
	} else {
		b.X = testkit.Flat(s.x[lo:hi])
	}
	return b
}

// reference is the problem of the rows of a span.
func (s stream) reference(of window.Span, intercept bool) *refbig.Problem {
	lo, hi := of.First, of.First+of.Rows
	var w []float64
	if s.w != nil {
		w = s.w[lo:hi]
	}
	return refbig.New(s.x[lo:hi], s.y[lo:hi], w, intercept)
}

// windowConfig draws what a window is of. Blocks are small, so that there are many levels of sketches.
func windowConfig(r *rand.Rand, d, t int) window.Config {
	cfg := window.Config{
		Summary: ridge.SummaryConfig{
			Dim:        d,
			Targets:    t,
			Size:       1 + r.IntN(4),
			ShrinkRows: 1 + r.IntN(3),
			Intercept:  r.IntN(2) == 0,
			Shrink:     fd.Driver(r.IntN(2)),
			Store:      fd.StoreRows,
		},
		Share: []float64{1, 0.5, 0.4, 0.25, 0.125}[r.IntN(5)], Inside: r.IntN(3) == 0, BlockRows: 1 + r.IntN(4),
	}
	if r.IntN(4) == 0 {
		cfg.Summary.Store = fd.StoreScatter
	}
	if r.IntN(2) == 0 {
		cfg.Rows = 1 + r.Int64N(80)
	} else {
		cfg.Duration = max(
			1, time.Duration(r.Int64N(int64(90*time.Second))).Truncate([]time.Duration{1, time.Second}[r.IntN(2)]),
		)
	}
	return cfg
}

// asked is the first of the rows of a stream of n, as of now, that a window is of.
func (s stream) asked(cfg window.Config, n int, now time.Time) int64 {
	if cfg.Rows > 0 {
		return max(0, int64(n)-cfg.Rows)
	}
	for i := range n {
		if now.Sub(s.times[i]) < cfg.Duration {
			return int64(i)
		}
	}
	return int64(n)
}

// holdSpan fails unless a window that has had n rows of a stream covers what it promises to.
func (s stream) holdSpan(t rapid.TB, w *window.Window, n int) {
	t.Helper()
	cfg, span := w.Config(), w.Span()
	asked := s.asked(cfg, n, w.Now())
	end := span.First + span.Rows
	if w.Rows() != int64(n) || end != int64(n) || span.Rows < 0 || span.First < 0 {
		t.Fatalf("after %d rows %+v", n, span)
	}
	if span.Rows > 0 && (!span.From.Equal(s.times[span.First]) || !span.To.Equal(s.times[n-1])) {
		t.Fatalf("%+v, rows %d and %d are of %v and %v", span, span.First, n, s.times[span.First], s.times[n-1])
	}
	cut := span.First // the first row of the sketch at the edge
	if cfg.Inside {
		cut -= span.Edge
	}
	whole := end - cut - span.Edge // rows that are newer
	switch {
	case span.Edge == 0 && span.First != asked:
		t.Fatalf("%+v without an edge, and row %d is the first that was asked for", span, asked)
	case span.Edge > 0 && !(cut < asked && asked < cut+span.Edge):
		t.Fatalf("%+v, and the edge goes through row %d", span, asked)
	case float64(span.Edge) > cfg.Share*float64(whole):
		t.Fatalf(
			"the sketch at the edge has %d rows, the others %d: more than a share of %g",
			span.Edge,
			whole,
			cfg.Share,
		)
	}
	k := math.Ceil(1 / cfg.Share)
	if float64(w.Sketches()) > (k+1)*(1+max(0, math.Log2(float64(int64(n)-cut)/(k*float64(cfg.BlockRows))))) {
		t.Fatalf(
			"%d sketches for %d rows in blocks of %d, share %g",
			w.Sketches(),
			int64(n)-cut,
			cfg.BlockRows,
			cfg.Share,
		)
	}
}

// hold fails unless what is read from a window certifies what is true of the rows of its span.
func (s stream) hold(t rapid.TB, w *window.Window, gamma float64) {
	t.Helper()
	sum, span, err := w.Summary()
	if span.Rows == 0 {
		if !errors.Is(err, ridge.ErrEmpty) {
			t.Fatalf("of no rows: %v", err)
		}
		return
	}
	check(t, err)
	if sum.Rows() != span.Rows {
		t.Fatalf("the summary is of %d rows, the span %+v", sum.Rows(), span)
	}
	s.certify(t, sum, s.reference(span, sum.Config().Intercept), gamma)
}

// certify holds the fits of a summary, and its sketch where that is of the rows as they are, to a reference.
func (s stream) certify(t rapid.TB, sum *ridge.Summary, p *refbig.Problem, gamma float64) {
	t.Helper()
	f, err := sum.Fit(gamma)
	if errors.Is(err, ridge.ErrEmpty) && sum.Weight() == 0 {
		return
	}
	check(t, err)
	testkit.Certificate(t, p, f)
	testkit.Certificate(t, p, must(sum.FitFD(gamma))(t))
	if sum.Config().Intercept || s.w != nil {
		return
	}
	sp := must(sum.Sketch().Spectrum())(t)
	gap := make([][]*big.Float, p.D)
	for i := range gap {
		gap[i] = make([]*big.Float, p.D)
		for j := range gap[i] {
			gap[i][j] = new(big.Float).Set(p.K[i][j])
			for l, x := range sp.Sigma2 {
				term := new(big.Float).Mul(refbig.Float(sp.V[l*p.D+i]), refbig.Float(sp.V[l*p.D+j]))
				gap[i][j].Sub(gap[i][j], term.Mul(term, refbig.Float(x)))
			}
		}
	}
	values := refbig.Float64s(refbig.Eigenvalues(gap))
	if most := values[len(values)-1]; !(most <= sp.Bound.FD()) || !(-values[0] <= sp.Bound.RoundOff) {
		t.Fatalf(
			"AᵀA − BᵀB is between %g and %g; promised −%g and %g",
			values[0],
			most,
			sp.Bound.RoundOff,
			sp.Bound.FD(),
		)
	}
}

// feed appends rows lo to hi, in one of several ways.
func (s stream) feed(t rapid.TB, w *window.Window, lo, hi int) {
	t.Helper()
	if lo == hi {
		return
	}
	b := s.cut(lo, hi)
	if s.times[lo].Equal(s.times[hi-1]) {
		if lo%2 == 0 {
			check(t, w.AppendAt(s.times[lo], b))
		} else {
			check(t, w.Advance(s.times[lo]))
			check(t, w.Append(b))
		}
		return
	}
	check(t, w.AppendTimes(s.times[lo:hi], b))
}

// TestWindow: windows of rows and of durations cover the rows that they state. Their certificates hold against 512-bit
// arithmetic of these rows, for any alignment, weights and times.
func TestWindow(t *testing.T) {
	cases := 250
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		cases = 1500
	}
	sketches, edges, reads := 0, 0, 0
	for seed := range cases {
		r := rand.New(rand.NewPCG(20, uint64(seed)))
		d, k := dimOf(r), 1+r.IntN(2)
		n := 1 + r.IntN(120)
		s, cfg := streamOf(r, n, d, k), windowConfig(r, d, k)
		s.mixed = r.IntN(5) == 0
		w := must(window.New(cfg))(t)
		gamma := math.Pow(10, 6*r.Float64()-4)
		next := r.IntN(n) + 1 // to read after
		for lo := 0; lo < n; {
			hi := min(lo+1+r.IntN(9), n)
			if lo < next {
				hi = min(hi, next)
			}
			s.feed(t, w, lo, hi)
			lo = hi
			s.holdSpan(t, w, lo)
			if span := w.Span(); span.Edge > 0 {
				edges++
			}
			sketches = max(sketches, w.Sketches())
			if lo == next || lo == n {
				s.hold(t, w, gamma)
				reads++
				if t.Failed() {
					t.Fatalf("case %d: %+v", seed, cfg)
				}
			}
		}
		if cfg.Duration > 0 { // and when nothing comes any more
			for w.Span().Rows > 0 {
				check(t, w.Advance(w.Now().Add(1+cfg.Duration/time.Duration(2+r.IntN(9)))))
				s.holdSpan(t, w, n)
			}
			s.hold(t, w, gamma)
		}
	}
	if sketches < 20 || edges < cases {
		t.Errorf("%d sketches at most, %d edges: too few to show anything", sketches, edges)
	}
	t.Logf("%d cases, %d reads, at most %d sketches, %d edges", cases, reads, sketches, edges)
}

// TestWindowSpans: every N, block and share, row by row.
func TestWindowSpans(t *testing.T) {
	const n = 150
	s := streamOf(rand.New(rand.NewPCG(20, 1)), n, 1, 1)
	step := 13
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		step = 1
	}
	for _, share := range []float64{1, 0.5, 0.3} {
		for block := 1; block <= 3; block++ {
			for rows := 1; rows <= n; rows += step {
				for _, inside := range []bool{false, true} {
					cfg := window.Config{
						Summary:   ridge.SummaryConfig{Dim: 1, Size: 1},
						Rows:      int64(rows),
						Share:     share,
						BlockRows: block,
						Inside:    inside,
					}
					w := must(window.New(cfg))(t)
					cfg.Rows, cfg.Duration = 0, time.Duration(rows)*time.Second
					timed := must(window.New(cfg))(t)
					for i := range n {
						s.feed(t, w, i, i+1)
						s.holdSpan(t, w, i+1)
						s.feed(t, timed, i, i+1)
						s.holdSpan(t, timed, i+1)
					}
				}
			}
		}
	}
}

// TestWindowBits: a window is the same to the bit whatever blocks its rows come in, on any number of
// cores, and where it was written and read on the way.
func TestWindowBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(20, rapid.Uint64().Draw(t, "seed")))
		d, k := dimOf(r), 1+r.IntN(2)
		n := 1 + r.IntN(150)
		s, cfg := streamOf(r, n, d, k), windowConfig(r, d, k)
		straight, pieces := must(window.New(cfg))(t), must(window.New(cfg))(t)
		straight.SetMeta([]byte("some"))
		pieces.SetMeta([]byte("some"))
		s.feed(t, straight, 0, n)
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
		for lo := 0; lo < n; {
			hi := min(lo+rapid.IntRange(1, 40).Draw(t, "rows"), n)
			s.feed(t, pieces, lo, hi)
			lo = hi
			runtime.GOMAXPROCS(1 + lo%3)
			if rapid.Bool().Draw(t, "reread") {
				pieces = rereadWindow(t, pieces)
			}
			if rapid.IntRange(0, 9).Draw(t, "read") == 0 {
				if _, _, err := pieces.Summary(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !bytes.Equal(wiretest.Marshal(t, straight), wiretest.Marshal(t, pieces)) {
			t.Fatal("another window")
		}
		a, _, err := straight.Summary()
		check(t, err)
		b, _, err := pieces.Summary()
		check(t, err)
		if string(b.Meta) != "some" || !bytes.Equal(marshal(t, a), marshal(t, b)) {
			t.Fatal("another summary")
		}
	})
}

// rereadWindow is a window written and read again.
func rereadWindow(t rapid.TB, w *window.Window) *window.Window {
	t.Helper()
	b := wiretest.Marshal(t, w)
	for _, open := range wiretest.Readers {
		read := must(readAs[*window.Window](open(b), nil))(t)
		if !bytes.Equal(wiretest.Marshal(t, read), b) {
			t.Fatal("a window that was read writes another message")
		}
		if read.Span() != w.Span() || read.Now() != w.Now() {
			t.Fatalf("read %+v, written %+v", read.Span(), w.Span())
		}
		w = read
	}
	return w
}

// TestWindowMixed: blocks with weights and without, dense and sparse, in one block of the window.
func TestWindowMixed(t *testing.T) {
	w := must(window.New(window.Config{Summary: ridge.SummaryConfig{Dim: 2, Size: 2}, Rows: 100, BlockRows: 8}))(t)
	s := stream{
		table: table{
			x: [][]float64{{1, 2}, {3, 0}, {5, 6}, {0, 7}, {1, 1}},
			y: [][]float64{{1}, {0}, {2}, {4}, {9}},
			w: []float64{1, 1, 3, 1, 0},
		},
	}
	for i := range s.x {
		b := s.cut(i, i+1)
		if i%2 == 1 {
			b.X, b.Sparse = nil, testkit.Compress(s.x[i:i+1])
		}
		if s.w[i] == 1 {
			b.W = nil
		}
		check(t, w.Append(b))
		w = rereadWindow(t, w)
	}
	s.hold(t, w, 0.5)
	if span := w.Span(); span.Rows != 5 || !span.From.IsZero() || !w.Now().IsZero() {
		t.Errorf("%+v", span)
	}
}

// TestWindowReaders: any number may read while none writes.
func TestWindowReaders(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 6))
	for _, sparse := range []bool{false, true} {
		s := streamOf(r, 100, 5, 1)
		s.sparse = sparse
		w := must(
			window.New(
				window.Config{
					Summary:   ridge.SummaryConfig{Dim: 5, Size: 2, Intercept: true},
					Rows:      60,
					Share:     1,
					BlockRows: 4,
				},
			),
		)(
			t,
		)
		s.feed(t, w, 0, 100)
		f := must(window.NewFading(window.FadingConfig{Summary: w.Config().Summary, HalfLife: time.Minute}))(t)
		check(t, f.AppendTimes(s.times, s.cut(0, 100)))
		var read [8][]byte
		var all sync.WaitGroup
		for i := range read {
			all.Go(func() {
				sum, _, err := w.Summary()
				if i%2 == 1 {
					sum, _, err = f.Summary()
				}
				if err == nil {
					read[i], err = sum.MarshalBinary()
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for i := range read {
			if !bytes.Equal(read[i], read[i%2]) {
				t.Errorf("reader %d has read something else", i)
			}
		}
	}
}

// TestWindowSilence: rows that all have left the window before the next come, in one call with them, by
// themselves, or when the time is told, leave the same behind.
func TestWindowSilence(t *testing.T) {
	s := streamOf(rand.New(rand.NewPCG(20, 7)), 11, 2, 1)
	for i := range s.times {
		s.times[i] = start
		if i >= 3 {
			s.times[i] = start.Add(time.Hour)
		}
	}
	made := func() *window.Window {
		return must(
			window.New(
				window.Config{Summary: ridge.SummaryConfig{Dim: 2, Size: 1}, Duration: time.Minute, BlockRows: 8},
			),
		)(
			t,
		)
	}
	together, apart, told := made(), made(), made()
	s.feed(t, together, 0, 11)
	s.feed(t, apart, 0, 3)
	s.feed(t, apart, 3, 11)
	s.feed(t, told, 0, 3)
	check(t, told.Advance(start.Add(30*time.Minute)))
	if _, span, err := told.Summary(); !errors.Is(err, ridge.ErrEmpty) || span != (window.Span{First: 3}) {
		t.Errorf("in between: %+v, %v", span, err)
	}
	s.feed(t, rereadWindow(t, told), 3, 5)
	s.feed(t, told, 3, 11)
	for _, w := range []*window.Window{apart, told} {
		if !bytes.Equal(wiretest.Marshal(t, w), wiretest.Marshal(t, together)) {
			t.Error("another window")
		}
	}
}
