package ridge

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/internal/neumaier"
)

func axpy(a float64, x, y []float64) { floats.AddScaled(y, a, x) }
func scale(a float64, x []float64)   { floats.Scale(a, x) }

// dotBlock is how many products dot adds up before their sum goes to a compensated one:
// in four sums, so that none is the end of more than dotBlock/4 additions.
const dotBlock = 32

// dot is xᵀy, off by no more than 8·eps of Σ|xᵢyᵢ| however long they are: sums of equal
// terms are all rounded the same way.
func dot(x, y []float64) float64 {
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

// norm is ‖x‖, off by no more than 8·eps of itself, and neither zero nor infinite where
// squares are.
func norm(x []float64) float64 {
	if s := dot(x, x); s >= 0x1p-900 && s <= 0x1p900 {
		return math.Sqrt(s)
	}
	return floats.Norm(x, 2)
}
