// Package bench holds benchmarks that involve several packages. Each benchmark runs on every backend of the build:
//
//	go test -bench . ./bench
//	go test -bench . ./bench -large   # including benchmarks that take minutes or gigabytes
//	FDRIDGE_THREADS=1 GOMAXPROCS=1 go test -tags openblas -bench Sketch ./bench
//
// Command compare, in a subfolder, compares fdridge with other programs.
package bench

import (
	"math"
	"math/rand/v2"
)

// Rows returns n×d data with the spectrum of the paper's synthetic data: column j has the standard deviation
// exp(−j²/R²) with R = ⌊0.1d + ½⌋. A Householder reflection then makes every entry nonzero.
func Rows(n, d int) []float64 {
	r := math.Floor(0.1*float64(d) + 0.5)
	return rows(n, d, func(j int) float64 { return math.Exp(-float64(j*j) / (r * r)) })
}

// Slow returns n×d data like Rows, but column j has the standard deviation (j+1)^−½ before the reflection. The
// eigenvalues of K = AᵀA, where A is the data, fall like 1/j, so that no sketch captures nearly all of them.
func Slow(n, d int) []float64 {
	return rows(n, d, func(j int) float64 { return 1 / math.Sqrt(float64(j+1)) })
}

func rows(n, d int, deviation func(j int) float64) []float64 {
	rng := rand.New(rand.NewPCG(1, 1))
	v, sd := make([]float64, d), make([]float64, d)
	var norm float64
	for j := range v {
		v[j], sd[j] = rng.NormFloat64(), deviation(j)
		norm += v[j] * v[j]
	}
	a := make([]float64, n*d)
	for i := range n {
		row := a[i*d : (i+1)*d]
		var along float64
		for j := range row {
			row[j] = rng.NormFloat64() * sd[j]
			along += row[j] * v[j]
		}
		along *= 2 / norm
		for j := range row {
			row[j] -= along * v[j]
		}
	}
	return a
}

// Targets returns targets b = A·x₀ + ε for the n rows of a, with normal x₀ and ε. The norm of ε is a tenth of
// the norm of A·x₀.
func Targets(n, d int, a []float64) []float64 {
	rng := rand.New(rand.NewPCG(2, 2))
	x0, b, noise := make([]float64, d), make([]float64, n), make([]float64, n)
	for j := range x0 {
		x0[j] = rng.NormFloat64()
	}
	var signal, other float64
	for i := range b {
		for j, v := range a[i*d : (i+1)*d] {
			b[i] += v * x0[j]
		}
		noise[i] = rng.NormFloat64()
		signal += b[i] * b[i]
		other += noise[i] * noise[i]
	}
	f := 0.1 * math.Sqrt(signal/other)
	for i := range b {
		b[i] += f * noise[i]
	}
	return b
}

// Numbers returns n normal random numbers, the same in each run.
func Numbers(n int) []float64 {
	rng := rand.New(rand.NewPCG(3, 4))
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}
