package adversary

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/refbig"
)

// pencil returns the eigenvalues of b⁻¹a in ascending order, for symmetric a and symmetric positive
// definite b. They are the eigenvalues of D^{-½}L⁻¹aL⁻ᵀD^{-½} with b = LDLᵀ. A b that is not
// positive definite is [refbig.ErrSingular].
func pencil(a, b [][]*big.Float) ([]*big.Float, error) {
	n := len(b)
	l, err := (&refbig.Problem{D: n, K: b}).Factor(refbig.Float(0))
	if err != nil {
		return nil, err
	}
	c := slices.Clone(a)
	for range 2 { // c ← L⁻¹cᵀ
		for i, r := range c {
			c[i] = refbig.Forward(l, r)
		}
		for i := range n {
			for j := range i {
				c[i][j], c[j][i] = c[j][i], c[i][j]
			}
		}
	}
	for i := range n {
		for j := range n {
			c[i][j] = quo(c[i][j], new(big.Float).Sqrt(mul(l[i][i], l[j][j])))
		}
	}
	return refbig.Eigenvalues(c), nil
}

// TestPencil: if a and b are congruent to diagonal matrices by the same C, the eigenvalues of b⁻¹a are the quotients
// of their diagonals.
func TestPencil(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	c := table(r, 4, 4)
	congruent := func(diag []float64) [][]*big.Float {
		out := make([][]*big.Float, 4)
		for i := range 4 {
			out[i] = zeros(4)
			for j := range 4 {
				for k, v := range diag {
					out[i][j] = sum(out[i][j], mul(refbig.Float(v), mul(refbig.Float(c[k][i]), refbig.Float(c[k][j]))))
				}
			}
		}
		return out
	}
	got, err := pencil(congruent([]float64{-3, 1, 8, 5}), congruent([]float64{1, 2, 4, 1}))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{-3, 0.5, 2, 5} {
		if f, _ := sub(got[i], refbig.Float(want)).Float64(); !(math.Abs(f) <= 0x1p-150) {
			t.Errorf("eigenvalue %d is %.20g, want %g", i, got[i], want)
		}
	}
	if _, err := pencil(congruent([]float64{1, 1, 1, 1}), congruent([]float64{1, 0, 1, 1})); err != refbig.ErrSingular {
		t.Errorf("a singular matrix: %v", err)
	}
}
