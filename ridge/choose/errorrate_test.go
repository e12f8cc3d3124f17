package choose_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// TestByErrorRate: the choice has the smallest upper end, and among several the largest γ. A proved choice is the best
// for all rates in the brackets, and the excess holds for all of them.
func TestByErrorRate(t *testing.T) {
	proved, ties := 0, 0
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 7))
		n := 1 + r.IntN(6)
		c := &choose.GammaChoice{}
		var rates []ridge.Interval
		var estimates []float64
		for _, g := range r.Perm(n) {
			lo := float64(r.IntN(5)) / 8
			v := ridge.Interval{Lo: lo, Hi: lo + float64(r.IntN(3)/2)/8}
			c.Path, rates, estimates = append(c.Path, &ridge.Solution{Outcome: ridge.Outcome{Gamma: float64(1 + g)}}), append(rates, v), append(estimates, v.Lo)
		}
		if err := c.ByErrorRate(rates[1:], estimates); !errors.Is(err, ridge.ErrShape) {
			t.Fatalf("a rate is missing: %v", err)
		}
		if err := c.ByErrorRate(rates, estimates); err != nil || len(c.Scores) != n || len(c.Estimates) != n {
			t.Fatalf("%v, %d scores, %d estimates", err, len(c.Scores), len(c.Estimates))
		}
		best, worst, isProved := c.Index, 0.0, true
		for i, v := range rates {
			if v.Hi < rates[best].Hi || v.Hi == rates[best].Hi && c.Path[i].Gamma > c.Gamma() {
				t.Fatalf("seed %d: %v is chosen of %v, but %v is better", seed, best, rates, i)
			}
			if i != best {
				worst, isProved = max(worst, rates[best].Hi-v.Lo), isProved && rates[best].Hi <= v.Lo
				if v == rates[best] {
					ties++
				}
			}
			if possible := i == best || v.Lo < rates[best].Hi; slices.Contains(c.Possible, i) != possible {
				t.Errorf("seed %d: %v of %v is possible: %v", seed, i, rates, !possible)
			}
		}
		if c.Certain != isProved || c.Excess != worst || c.Score != rates[best] || c.Estimate != estimates[best] {
			t.Errorf(
				"seed %d: certain %v, excess %v, score %v for %v; want %v, %v",
				seed,
				c.Certain,
				c.Excess,
				c.Score,
				rates,
				isProved,
				worst,
			)
		}
		if isProved {
			proved++
		}
	}
	if proved < 50 || ties < 50 {
		t.Errorf("%d choices are proved, %d ties", proved, ties)
	}
}
