package fd_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
)

// TestRoundOff calibrates Bound.RoundOff: over many streams the part of E beyond
// [0, η], measured in extended precision, stays below a quarter of the pad.
func TestRoundOff(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		worst, at := 0.0, ""
		for _, name := range spectrumNames {
			for _, driver := range []fd.Driver{fd.Gram, fd.SVD} {
				for seed := range uint64(12) {
					rng := rand.New(rand.NewPCG(seed, 11))
					d, m := 6+rng.IntN(40), 1+rng.IntN(20)
					a := stream(rng, 20+rng.IntN(700), d, name)
					s := newSketch(t, fd.Config{Dim: d, Size: m, ShrinkRows: 1 + rng.IntN(20), Shrink: driver, Backend: be})
					check(t, s.Append(a))
					p := must(s.Spectrum())(t)
					lo, hi := extremes(gap(a, p.Matrix()))
					if r := math.Max(-lo, hi-p.Bound.Shrinkage) / p.Bound.RoundOff; !(r <= worst) {
						worst, at = r, name+" "+driver.String()
					}
				}
			}
		}
		t.Logf("worst round-off is %.3f of its pad (%s)", worst, at)
		if !(worst <= 0.25) {
			t.Errorf("round-off reached %.3f of its pad (%s)", worst, at)
		}
	})
}
