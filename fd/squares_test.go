package fd

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// adverse returns n numbers whose squares, added as squares adds them, are all rounded in the given direction as far as
// a random search finds.
func adverse(r *rand.Rand, n int, up bool) []float64 {
	x := make([]float64, n)
	for block := 0; block < n; block += sumBlock {
		var sums [4]float64
		for i := block; i < min(block+sumBlock, n); i++ {
			best, s := -1.0, &sums[i%4]
			var next float64
			for range 300 {
				v := 1 + r.Float64()
				exact := new(big.Float).SetPrec(200).Mul(big.NewFloat(v), big.NewFloat(v))
				exact.Add(exact, big.NewFloat(*s))
				sum := *s + float64(v*v)
				off, _ := exact.Sub(big.NewFloat(sum), exact).Float64()
				if !up {
					off = -off
				}
				if off > best {
					best, x[i], next = off, v, sum
				}
			}
			*s = next
		}
	}
	return x
}

// TestSquaresError: the squared norm of a row has at most the error of SquaresError, which is not much too large.
func TestSquaresError(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 3))
	for _, n := range []int{1, 3, 8, 64, 256, 300, 1024} {
		worst := 0.0
		for _, up := range []bool{true, false} {
			x := adverse(r, n, up)
			exact := new(big.Float).SetPrec(400)
			for _, v := range x {
				w := new(big.Float).SetPrec(400).SetFloat64(v)
				exact.Add(exact, w.Mul(w, w))
			}
			off := new(big.Float).SetPrec(400).SetFloat64(squares(x))
			off.Sub(off, exact).Quo(off, exact)
			e, _ := off.Float64()
			worst = math.Max(worst, math.Abs(e)/eps)
		}
		if bound := SquaresError(n); !(worst <= bound) || n >= 256 && !(worst > bound/4) {
			t.Errorf("%d numbers: the error is %.3g eps, the bound %.3g", n, worst, bound)
		} else {
			t.Logf("%d numbers: %.3g of %.3g", n, worst, bound)
		}
	}
}
