// Package vec has the few operations on vectors whose round-off certificates rely on:
// sums that stay short however long the vectors are.
package vec

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/internal/neumaier"
)

// Axpy is y += a·x.
func Axpy(a float64, x, y []float64) { floats.AddScaled(y, a, x) }

// Scale is x *= a.
func Scale(a float64, x []float64) { floats.Scale(a, x) }

// dotBlock is how many products Dot adds up before their sum goes to a compensated one:
// in four sums, so that none is the end of more than dotBlock/4 additions.
const dotBlock = 32

// Dot is xᵀy, off by no more than 8·eps of Σ|xᵢyᵢ| however long they are: sums of equal
// terms are all rounded the same way.
func Dot(x, y []float64) float64 {
	y = y[:len(x)]
	var total neumaier.Sum
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
	return total.Value() + floats.Dot(x, y)
}

// SparseDot is xᵀy for an x whose entry idx[k] is val[k] and whose others are zero, by
// one plain sum.
func SparseDot(idx []int32, val, y []float64) float64 {
	var s float64
	for k, j := range idx {
		s += val[k] * y[j]
	}
	return s
}

// AbsDot is Σ wⱼ|xⱼ| for w >= 0: the norm of Ax at most, where w are the norms of A's
// columns.
func AbsDot(w, x []float64) float64 {
	var s float64
	for j, v := range x {
		s += w[j] * math.Abs(v)
	}
	return s
}

// Norm is ‖x‖, off by no more than 8·eps of itself, and neither zero nor infinite where
// squares are.
func Norm(x []float64) float64 {
	if s := Dot(x, x); s >= 0x1p-900 && s <= 0x1p900 {
		return math.Sqrt(s)
	}
	return floats.Norm(x, 2)
}

// Grow returns n numbers of any value, in the memory of x where that is enough.
func Grow(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	return x[:n]
}
