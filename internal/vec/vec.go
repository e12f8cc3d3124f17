// Package vec has operations on slices of numbers: vectors, and matrices whose rows are contiguous. Bounds on their
// round-off do not grow with the length of the vectors, because error bounds of fits rest on them.
package vec

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/internal/twofold"
)

// Axpy computes y += a·x.
func Axpy(a float64, x, y []float64) { floats.AddScaled(y, a, x) }

// Scale computes x *= a.
func Scale(a float64, x []float64) { floats.Scale(a, x) }

// dotBlock is the number of products that Dot adds in plain arithmetic, as four sums. It then adds these sums to a
// total in compensated arithmetic, which keeps the rounding errors of additions.
const dotBlock = 32

// IsFinite reports whether x is neither infinite nor NaN.
func IsFinite(x float64) bool { return x-x == 0 }

// Dot returns xᵀy with an error of at most 8·eps·Σ|xᵢyᵢ|, for vectors of any length. A plain sum can be much
// less accurate: if many terms are equal, all roundings may have the same sign.
func Dot(x, y []float64) float64 {
	y = y[:len(x)]
	var total twofold.Total
	for len(x) >= dotBlock {
		var s0, s1, s2, s3 float64
		for i := 0; i < dotBlock; i += 4 {
			a, b := x[i:i+4:i+4], y[i:i+4:i+4]
			s0 += a[0] * b[0]
			s1 += a[1] * b[1]
			s2 += a[2] * b[2]
			s3 += a[3] * b[3]
		}
		total.Add((s0 + s1) + (s2 + s3))
		x, y = x[dotBlock:], y[dotBlock:]
	}
	var s0, s1, s2, s3 float64 // of at most 7 terms each, and 3 more in s0
	for ; len(x) >= 4; x, y = x[4:], y[4:] {
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
	}
	for i, v := range x {
		s0 += v * y[i]
	}
	return total.Value() + ((s1 + s3) + (s0 + s2))
}

// SparseDot returns the inner product of a sparse vector and y, as a plain sum. The sparse vector has the number
// val[k] at the index idx[k], for each k, and is zero elsewhere.
func SparseDot(idx []int32, val, y []float64) float64 {
	var s float64
	for k, j := range idx {
		s += val[k] * y[j]
	}
	return s
}

// AbsDot returns Σ wⱼ|xⱼ|, where no wⱼ may be negative. For example, if wⱼ is the norm of column j of a matrix
// A, the result bounds ‖Ax‖ from above, up to round-off.
func AbsDot(w, x []float64) float64 {
	w = w[:len(x)]
	var s0, s1, s2, s3 float64
	for ; len(x) >= 4; w, x = w[4:], x[4:] {
		s0 += w[0] * math.Abs(x[0])
		s1 += w[1] * math.Abs(x[1])
		s2 += w[2] * math.Abs(x[2])
		s3 += w[3] * math.Abs(x[3])
	}
	for j, v := range x {
		s0 += w[j] * math.Abs(v)
	}
	return (s0 + s1) + (s2 + s3)
}

// Norm returns the Euclidean norm of x with a relative error of at most 8·eps. Squares of large or small elements
// cause no overflow or underflow.
func Norm(x []float64) float64 {
	if s := Dot(x, x); s >= 0x1p-900 && s <= 0x1p900 {
		return math.Sqrt(s)
	}
	largest := 0.0
	for _, v := range x {
		largest = math.Max(largest, math.Abs(v))
	}
	if largest == 0 || math.IsInf(largest, 1) || math.IsNaN(largest) {
		return largest
	}
	_, exponent := math.Frexp(largest)
	var total twofold.Total
	for len(x) > 0 {
		// The elements are divided by a power of two, so that they are at most 1. This division is exact, except
		// for elements so small that they do not affect the sum.
		var scaled [8 * dotBlock]float64
		n := min(len(x), len(scaled))
		for i, v := range x[:n] {
			scaled[i] = math.Ldexp(v, -exponent)
		}
		total.Add(Dot(scaled[:n], scaled[:n]))
		x = x[n:]
	}
	return math.Ldexp(math.Sqrt(total.Value()), exponent)
}

// Grow returns a slice of n numbers with unspecified values. It uses the memory of x if this is large enough, and
// allocates memory otherwise.
func Grow(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	return x[:n]
}
