//go:build unix

package readonly

import (
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/randsketch"
)

// TestRandsketch: rows and targets in memory that cannot be written, dense with gaps
// between them, and sparse.
func TestRandsketch(t *testing.T) {
	enginetest.EachKernel(t, func(t *testing.T, be engine.Backend) {
		const n, d, ld = 300, 3, 5
		x, y, ptr, idx := make([]float64, n*ld), make([]float64, n), make([]int, n+1), make([]int32, n)
		for i := range x {
			x[i] = float64(i%7) - 3
		}
		for i := range n {
			y[i], ptr[i+1], idx[i] = float64(i), i+1, int32(i%d)
		}
		x, y = Slice(t, x), Slice(t, y)
		csr := &engine.CSR{Rows: n, Cols: d, RowPtr: Slice(t, ptr), ColIdx: Slice(t, idx), Val: y}
		for _, kind := range []randsketch.Kind{randsketch.Gaussian, randsketch.SJLT} {
			s := must(randsketch.New(randsketch.Config{Kind: kind, Rows: 4, Dim: d, Targets: 1, Backend: be}))(t)
			check(t, s.AppendRows(n, x, ld, y))
			check(t, s.AppendSparse(csr, y))
			must(s.Spectrum())(t)
		}
		a := must(randsketch.NewNystrom(randsketch.NystromConfig{Rank: 2, Dim: d, Backend: be}))(t)
		check(t, a.AppendRows(n, x, ld))
		check(t, a.AppendSparse(csr))
		must(a.Spectrum())(t)
	})
}
