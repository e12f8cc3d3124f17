package kernel

import (
	"math"
	"math/big"
	"testing"
	"unsafe"
)

// TestSecular compares the sums over poles with sums in 200 bits. The bound on round-off counts the partial sums.
func TestSecular(t *testing.T) {
	onEach(t, func(g *guarded) {
		for _, n := range sizes {
			for _, above := range []bool{false, true} {
				g.begin("n %d, above %v", n, above)
				d, zz := g.put(0, g.normal(n)), g.put(1, g.normal(n))
				tau := -10.0
				if !above {
					tau = 10
				}
				for i := range d {
					d[i] = math.Abs(d[i])
					zz[i] = math.Abs(zz[i])
				}
				for _, poles := range []func(int, float64, float64, *float64, *float64, *float64) (float64, float64, float64){
					g.kernel.Secular.Poles,
					g.kernel.Secular.PolesDown,
				} {
					delta := g.blank(2, n)
					sum, slope, partials := poles(
						n,
						0.25,
						tau,
						unsafe.SliceData(d),
						unsafe.SliceData(zz),
						unsafe.SliceData(delta),
					)
					g.written(1, n, n+1, delta)
					exact, exactSlope := new(big.Float).SetPrec(200), new(big.Float).SetPrec(200)
					for i := range d {
						if delta[i] != (d[i]-0.25)-tau {
							g.fail("delta[%d] is %v", i, delta[i])
						}
						term := new(big.Float).SetPrec(200).SetFloat64(zz[i])
						x := new(big.Float).SetPrec(200).SetFloat64(delta[i])
						exact.Add(exact, term.Quo(term, x))
						exactSlope.Add(exactSlope, new(big.Float).SetPrec(200).Quo(term, x))
					}
					want, _ := exact.Float64()
					wantSlope, _ := exactSlope.Float64()
					g.near("sum", 0, sum, want, math.Abs(want), n+4)
					g.near("slope", 0, slope, wantSlope, wantSlope, n+6)
					// Not all terms are in the last partial sum, and each term is in at most n partial sums.
					if least := math.Abs(want) * (1 - 1e-9); !(math.Abs(partials) >= least) ||
						!(math.Abs(partials) <= (float64(n)+1)*math.Abs(want)) {
						g.fail("the partial sums of %v add up to %v", want, partials)
					}
				}
			}
		}
	})
}

// TestScaleQuotients compares with the same operations in Go, which give the same bits.
func TestScaleQuotients(t *testing.T) {
	onEach(t, func(g *guarded) {
		for _, n := range sizes {
			g.begin("n %d", n)
			delta, d, y0 := g.put(0, g.normal(n)), g.put(1, g.normal(n)), g.normal(n)
			want := make([]float64, n)
			for i := range want {
				want[i] = y0[i] * (delta[i] / (d[i] - 0.25))
			}
			y := g.put(2, y0)
			g.kernel.Secular.ScaleQuotients(
				n,
				0.25,
				unsafe.SliceData(delta),
				unsafe.SliceData(d),
				unsafe.SliceData(y),
			)
			g.written(1, n, n+1, y)
			g.equal("y", y, want)
		}
	})
}

// TestPolesOrder: small terms are not lost, because Poles begins with the first element and PolesDown with the last.
func TestPolesOrder(t *testing.T) {
	onEach(t, func(g *guarded) {
		const n = 400
		zz := make([]float64, n)
		d := make([]float64, n)
		delta := make([]float64, n)
		for i := range zz {
			zz[i] = 1
			d[i] = 1
		}
		zz[n-1] = 0x1p53
		up, _, _ := g.kernel.Secular.Poles(n, 0, 0, &d[0], &zz[0], &delta[0])
		zz[0], zz[n-1] = zz[n-1], 1
		down, _, _ := g.kernel.Secular.PolesDown(n, 0, 0, &d[0], &zz[0], &delta[0])
		for _, sum := range []float64{up, down} {
			if math.Abs(sum-(0x1p53+n-1)) > 8 {
				g.fail("the sum is 2⁵³ + %v, want 2⁵³ + %d", sum-0x1p53, n-1)
			}
		}
	})
}
