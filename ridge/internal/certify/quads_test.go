package certify

import (
	"math"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/spectral"
	"github.com/fdridge/fdridge/internal/twofold"
)

// exactly returns evidence for K = σ²VᵀV without the errors of a sketch.
func exactly(t *testing.T, d int, s2 float64, v []float64, gamma float64) At {
	t.Helper()
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	r := len(v) / d
	e := spectral.Eigen{Dim: d, V: v}
	for range r {
		e.Values = append(e.Values, s2)
	}
	spec := &fd.Spectrum{Dim: d, Sigma2: e.Values, V: v, Skew: 32 * eps}
	k := &Known{Evidence: Evidence{Sketch: spec, Backend: be}, eigen: e, norm: norms{largest2: s2}}
	k.factor = newFactors(&k.Evidence)
	return k.At(gamma)
}

// TestQuads: the bracket on gᵀH⁻¹g holds for every g within the error that is told.
func TestQuads(t *testing.T) {
	const gamma, dg = 0.25, 1e-3
	k := exactly(t, 2, 4, []float64{1, 0}, gamma)
	for _, g := range [][2]float64{{1, 0}, {0, 1}, {0.6, 0.8}, {1e-3, 1e-3}} {
		p := spectral.Projection{Along: g[:1], Off: g[1], Norm: math.Hypot(g[0], g[1])}
		v := k.quads(&p, dg)
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
	for _, c := range []struct{ size, gamma float64 }{
		{1e170, 1}, {math.Inf(1), 1}, {0x1p399, 0x1p-239}, {0x1p-300, 0x1p-239}, {0x1p399, 0x1p-226},
	} {
		p := spectral.Projection{Along: []float64{0}, Off: c.size, Norm: c.size}
		v, want := exactly(t, 2, 4, []float64{1, 0}, c.gamma).quads(&p, 0), c.size*c.size/c.gamma
		if !(v.Lo <= want*(1+1e-14) && want*(1-1e-14) <= v.Hi) || v.Lo > math.MaxFloat64 {
			t.Errorf("of size %g at %g: %v", c.size, c.gamma, v)
		}
	}
}

// TestProjectionRounds: g lies in the span of two rows of V, which are orthonormal up to round-off. So the part of g
// off V is only round-off, which a small γ magnifies. The bracket must allow for this part. K = σ²VᵀV is exact.
func TestProjectionRounds(t *testing.T) {
	const d, s2 = 1000, 0x1p60
	half, v := Probe(d/2), make([]float64, 2*d) // (a, a) and (a, −a)
	var length2 twofold.Total
	for i, x := range half {
		x *= math.Sqrt(0.5)
		v[i], v[i+d/2], v[i+d], v[i+d+d/2] = x, x, x, -x
		length2.Add(2 * x * x)
	}
	g := make([]float64, d) // (a, 0), half the one and half the other
	copy(g, v[:d/2])
	p := spectral.Gradients{G: g, Along: make([]float64, 2), Off: make([]float64, d)}
	for gamma := 1.0; gamma > 0x1p-200; gamma /= 1024 {
		n := length2.Value()
		q := n / 2 / (s2*n + gamma)
		k := exactly(t, d, s2, v, gamma)
		spectral.NewResolvent(&k.eigen, k.Backend).ProjectAll(1, &p)
		projected := p.Of(0, &k.eigen)
		if b := k.quads(&projected, 0); !(b.Lo <= q*(1+1e-14) && q*(1-1e-14) <= b.Hi) {
			t.Errorf("at gamma = %g: %g is outside [%g, %g]", gamma, q, b.Lo, b.Hi)
		}
	}
}
