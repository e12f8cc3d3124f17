// Package synthetic generates the data of the paper's statistical experiments (C. Dickens, "Ridge Regression with
// Frequent Directions", 2020, section 3 and appendix "Miscellaneous", following B. Shi, J. Phillips, "A Deterministic
// Streaming Sketch for Ridge Regression", 2020):
//
//	A = Z·Cᵀ,   Z_ij ~ N(0, exp(−(j−1)²/R²)²),   i = 1…n, j = 1…d,
//	b = A·x₀ + ε,   ε_i ~ N(0, Noise²),   R = ⌊r·d + ½⌋.
//
// r is Config.Ratio. C is the orthonormal DCT-II (a discrete cosine transform), so each row of Z is transformed on its
// own. x₀ has unit length; its first R components are normal and the others are zero.
//
// The package corrects three statements of the paper. The paper assigns the standard deviations to the n rows; here
// they belong to the columns j, which gives the effective dimension R. The paper states R = ⌊0.1·d + ½⌋, but its
// figures use [LowRank] and [HighRank]. The paper's transform is a rotation only if it is orthonormal, as it is here.
package synthetic

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/dataset"
)

// LowRank and HighRank are the ratios r of figures 1 and 2 of the paper (C. Dickens, 2020). A ratio is the
// effective dimension R divided by the number of features.
const (
	LowRank  = 0.15 // R₁
	HighRank = 0.25 // R₂
)

// Config describes the data. Rows and Dim are required. Other fields have defaults if they are zero.
type Config struct {
	Rows  int     // n
	Dim   int     // d
	Ratio float64 // r, 0 < r <= 1; 0 means LowRank
	Noise float64 // standard deviation of ε; 0 means the paper's 2
	Seed  uint64
}

// Rank returns the effective dimension r·d rounded to an integer, where r is Config.Ratio and d the number of
// features.
func (c Config) Rank() int {
	r := c.Ratio
	if r == 0 {
		r = LowRank
	}
	return int(r*float64(c.Dim) + 0.5)
}

// Data holds n samples of d features and one target.
type Data struct {
	Rows, Dim int
	Noise     float64   // standard deviation of the noise in Y
	X         []float64 // A, row-major n×d: each row is a sample
	Y         []float64 // b, n
	X0        []float64 // x₀, d: the coefficients that generated Y
}

// maxNumbers limits the size of A to 512 GiB.
const maxNumbers = 1 << 36

// Generate draws random data, which depend only on the configuration. The coefficients x₀ do not depend on c.Rows.
// With larger c.Rows, the first rows stay the same. An invalid configuration is an error.
func Generate(c Config) (*Data, error) {
	if c.Noise == 0 {
		c.Noise = 2
	}
	hi, lo := bits.Mul64(uint64(c.Rows), uint64(c.Dim))
	switch r := c.Rank(); {
	case c.Rows < 1 || c.Dim < 1 || hi != 0 || lo > maxNumbers:
		return nil, fmt.Errorf("synthetic: cannot make %d×%d numbers", c.Rows, c.Dim)
	case !(c.Ratio >= 0 && c.Ratio <= 1) || r < 1:
		return nil, fmt.Errorf(
			"synthetic: ratio %v of %d features gives an effective dimension of %d; it must be 1 to %d",
			c.Ratio,
			c.Dim,
			r,
			c.Dim,
		)
	case !(c.Noise > 0) || math.IsInf(c.Noise, 0):
		return nil, fmt.Errorf(
			"synthetic: the standard deviation of the noise is %v; it must be positive and finite",
			c.Noise,
		)
	}
	rng := rand.New(rand.NewPCG(c.Seed, 0x73796e7468)) // "synth"
	n, d := c.Rows, c.Dim
	s := &Data{
		Rows:  n,
		Dim:   d,
		Noise: c.Noise,
		X:     make([]float64, n*d),
		Y:     make([]float64, n),
	}
	s.X0 = weights(rng, d, c.Rank())
	sd := decay(d, c.Rank())
	dct := &dct{fourier.NewQuarterWaveFFT(d), d, make([]float64, d)}
	for i := range n {
		row := s.X[i*d : (i+1)*d]
		for j := range row {
			row[j] = sd[j] * rng.NormFloat64()
		}
		dct.transform(row)
		s.Y[i] = floats.Dot(row, s.X0) + c.Noise*rng.NormFloat64()
	}
	return s, nil
}

// Source returns a source of the samples, which shares the memory of s.
func (s *Data) Source() (dataset.Source, error) {
	return dataset.FromDense(s.Rows, s.Dim, 1, s.X, s.Y)
}

func weights(rng *rand.Rand, d, rank int) []float64 {
	x := make([]float64, d)
	for j := range rank {
		x[j] = rng.NormFloat64()
	}
	floats.Scale(1/floats.Norm(x, 2), x)
	return x
}

// decay returns the standard deviations of d columns. For column j = 1…d it is exp(−(j−1)²/R²), where R is
// rank.
func decay(d, rank int) []float64 {
	sd := make([]float64, d)
	for j := range sd {
		q := float64(j) / float64(rank)
		sd[j] = math.Exp(-q * q)
	}
	return sd
}

// A dct computes the orthonormal discrete cosine transform (DCT-II) y of a vector x of length d,
//
//	y_k = c_k·Σ_j x_j·cos(π(2j+1)k/(2d)) for k = 0…d−1,
//
// where j = 0…d−1, c_0 = √(1/d), and c_k = √(2/d) for k > 0.
type dct struct {
	fft  *fourier.QuarterWaveFFT
	d    int
	work []float64
}

func (t *dct) transform(x []float64) {
	t.fft.CosSequence(t.work, x) // 4·Σ_j x_j·cos(π(2j+1)k/(2d))
	floats.ScaleTo(x, math.Sqrt(2/float64(t.d))/4, t.work)
	x[0] *= math.Sqrt2 / 2
}
