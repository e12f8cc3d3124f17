package shrinks

import (
	"math"
	"math/rand/v2"
)

// inputs are the kinds of rows. Each fills x, d numbers of row i of n, for a typical size of c.
var inputs = []struct {
	name string
	row  func(r *rand.Rand, x []float64, i, n int, c float64)
}{
	{"equal", func(_ *rand.Rand, x []float64, _, _ int, c float64) { fill(x, c) }},
	{"equal then diagonal", func(_ *rand.Rand, x []float64, i, n int, c float64) {
		if i < min(n/2, 64) {
			fill(x, c)
			return
		}
		clear(x)
		x[i%len(x)] = 1e-3 * c
	}},
	{"graded rows", func(r *rand.Rand, x []float64, i, n int, c float64) {
		f := c * math.Pow(10, -float64(20*i)/float64(n))
		for j := range x {
			x[j] = f * r.NormFloat64()
		}
	}},
	{"growing rows", func(r *rand.Rand, x []float64, i, n int, c float64) {
		f := c * math.Pow(10, float64(20*(i-n))/float64(n))
		for j := range x {
			x[j] = f * r.NormFloat64()
		}
	}},
	{"far graded rows", func(r *rand.Rand, x []float64, i, _ int, c float64) {
		f := c * math.Pow(10, 300*(r.Float64()-1))
		for j := range x {
			x[j] = f * r.NormFloat64()
		}
	}},
	{"graded columns", func(r *rand.Rand, x []float64, _, _ int, c float64) {
		for j := range x {
			x[j] = c * math.Pow(10, -float64(12*j)/float64(len(x))) * r.NormFloat64()
		}
	}},
	{"far graded columns", func(r *rand.Rand, x []float64, _, _ int, c float64) {
		for j := range x {
			x[j] = c * math.Pow(10, -float64(300*j)/float64(len(x))) * r.NormFloat64()
		}
	}},
	{"rank one", func(r *rand.Rand, x []float64, _, _ int, c float64) {
		f := c * r.NormFloat64()
		for j := range x {
			x[j] = f * (1 + 1/float64(j+1))
		}
	}},
	{"repeated", func(_ *rand.Rand, x []float64, i, _ int, c float64) {
		same := rand.New(rand.NewPCG(uint64(i%3), 9))
		for j := range x {
			x[j] = c * same.NormFloat64()
		}
	}},
	{"lattice", func(r *rand.Rand, x []float64, _, _ int, c float64) {
		for j := range x {
			x[j] = c * float64(r.IntN(5)-2)
		}
	}},
	{"hadamard", func(_ *rand.Rand, x []float64, i, _ int, c float64) {
		for j := range x {
			x[j] = c * sign(i, j)
		}
	}},
	{"unit", func(r *rand.Rand, x []float64, i, _ int, c float64) {
		clear(x)
		x[i%len(x)] = c
	}},
	{"nearly equal", func(r *rand.Rand, x []float64, _, _ int, c float64) {
		for j := range x {
			x[j] = c * (1 + 1e-8*r.NormFloat64())
		}
	}},
	{"normal", func(r *rand.Rand, x []float64, _, _ int, c float64) {
		for j := range x {
			x[j] = c * r.NormFloat64()
		}
	}},
	{"zeros between", func(r *rand.Rand, x []float64, i, _ int, c float64) {
		clear(x)
		if i%3 == 0 {
			fill(x, c)
		}
	}},
}

func fill(x []float64, c float64) {
	for j := range x {
		x[j] = c
	}
}

// sign is entry i, j of Sylvester's Hadamard matrix.
func sign(i, j int) float64 {
	s := 1.0
	for k := i & j; k != 0; k &= k - 1 {
		s = -s
	}
	return s
}

// sizes are the sizes of entries.
var sizes = []float64{1, 0.11155, 1e6, 1e-30, 1e140, 1e-100, 1e-140, 1e-150, 1e-155, 1e-160,
	1e147, 1e149, 1e-161, 1e-162, 1e-170, 1e-200, 1e-300, 1e-310}
