package fd_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
)

// TestWholeSpectrum: of a K that is known to the last bit the spectrum is off by no more than
// it says, for spectra of every kind and more features than rows.
func TestWholeSpectrum(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		var c largest
		for _, name := range spectrumNames {
			for seed := range uint64(12) {
				rng := rand.New(rand.NewPCG(seed, 12))
				d := 1 + rng.IntN(60)
				if seed == 0 {
					d = 150
				}
				a := stream(rng, 1+rng.IntN(200), d, name)
				most := mat.Max(a)
				// sums of their products are exact
				a.Apply(func(_, _ int, v float64) float64 { return math.Round(v / most * (1 << 20)) }, a)
				var k mat.Dense
				k.Mul(a.T(), a)
				frobenius2 := mat.Trace(&k)
				if !(frobenius2 > 0 && mat.Max(&k) < 1<<52 && mat.Min(&k) > -1<<52) {
					continue
				}
				p := must(
					fd.WholeSpectrum(
						engine.View(d, d, k.RawMatrix().Data),
						fd.Bound{Frobenius2: frobenius2, Rows: 7},
						be,
					),
				)(
					t,
				)
				if p.Bound.Shrinkage != 0 || p.Bound.Rows != 7 || p.Bound.Frobenius2 != frobenius2 ||
					!(p.Bound.Tail >= 0 && p.Bound.Tail <= p.Bound.RoundOff) {
					t.Errorf("%+v", p.Bound)
				}
				c.add(gap(a, p.Matrix()), p.Bound, fmt.Sprintf("%s, d = %d", name, d))
			}
		}
		c.holds(t)
	})
}

// TestWholeSpectrumKeeps: what is known of the round-off of K is kept, and a negative
// eigenvalue, which round-off alone makes, adds to it.
func TestWholeSpectrumKeeps(t *testing.T) {
	be := must(engine.Default())(t)
	p := must(
		fd.WholeSpectrum(engine.View(2, 2, []float64{4, 0, 0, -0.5}), fd.Bound{RoundOff: 1, Frobenius2: 4}, be),
	)(
		t,
	)
	if len(p.Sigma2) != 1 || !(math.Abs(p.Sigma2[0]-4) <= 1e-14) ||
		!(p.Bound.RoundOff >= 1.5 && p.Bound.RoundOff <= 1.5+1e-12) {
		t.Errorf("%+v", p)
	}
}
