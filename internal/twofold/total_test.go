package twofold_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/internal/twofold"
)

// TestAddTo: many sums at a time have the bits of one.
func TestAddTo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	many, one := make([]twofold.Total, 7), make([]twofold.Total, 7)
	for range 1000 {
		x := make([]float64, 7)
		for i := range x {
			x[i] = math.Ldexp(rng.NormFloat64(), rng.IntN(200)-100)
			one[i].Add(x[i])
		}
		twofold.AddTo(many, x)
		if !slices.Equal(many, one) {
			t.Fatalf("%v, one by one %v", many, one)
		}
	}
}

// TestAddScaled: entries of a sparse row have the bits of one after the other.
func TestAddScaled(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	many, one := make([]twofold.Total, 9), make([]twofold.Total, 9)
	for range 1000 {
		idx, val := []int32{0, 3, 8}, make([]float64, 3)
		f := rng.NormFloat64()
		for k, j := range idx {
			val[k] = math.Ldexp(rng.NormFloat64(), rng.IntN(200)-100)
			one[j].Add(float64(f * val[k]))
		}
		twofold.AddScaled(many, f, idx, val)
		if !slices.Equal(many, one) {
			t.Fatalf("%v, one by one %v", many, one)
		}
	}
}

// A plain sum of these loses every one of the small terms.
func TestSumKeepsSmallTerms(t *testing.T) {
	var a, b twofold.Total
	a.Add(1) // before the large one
	a.Add(0x1p60)
	for range 1000 {
		a.Add(1)
		b.Add(1)
	}
	a.Merge(b)
	a.Add(-0x1p60)
	if got := a.Value(); got != 2001 {
		t.Errorf("sum is %v, want 2001", got)
	}
	a.Scale(0.5)
	if got := a.Value(); got != 1000.5 {
		t.Errorf("half the sum is %v, want 1000.5", got)
	}
}
