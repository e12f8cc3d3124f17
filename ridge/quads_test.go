package ridge

import (
	"math"
	"testing"

	"github.com/fdridge/fdridge/fd"
)

// TestQuads: the bracket on gᵀH⁻¹g holds for every g within the error that is told, with
// an exact sketch, so that there is no other slack.
func TestQuads(t *testing.T) {
	const gamma, dg = 0.25, 1e-3
	k := &knowledge{spec: &fd.Spectrum{Dim: 2, Sigma2: []float64{4}, V: []float64{1, 0}}, largest: 4}
	for _, g := range [][2]float64{{1, 0}, {0, 1}, {0.6, 0.8}, {1e-3, 1e-3}} {
		p := projection{along: g[:1], rest2: g[1] * g[1], norm: math.Hypot(g[0], g[1])}
		v := k.quads(&p, gamma, dg)
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
	k := &knowledge{spec: &fd.Spectrum{Dim: 2, Sigma2: []float64{4}, V: []float64{1, 0}}, largest: 4}
	for _, size := range []float64{1e170, math.Inf(1)} {
		p := projection{along: []float64{size}, rest2: size * size, norm: size}
		if v := k.quads(&p, 1, size); v.Lo != 0 || !math.IsInf(v.Hi, 1) {
			t.Errorf("of size %g: %v", size, v)
		}
	}
}
