package rows

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
)

// TestScaled: the bounds of a scaled stage hold for rows that a source divided by the scale. They also hold if the
// source divided once by the product of this scale and its own scale. The bounds are on the means and on how far
// rounding moved the rows.
func TestScaled(t *testing.T) {
	const n, d = 50, 3
	rng := rand.New(rand.NewPCG(1, 9))
	big64 := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	for _, level := range []float64{0, 1, 1e8, 1e15} {
		for _, intercept := range []bool{false, true} {
			before, scale := make([]float64, d), make([]float64, d)
			for j := range scale {
				before[j], scale[j] = 1/3.+rng.Float64(), math.Pow(10, 16*rng.Float64()-8)
			}
			raw, x, y := make([]float64, n*d), make([]float64, n*d), make([]float64, n)
			for i := range raw {
				raw[i] = level + rng.NormFloat64()
				if i >= d && level > 0 { // equal rows are rounded alike
					raw[i] = raw[i%d]
				}
				x[i] = raw[i] / before[i%d]
			}
			s := NewStage(d, 1, intercept)
			s.Load(dataset.Block{N: n, X: x, Y: y}, false)
			norms := make([]float64, d)
			for i, v := range x {
				norms[i%d] = math.Hypot(norms[i%d], v)
			}
			scaled := s.Scaled(scale, norms)
			if s.Origin[0] == scaled.Origin[0] && intercept {
				t.Fatal("the stage that is scaled has changed")
			}
			for j := range d {
				r := scale[j]
				for _, divide := range []func(i int) float64{
					func(i int) float64 { return x[i] / r },
					func(i int) float64 { return raw[i] / (before[j] * r) },
				} {
					mean, off2 := big64(0), big64(0)
					for i := j; i < n*d; i += d {
						mean.Add(mean, big64(divide(i)))
						off := new(big.Float).Sub(big64(divide(i)), new(big.Float).Quo(big64(x[i]), big64(r)))
						off2.Add(off2, off.Mul(off, off))
					}
					off, _ := off2.Sqrt(off2).Float64()
					if !(off <= scaled.Displaced(j, 0)) {
						t.Errorf(
							"level %g, column %d: rounding moves rows by %g, bound %g",
							level,
							j,
							off,
							scaled.Displaced(j, 0),
						)
					}
					if !intercept {
						continue
					}
					wrong, _ := mean.Sub(mean.Quo(mean, big64(n)), big64(scaled.Means()[j])).Float64()
					if !(math.Abs(wrong) <= scaled.MeanErrors()[j]) {
						t.Errorf(
							"level %g, column %d: the mean is off by %g, bound %g",
							level,
							j,
							wrong,
							scaled.MeanErrors()[j],
						)
					}
				}
			}
		}
	}
}
