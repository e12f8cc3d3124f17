package certify

import (
	"math"
	"testing"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/resolvent"
)

// exactSketch is of rows with K = diag(4, 0), so that there is no slack but for dg.
func exactSketch(gamma float64) At {
	e := resolvent.Eigen{Dim: 2, Values: []float64{4}, V: []float64{1, 0}}
	return (&Known{Evidence: Evidence{Sketch: &fd.Spectrum{Dim: 2}}, eigen: e, norm: norms{largest2: 4}}).At(gamma)
}

// TestQuads: the bracket on gᵀH⁻¹g holds for every g within the error that is told.
func TestQuads(t *testing.T) {
	const gamma, dg = 0.25, 1e-3
	a := exactSketch(gamma)
	for _, g := range [][2]float64{{1, 0}, {0, 1}, {0.6, 0.8}, {1e-3, 1e-3}} {
		p := resolvent.Projection{Along: g[:1], Off2: g[1] * g[1], Norm: math.Hypot(g[0], g[1])}
		v := a.quads(&p, dg)
		for angle := 0.0; angle < 2*math.Pi; angle += 0.1 {
			a, b := g[0]+dg*math.Cos(angle), g[1]+dg*math.Sin(angle)
			if q := a*a/(4+gamma) + b*b/gamma; !(q >= v.Lo*(1-1e-12) && q <= v.Hi*(1+1e-12)) {
				t.Errorf("g = %v off by %g at %g: %g is outside [%g, %g]", g, dg, angle, q, v.Lo, v.Hi)
			}
		}
	}
}

// TestQuadsOverflow: a bracket whose squares overflow says nothing, and isn't NaN.
func TestQuadsOverflow(t *testing.T) {
	for _, size := range []float64{1e170, math.Inf(1)} {
		p := resolvent.Projection{Along: []float64{size}, Off2: size * size, Norm: size}
		if v := exactSketch(1).quads(&p, size); v.Lo != 0 || !math.IsInf(v.Hi, 1) {
			t.Errorf("of size %g: %v", size, v)
		}
	}
}
