package window_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/wire/wiretest"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/window"
)

// TestWindowCrowd: the sketches of a window are computed in parallel, with the same bits on any number of cores. The
// bits are the same whether rows arrive one by one or thousands at a time, so that the first have left before the last
// arrive.
func TestWindowCrowd(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const n, d, block = 3000, 30, 8
	all := rows(rand.New(rand.NewPCG(20, 10)), n, d, 1, false, false)
	times := make([]time.Time, n)
	for i := range times {
		times[i] = start.Add(time.Duration(i) * time.Minute)
	}
	for _, cfg := range []window.Config{
		{Rows: 400, Share: 0.5, BlockRows: block}, {Rows: n, Share: 1, BlockRows: block},
		{Duration: 40 * time.Hour, Share: 0.25, BlockRows: block},
	} {
		cfg.Summary = ridge.SummaryConfig{Dim: d, Size: 3, ShrinkRows: 3, Intercept: true}
		var want []byte
		for _, procs := range []int{1, 2, 7} {
			runtime.GOMAXPROCS(procs)
			for _, most := range []int{n, 700, 1} {
				w := must(window.New(cfg))(t)
				for lo := 0; lo < n; lo += most {
					hi := min(lo+most, n)
					check(t, w.AppendTimes(times[lo:hi], all.Cut(lo, hi, d, 1, new(engine.CSR))))
				}
				got := wiretest.Marshal(t, w)
				if want == nil {
					want = got
				}
				if w.Sketches() < 5 || !bytes.Equal(got, want) {
					t.Errorf(
						"%+v: on %d cores, %d rows at a time: other bits; %d sketches",
						cfg,
						procs,
						most,
						w.Sketches(),
					)
				}
			}
		}
	}
}

// TestWindowSketchesInRange: rows that have become sketches count where it is asked whether all can be merged.
func TestWindowSketchesInRange(t *testing.T) {
	w := must(
		window.New(window.Config{Summary: ridge.SummaryConfig{Dim: 1, Size: 1}, Rows: 1000, Share: 1, BlockRows: 1}),
	)(
		t,
	)
	b := dataset.Block{N: 1, X: []float64{math.Sqrt(fd.MaxSquares / 4 / 6.5)}, Y: []float64{0}}
	for range 6 {
		check(t, w.Append(b))
	}
	if _, ok := errors.AsType[*fd.RangeError](w.Append(b)); !ok || w.Sketches() < 2 || w.Rows() != 6 {
		t.Errorf("%d rows, %d sketches", w.Rows(), w.Sketches())
	}
}
