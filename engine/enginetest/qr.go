package enginetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

func qr(t *testing.T, be engine.Backend) {
	for i, m := range sizes {
		for _, n := range []int{m, pick(sizes, i+2), pick(sizes, 2*i+5)} {
			for name, f := range map[string]func(i, j int) float64{
				"random":   normal(random(uint64(m*1000 + n))),
				"zero":     func(int, int) float64 { return 0 },
				"rank one": func(i, j int) float64 { return float64(i+1) / float64(j+1) },
				"graded":   func(i, j int) float64 { return math.Pow(10, -float64(j)) * math.Cos(float64(i*n+j)) },
			} {
				qrOnce(t, be, fmt.Sprintf("QR(%s, %d×%d)", name, m, n), m, n, f)
			}
		}
	}
}

// qrOnce checks that the factor R satisfies RᵀR = AᵀA, which is equivalent to A = Q·R with an orthogonal Q. Each
// column has its own error bound, as in the theory of Householder's QR.
func qrOnce(t *testing.T, be engine.Backend, what string, m, n int, f func(i, j int) float64) {
	t.Helper()
	a, work := newMatrix(m, n, f), newMatrix(1, be.QRWork(m, n), nan)
	be.QR(a.view(), work.data)
	a.checkGuards(t, what, anywhere)
	work.checkGuards(t, what, anywhere)
	norms := make([]float64, n)
	for j := range n {
		for r := range m {
			norms[j] = math.Hypot(norms[j], a.was(r, j))
		}
	}
	for j := range n {
		for k := range j + 1 {
			var s sum
			for r := range m {
				s.add(a.was(r, j), a.was(r, k))
			}
			for r := range min(m, k+1) {
				s.add(-a.at(r, j), a.at(r, k))
			}
			if !(math.Abs(s.value()) <= limit*eps*float64(max(m, n))*norms[j]*norms[k]) {
				t.Fatalf("%s: (AᵀA − RᵀR)(%d, %d) is %g", what, j, k, s.value())
			}
		}
	}
}
