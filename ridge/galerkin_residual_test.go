package ridge

import (
	"math"
	"testing"

	"github.com/fdridge/fdridge/internal/vec"
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
	k := &galerkin{refinement: &refinement{know: &knowledge{cross: cross, tss: []float64{tss}}}, space: &subspace{d: 2}}
	if got := k.residual(&system{gamma: gamma, x: x, g: g}); !(math.Abs(got-math.Sqrt(want)) <= 1e-14*got) {
		t.Errorf("%.17g, want %.17g", got, math.Sqrt(want))
	}
}
