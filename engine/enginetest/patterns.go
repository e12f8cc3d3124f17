package enginetest

import (
	"fmt"
	"math"
)

// A pattern is a list of terms whose plain sum has a large round-off error.
type pattern struct {
	name  string
	terms []float64
}

// patterns returns lists of k terms whose computed sums have large errors. A term slightly below eps/2 is lost when
// it is added to 1. A term slightly above eps/2 is rounded up to eps. The error grows with the number of small
// terms that are added to the same 1. Backends add terms in different orders, so the patterns vary the number and
// positions of the ones.
func patterns(k int) []pattern {
	const lost, twice = 0x1p-53 * (1 - 0x1p-9), 0x1p-53 * (1 + 0x1p-9)
	var all []pattern
	add := func(name string, at func(i int) float64) {
		p := pattern{fmt.Sprintf("%s, %d terms", name, k), make([]float64, k)}
		for i := range p.terms {
			p.terms[i] = at(i)
		}
		all = append(all, p)
	}
	behind := func(from, ones int, dust float64) func(i int) float64 {
		return func(i int) float64 {
			if i >= from && i < from+ones {
				return 1
			}
			return dust
		}
	}
	for ones := 1; ones <= 128 && ones <= k; ones *= 2 {
		add(fmt.Sprintf("%d ones and what is lost", ones), behind(0, ones, lost))
		add(fmt.Sprintf("%d ones and what counts twice", ones), behind(0, ones, twice))
	}
	for _, from := range []int{k / 3, k / 2, 7 * k / 8} {
		add(fmt.Sprintf("a one at %d and what is lost", from), behind(from, 1, -lost))
	}
	for _, part := range []int{32, 64, 128} { // sums of parts are added in pairs
		if part >= k {
			continue
		}
		add(fmt.Sprintf("a one and what is lost in parts of %d", part), func(i int) float64 {
			switch double := i / part; {
			case i == 0:
				return 1
			case i < part, i%part == 0 && double&(double-1) == 0:
				return lost
			}
			return 0
		})
	}
	for _, c := range []float64{1.0 / 3, 0.1, 1 + 5*eps, -0.7} {
		add(fmt.Sprintf("%.3g for ever", c), func(int) float64 { return c })
	}
	for _, base := range []float64{0.5, 0.99, 1.01, 1.0 / 0.9999} {
		add(fmt.Sprintf("graded by %.4f", base), func(i int) float64 { return math.Pow(base, float64(min(i, 900))) })
	}
	add("alternating", func(i int) float64 { return float64(1-2*(i%2)) * (1 + float64(i)*0x1p-50) })
	rng := random(uint64(k))
	add("normal", func(int) float64 { return rng.NormFloat64() })
	return all
}

// factors are the numbers by which the terms of a pattern are multiplied. Products with the first factor are exact.
// Products with the other factors are rounded.
var factors = []float64{1, 1.0 / 3, -0.7}

func factor(j int) float64 { return pick(factors, j) }

// exact returns the exact sum of each pattern, multiplied by each of the factors.
func exact(ps []pattern) [][]sum {
	all := make([][]sum, len(ps))
	for i, p := range ps {
		all[i] = make([]sum, len(factors))
		for j, f := range factors {
			for _, x := range p.terms {
				all[i][j].add(x, f)
			}
		}
	}
	return all
}
