package window_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/wire/wiretest"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/window"
)

// TestFadingRows: a half-life of h rows gives the same bits as a half-life of h nanoseconds with row i at i
// nanoseconds. This holds for any blocks, and if the summary is written and read in between. With a half-life of rows
// the span has no times.
func TestFadingRows(t *testing.T) {
	for seed := range 40 {
		r := rand.New(rand.NewPCG(22, uint64(seed)))
		d, k, n := dimOf(r), 1+r.IntN(2), 1+r.IntN(80)
		s, cfg := streamOf(r, n, d, k), windowConfig(r, d, k).Summary
		h := int64(1 + r.IntN(30))
		byRows := must(window.NewFading(window.FadingConfig{Summary: cfg, HalfLifeRows: h}))(t)
		byTime := must(window.NewFading(window.FadingConfig{Summary: cfg, HalfLife: time.Duration(h)}))(t)
		times := make([]time.Time, n)
		for i := range times {
			times[i] = time.Unix(0, int64(i))
		}
		for lo := 0; lo < n; {
			hi := min(lo+1+r.IntN(20), n)
			check(t, byRows.Append(s.cut(lo, hi)))
			check(t, byTime.AppendTimes(times[lo:hi], s.cut(lo, hi)))
			if r.IntN(3) == 0 {
				byRows = rereadFading(t, byRows)
			}
			lo = hi
		}
		got, span, err := byRows.Summary()
		check(t, err)
		want, timed, err := byTime.Summary()
		check(t, err)
		if !bytes.Equal(wiretest.Marshal(t, got), wiretest.Marshal(t, want)) {
			t.Fatalf("seed %d: other bits than by time", seed)
		}
		if (span != window.Span{First: timed.First, Rows: timed.Rows}) || !byRows.Now().IsZero() ||
			byRows.Rows() != int64(n) ||
			byRows.Config().HalfLifeRows != h {
			t.Fatalf("seed %d: %+v, now %v, by time %+v", seed, span, byRows.Now(), timed)
		}
	}
}

// goldenFadingRows returns the fading summary of the golden file. Its computation has no rounding.
func goldenFadingRows(t testing.TB) *window.Fading {
	f := must(
		window.NewFading(
			window.FadingConfig{
				Summary:      ridge.SummaryConfig{Dim: 2, Size: 1, ShrinkRows: 9, Store: fd.StoreRows},
				HalfLifeRows: 1,
			},
		),
	)(
		t,
	)
	for i := range 4 {
		check(t, f.Append(dataset.Block{N: 1, X: []float64{float64(i), 0.5}, Y: []float64{float64(i)}}))
	}
	return f
}

// TestFadingRowsGolden: the message of a half-life of rows equals the golden file.
func TestFadingRowsGolden(t *testing.T) {
	b, read := golden(t, "fading-rows-v1.bin", goldenFadingRows(t), readAs[*window.Fading])
	if sum, span, err := read.Summary(); err != nil || (span != window.Span{Rows: 4}) ||
		sum.Weight() != 1+0.5+0.25+0.125 {
		t.Errorf("%+v, weight %v: %v", span, sum.Weight(), err)
	}
	for _, c := range []struct {
		at int
		v  uint64
	}{{32, 5}, {40, 4}, {56, 1}, {64, 2}} { // rows appended, now, the first and the last row
		bad := bytes.Clone(b)
		wiretest.Put(bad, c.at, c.v)
		err := wiretest.Refuses[*fd.FormatError](t, "numbers", wiretest.Seal(bad), goldenFadingRows(t))
		if !strings.Contains(err.Error(), "the numbers of the rows") {
			t.Errorf("byte %d: %v", c.at, err)
		}
	}
}

// TestFadingRowsRefuses: one half-life is taken, and where rows are counted no notice of times.
func TestFadingRowsRefuses(t *testing.T) {
	sum := ridge.SummaryConfig{Dim: 1, Size: 1}
	for _, cfg := range []window.FadingConfig{
		{Summary: sum, HalfLifeRows: -1}, {Summary: sum, HalfLifeRows: 1, HalfLife: 1},
	} {
		if _, err := window.NewFading(cfg); !errors.Is(err, ridge.ErrInput) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	f := must(window.NewFading(window.FadingConfig{Summary: sum, HalfLifeRows: 1}))(t)
	b := dataset.Block{N: 1, X: []float64{1}, Y: []float64{1}}
	timeless := must(window.NewFading(f.Config()))(t)
	for range 3 {
		check(t, timeless.Append(b))
	}
	check(t, f.Append(b))
	check(t, f.Advance(start))
	check(t, f.AppendAt(start.Add(-1), b))
	check(t, f.AppendTimes([]time.Time{start}, b))
	if !bytes.Equal(wiretest.Marshal(t, f), wiretest.Marshal(t, timeless)) {
		t.Error("times were taken notice of")
	}
}
