package vec

import (
	"math"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/refbig"
)

// TestDot: products and norms of long vectors are off by no more than 8 eps, where equal
// terms round the same way too, and at the ends of the range.
func TestDot(t *testing.T) {
	for _, n := range []int{0, 1, 31, 32, 33, 1000, 100001} {
		for _, scale := range []float64{1, 1e-170, 1e160} {
			x := make([]float64, n)
			for i := range x {
				x[i] = 0.7532889043741067 * scale
			}
			square := refbig.Float(0)
			for _, v := range x {
				term := refbig.Float(v)
				square.Add(square, term.Mul(term, term))
			}
			if want, _ := square.Sqrt(square).Float64(); !(math.Abs(Norm(x)-want) <= 8*0x1p-52*want) {
				t.Errorf("%d numbers of %g: norm %g, want %g", n, scale, Norm(x), want)
			}
			if scale != 1 {
				continue
			}
			square.Mul(square, square)
			if want, _ := square.Float64(); !(math.Abs(Dot(x, x)-want) <= 8*0x1p-52*want) {
				t.Errorf("%d numbers: product %g, want %g", n, Dot(x, x), want)
			}
		}
	}
}
