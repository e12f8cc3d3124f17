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

// TestRoundedUp: additions that all round up by a unit move short products and norms out of range by no more
// than long ones. On machines without assembly, and under the tag noasm, gonum's sums are plain ones.
func TestRoundedUp(t *testing.T) {
	for n := 1; n <= 40; n++ {
		for one := range n {
			x, y := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i], y[i] = 0x1p-53*(1+1e-10), 1
			}
			x[one] = 1
			want := 1 + float64(n-1)*0x1p-53*(1+1e-10)
			if got := Dot(x, y); !(math.Abs(got-want) <= 8.5*0x1p-52) {
				t.Fatalf("%d numbers, 1 is number %d: %g units off", n, one, (got-want)*0x1p53)
			}
		}
	}
	for _, scale := range []float64{0x1p-480, 0x1p480} {
		x := make([]float64, 5000)
		for i := range x {
			x[i] = math.Sqrt(0x1p-53*(1+1e-10)) * scale
		}
		x[0] = scale
		if want := math.Sqrt(1 + 4999*0x1p-53*(1+1e-10)); !(math.Abs(Norm(x)/scale-want) <= 8.5*0x1p-52) {
			t.Errorf("norm about %g: %g units off", scale, (Norm(x)/scale-want)*0x1p53)
		}
	}
}
