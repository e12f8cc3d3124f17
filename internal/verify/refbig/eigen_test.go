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

// TestPencil: the eigenvalues of b⁻¹a for a = b·diag are those of the diagonal
// where both are congruent to diagonal matrices by the same C.
func TestPencil(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	c := random(r, 4, 4)
	congruent := func(diag []float64) [][]*big.Float {
		out := matrix(4, 4)
		for i := range 4 {
			for j := range 4 {
				for k, v := range diag {
					out[i][j] = add(out[i][j], mul(Float(v), mul(Float(c[k][i]), Float(c[k][j]))))
				}
			}
		}
		return out
	}
	got, err := Pencil(congruent([]float64{-3, 1, 8, 5}), congruent([]float64{1, 2, 4, 1}))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{-3, 0.5, 2, 5} {
		if f, _ := sub(got[i], Float(want)).Float64(); !(math.Abs(f) <= 0x1p-150) {
			t.Errorf("eigenvalue %d is %.20g, want %g", i, got[i], want)
		}
	}
	if _, err := Pencil(congruent([]float64{1, 1, 1, 1}), congruent([]float64{1, 0, 1, 1})); err != ErrSingular {
		t.Errorf("a singular matrix: %v", err)
	}
}
