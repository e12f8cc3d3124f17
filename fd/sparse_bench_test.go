package fd_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
)

// scatteredRows are n rows with up to z entries each in any columns of d.
func scatteredRows(n, d, z int) *engine.CSR {
	rng := rand.New(rand.NewPCG(1, 1))
	x := &engine.CSR{Rows: n, Cols: d, RowPtr: []int{0}}
	for range n {
		idx := make([]int32, z)
		for k := range idx {
			idx[k] = int32(rng.IntN(d))
		}
		slices.Sort(idx)
		for _, j := range slices.Compact(idx) {
			x.ColIdx, x.Val = append(x.ColIdx, j), append(x.Val, rng.NormFloat64())
		}
		x.RowPtr = append(x.RowPtr, len(x.Val))
	}
	return x
}

// BenchmarkSparse sketches sparse rows with m = 100, as they are and written out.
func BenchmarkSparse(b *testing.B) {
	for _, c := range []struct{ n, d, z int }{{4000, 55000, 200}, {5000, 360000, 300}} {
		x := scatteredRows(c.n, c.d, c.z)
		for name, r := range map[string]int{"sparse": 0, "written out": -1} {
			b.Run(fmt.Sprintf("%d×%d/%s", c.n, c.d, name), func(b *testing.B) {
				var eta float64
				for b.Loop() {
					s := newSketch(b, fd.Config{Dim: c.d, Size: 100, SparseRows: r})
					check(b, s.AppendSparse(x))
					bound := must(s.Spectrum())(b).Bound
					eta = bound.FD() / bound.Frobenius2
				}
				b.ReportMetric(eta, "η/‖A‖²")
			})
		}
	}
}

// TestSparseReaders: several may read a sketch in which sparse rows wait.
func TestSparseReaders(t *testing.T) {
	s := newSketch(t, fd.Config{Dim: 300, Size: 8, SparseRows: 30})
	check(t, s.AppendSparse(scatteredRows(100, 300, 20)))
	want := must(s.Spectrum())(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if p, err := s.Spectrum(); err != nil || !slices.Equal(p.V, want.V) || s.Bound().Rows != 100 {
				t.Errorf("another spectrum, or %v", err)
			}
		})
	}
	wg.Wait()
}
