package conformal_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/internal/conformal"
)

// TestRank: a level is the decimal number that was written, so that 0.9·10 is 9 and 0.95·20 is 19.
func TestRank(t *testing.T) {
	for _, c := range []struct {
		level   float64
		n, want int64
	}{
		{0.9, 9, 9}, {0.9, 8, 9}, {0.9, 10, 10}, {0.9, 99, 90}, {0.9, 100, 91}, {0.95, 19, 19}, {0.95, 18, 19},
		{0.99, 99, 99}, {0.5, 1, 1}, {0.5, 2, 2}, {0.5, 3, 2}, {0.1, 9, 1}, {0.1, 10, 2}, {0.7, 9, 7}, {0.8, 0, 1},
	} {
		if got := conformal.Rank(c.level, c.n); got != c.want {
			t.Errorf("level %v of %d: rank %d, must be %d", c.level, c.n, got, c.want)
		}
	}
}

// TestLeast: with one row fewer, the rank is above the number of rows.
func TestLeast(t *testing.T) {
	for _, level := range []float64{0.05, 0.1, 0.5, 0.6, 0.8, 0.9, 0.95, 0.99, 0.999, 0.123} {
		n := conformal.Least(level)
		if conformal.Rank(level, n) > n {
			t.Errorf("level %v: %d rows are too few", level, n)
		}
		if n > 1 && conformal.Rank(level, n-1) <= n-1 {
			t.Errorf("level %v: %d rows are enough", level, n-1)
		}
	}
	if n := conformal.Least(0.9); n != 9 {
		t.Errorf("0.9 needs %d rows", n)
	}
}

// TestSmallest: the selection agrees with sorted values, with repeated and infinite ones.
func TestSmallest(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		values := make([]float64, 1+r.IntN(60))
		for i := range values {
			values[i] = float64(r.IntN(1 + r.IntN(80)))
			if r.IntN(9) == 0 {
				values[i] = math.Inf(1 - 2*r.IntN(2))
			}
		}
		sorted := slices.Sorted(slices.Values(values))
		for k, want := range sorted {
			if got := conformal.Smallest(slices.Clone(values), int64(k+1)); got != want {
				t.Fatalf("seed %d: number %d of %v is %v, not %v", seed, k+1, sorted, got, want)
			}
		}
	}
}
