package enginetest

import (
	"math"
	"testing"
)

// limit is how many eps·dimension·norm a residual or a loss of orthogonality may
// be; LAPACK's own tests allow 30 to 50.
const limit = 10

// orthonormal checks V·Vᵀ = I.
func orthonormal(t *testing.T, what string, v *matrix) {
	t.Helper()
	for i := range v.r {
		for j := range i + 1 {
			var s sum
			for l := range v.c {
				s.add(v.at(i, l), v.at(j, l))
			}
			if i == j {
				s.add(-1, 1)
			}
			if !(math.Abs(s.value()) <= limit*eps*float64(v.c)) {
				t.Fatalf("%s: vectors %d and %d are off orthonormal by %g", what, i, j, s.value())
			}
		}
	}
}
