package enginetest

import (
	"fmt"
	"math"
	"testing"
)

// limit is the largest residual or loss of orthogonality that the tests accept, in units of eps·dimension·norm. The
// tests of LAPACK accept 30 to 50.
const limit = 10

// checkOrthonormal checks that V·Vᵀ = I.
func checkOrthonormal(t *testing.T, what string, v *matrix) {
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

// spoiled calls f with several m×n matrices. Each has one entry that is NaN or infinite.
func spoiled(m, n int, f func(what string, a *matrix)) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, at := range [][2]int{{0, 0}, {m - 1, 0}, {m - 1, n - 1}} {
			f(fmt.Sprintf("%v at %v", bad, at), newMatrix(m, n, func(i, j int) float64 {
				if i == at[0] && j == at[1] {
					return bad
				}
				return 1 / float64(1+i+j)
			}))
		}
	}
}
