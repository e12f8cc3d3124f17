package fd_test

import (
	"math/big"
	"os"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
)

// TestRoundOffOfEqualEntries: rows with all entries equal, and then small multiples of the unit
// vectors. Sums of the eigenproblem round the same way each time, so that its error along the
// all-equal direction grows like d·eps.
func TestRoundOffOfEqualEntries(t *testing.T) {
	dims := []int{64, 200}
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		dims = append(dims, 1600)
	}
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, d := range dims {
			for _, cfg := range []fd.Config{
				{Dim: d, Size: d, Store: fd.StoreScatter, ShrinkRows: 8}, {Dim: d, Size: d, Store: fd.StoreScatter},
				{Dim: d, Size: d, ShrinkRows: 8}, {Dim: d, Size: 20, ShrinkRows: 8}, {Dim: d, Size: 20}, {Dim: d, Size: 20, Shrink: fd.SVD},
			} {
				if d > 500 && cfg.Size == d && cfg.Store == fd.StoreSmaller {
					continue // hours
				}
				const c = 0.11155
				cfg.Backend = be
				s := newSketch(t, cfg)
				row := make([]float64, d)
				for j := range row {
					row[j] = c
				}
				for range 64 {
					check(t, s.AppendRow(row))
				}
				for j := range row {
					clear(row)
					row[j] = 1e-3 * c
					check(t, s.AppendRow(row))
				}
				p := must(s.Spectrum())(t)
				// e = uᵀ(AᵀA − BᵀB)u·d for u = 1/√d.
				e := mul(number(64*float64(d)*float64(d)), mul(number(c), number(c)))
				small := number(row[d-1])
				e.Add(e, mul(number(float64(d)), mul(small, small)))
				for i, s2 := range p.Sigma2 {
					sum := new(big.Float).SetPrec(200)
					for _, v := range p.V[i*d : (i+1)*d] {
						sum.Add(sum, number(v))
					}
					e.Sub(e, mul(number(s2), mul(sum, sum)))
				}
				off, _ := e.Float64()
				off /= float64(d)
				b := p.Bound
				unit := eps * b.Frobenius2
				t.Logf(
					"d = %d, %v: off by %.4g, bounded by %.4g·eps·‖A‖²_F, η %.3g, skew %.3g eps",
					d,
					cfg.Size,
					off/unit,
					b.RoundOff/unit,
					b.Shrinkage/unit,
					p.Skew/eps,
				)
				if !(off >= -b.RoundOff) || !(off <= b.FD()) {
					t.Errorf(
						"d = %d, %+v: uᵀ(AᵀA − BᵀB)u is %.4g·eps·‖A‖²_F, bounded by %.4g and %.4g",
						d,
						cfg,
						off/unit,
						-b.RoundOff/unit,
						b.FD()/unit,
					)
				}
			}
		}
	})
}
