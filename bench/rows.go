// Package bench holds the benchmarks that go across packages. Each is run on
// every backend of the build:
//
//	go test -bench . ./bench
//	FDRIDGE_THREADS=1 GOMAXPROCS=1 go test -tags openblas -bench Sketch ./bench
//
// Command compare, below, times rivals in turn.
package bench

import (
	"math"
	"math/rand/v2"
)

// Rows makes n×d data with the spectrum of the paper's synthetic data, column j
// having the standard deviation exp(−j²/R²) with R = ⌊0.1d + ½⌋, turned by one
// Householder reflection so that every entry is dense.
func Rows(n, d int) []float64 {
	rng := rand.New(rand.NewPCG(1, 1))
	r := math.Floor(0.1*float64(d) + 0.5)
	v := make([]float64, d)
	var norm float64
	for j := range v {
		v[j] = rng.NormFloat64()
		norm += v[j] * v[j]
	}
	a := make([]float64, n*d)
	for i := range n {
		row := a[i*d : (i+1)*d]
		var along float64
		for j := range row {
			row[j] = rng.NormFloat64() * math.Exp(-float64(j*j)/(r*r))
			along += row[j] * v[j]
		}
		along *= 2 / norm
		for j := range row {
			row[j] -= along * v[j]
		}
	}
	return a
}

// Numbers are n normal random ones, the same each time.
func Numbers(n int) []float64 {
	rng := rand.New(rand.NewPCG(3, 4))
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}
