package refbig

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// graded returns QΛQᵀ for a random product Q of reflections, exactly orthogonal but
// for 512-bit round-off.
func graded(r *rand.Rand, lambda []float64) [][]*big.Float {
	n := len(lambda)
	a := matrix(n, n)
	for i, v := range lambda {
		a[i][i] = Float(v)
	}
	for range n {
		v := vectorOf(random(r, 1, n)[0])
		scale := quo(Float(2), dot(v, v))
		for range 2 { // a ← (I − 2vvᵀ/vᵀv)a, transposed
			next := matrix(n, n)
			for j := range n {
				s := Float(0)
				for i := range n {
					s = add(s, mul(v[i], a[i][j]))
				}
				s = mul(s, scale)
				for i := range n {
					next[j][i] = sub(a[i][j], mul(s, v[i]))
				}
			}
			a = next
		}
	}
	return a
}

// TestEigenvalues: known spectra come back, graded, repeated, indefinite and zero.
func TestEigenvalues(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, want := range [][]float64{{2}, {-1, 3}, {0, 0, 0}, {1e-40, 1e-20, 1, 1e15}, {-2, -2, 1, 1, 1}, {-1e-300, 1e-290, 1e-280}} {
		got := Eigenvalues(graded(r, want))
		size := math.Max(math.Abs(want[0]), want[len(want)-1])
		for i, v := range got {
			off := new(big.Float).Abs(sub(v, Float(want[i])))
			if off.Cmp(new(big.Float).SetMantExp(Float(size), -180)) > 0 {
				t.Errorf("eigenvalue %d is %.20g, want %g", i, v, want[i])
			}
		}
	}
}
