package ridge_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestSparseCentred: rows that stay sparse though they are centred, in blocks of any size, among dense
// ones, merged and dealt to lanes, have the weights that centring by hand has.
func TestSparseCentred(t *testing.T) {
	const n, d = 60, 90
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, level := range []float64{0, 1e6} {
			all := testkit.Levelled(rand.New(rand.NewPCG(31, 1)), n, d, level)
			weighted := all
			for i := range n {
				weighted.W = append(weighted.W, float64((i+2)%3))
			}
			want, again := dual(t, all.Sparse, all.Y, 0.5, true), repeated(weighted, d)
			wants := map[bool][]float64{false: want, true: dual(t, again.Sparse, again.Y, 0.5, true)}
			for _, c := range []struct {
				step, lanes, size      int
				dense, merge, weighted bool
			}{
				{60, 1, 70, false, false, false}, {7, 1, 70, false, false, true}, {1, 1, 70, false, false, false},
				{7, 1, 70, true, false, true}, {13, 1, 70, true, true, false},
				{20, 3, 70, false, false, false}, {20, 3, 70, false, false, true}, {30, 1, 12, false, true, false},
			} {
				all, want := all, wants[c.weighted]
				if c.weighted {
					all = weighted
				}
				cfg := ridge.SummaryConfig{
					Dim:        d,
					Size:       c.size,
					Intercept:  true,
					Backend:    be,
					Lanes:      c.lanes,
					LaneRows:   3,
					ShrinkRows: 9,
					Store:      fd.StoreRows,
				}
				parts := []*ridge.Summary{testkit.Must(ridge.NewSummary(cfg))(t), testkit.Must(ridge.NewSummary(cfg))(t)}
				for lo := 0; lo < n; lo += c.step {
					b := all.Cut(lo, min(lo+c.step, n), d, 1, new(engine.CSR))
					if c.dense && lo/c.step%2 == 1 {
						b = written(b, d)
					}
					to := parts[0]
					if c.merge && lo > n/4 {
						to = parts[1]
					}
					testkit.Check(t, to.AppendBlock(b))
				}
				if c.merge {
					testkit.Check(t, parts[0].Merge(parts[1]))
				}
				f := testkit.Must(parts[0].Fit(0.5))(t)
				var far, size float64
				for j, v := range want {
					far, size = math.Hypot(far, v-f.Targets[0].Coef[j]), math.Hypot(size, v)
				}
				bound := f.Targets[0].ErrorBound
				if !(far <= bound+1e-9*size) || c.size > n && !(bound <= 1e-6*size) {
					t.Errorf("level %g, %+v: off by %g of %g, bound %g", level, c, far, size, bound)
				}
			}
		}
	})
}

// repeated is b with each row as often as it weighs.
func repeated(b dataset.Block, d int) dataset.Block {
	x, y := &engine.CSR{Cols: d, RowPtr: []int{0}}, []float64(nil)
	for i := range b.N {
		for range int(b.W[i]) {
			idx, val := b.Sparse.Row(i)
			x.ColIdx, x.Val, y = append(x.ColIdx, idx...), append(x.Val, val...), append(y, b.Y[i])
			x.RowPtr = append(x.RowPtr, len(x.Val))
			x.Rows++
		}
	}
	return dataset.Block{N: x.Rows, Sparse: x, Y: y}
}

// written is b with dense rows.
func written(b dataset.Block, d int) dataset.Block {
	x := make([]float64, b.N*d)
	for i := range b.N {
		idx, val := b.Sparse.Row(i)
		for k, j := range idx {
			x[i*d+int(j)] = val[k]
		}
	}
	return dataset.Block{N: b.N, X: x, Y: b.Y, W: b.W}
}

// TestSparseCentredSameBits: neither cores nor messages change a bit.
func TestSparseCentredSameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const d = 300
	r := rand.New(rand.NewPCG(31, 2))
	var blocks []dataset.Block
	for i := range 5 {
		b := testkit.Levelled(r, 70, d, 3)
		for range b.N * (i % 2) {
			b.W = append(b.W, r.Float64())
		}
		blocks = append(blocks, b)
	}
	for _, lanes := range []int{1, 3} {
		made := func(again bool) *ridge.Summary {
			s := testkit.Must(
				ridge.NewSummary(ridge.SummaryConfig{Dim: d, Size: 8, Intercept: true, Lanes: lanes, LaneRows: 7}),
			)(
				t,
			)
			for _, b := range blocks {
				testkit.Check(t, s.AppendBlock(b))
				testkit.Check(t, s.Decay(0.75))
				if again {
					s = reread(t, s, "bytes")
				}
			}
			return s
		}
		want := made(false)
		for _, procs := range []int{1, 2, 3} {
			runtime.GOMAXPROCS(procs)
			same(t, fmt.Sprintf("%d lanes, GOMAXPROCS=%d", lanes, procs), made(procs == 2), want)
		}
	}
}

func TestSparseCentredAllocatesNothing(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		b := testkit.Levelled(rand.New(rand.NewPCG(31, 3)), 100, 200, 5)
		for i := range b.N {
			b.W = append(b.W, float64(i%3))
		}
		for _, lanes := range []int{1, 3} {
			s := testkit.Must(
				ridge.NewSummary(
					ridge.SummaryConfig{Dim: 200, Size: 6, Intercept: true, Lanes: lanes, LaneRows: 7, Backend: be},
				),
			)(
				t,
			)
			add := func() { testkit.Check(t, s.AppendBlock(b)) }
			for range 8 {
				add()
			}
			if got := testing.AllocsPerRun(20, add); got != 0 {
				t.Errorf("%d lanes: %v allocations a block", lanes, got)
			}
			if s.Sketch().Shrinks() < 20 {
				t.Error("no shrinks were made")
			}
		}
	})
}
