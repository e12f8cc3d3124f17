package krylov

import (
	"math"
	"testing"

	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
)

// TestGalerkinResidual: ‖Ax − b‖ follows from the gradient that is carried along.
func TestGalerkinResidual(t *testing.T) {
	a := [][]float64{{1, 2}, {3, -1}, {0.5, 4}}
	b, x := []float64{2, -1, 3}, []float64{0.7, -0.2}
	const gamma = 5
	cross, g, tss, want := make([]float64, 2), []float64{gamma * x[0], gamma * x[1]}, 0.0, 0.0
	for i, row := range a {
		r := vec.Dot(row, x) - b[i]
		vec.Axpy(b[i], row, cross)
		vec.Axpy(r, row, g)
		tss, want = tss+b[i]*b[i], want+r*r
	}
	s := newSystem(&certify.Judge{At: certify.At{Gamma: gamma}}, 0, 0, 2)
	s.X, s.G = x, g
	if got := carriedResidual(s, tss, cross); !(math.Abs(got-math.Sqrt(want)) <= 1e-14*got) {
		t.Errorf("%.17g, want %.17g", got, math.Sqrt(want))
	}
}
