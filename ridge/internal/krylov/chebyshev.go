package krylov

import (
	"github.com/fdridge/fdridge/internal/vec"
)

// chebyshev is the Chebyshev semi-iteration (G. Golub, R. Varga, Numer. Math. 3,
// 1961) on the spectrum [lo, hi] of Ĥ⁻¹H, with centre θ and half-width δ:
//
//	p ← −z/θ at first, then p ← ω₊ω·p − (2ω₊/δ)z with ω₊ = 1/(2θ/δ − ω),
//	x ← x + p.
//
// It needs no inner products, and the range is proved by the sketch, not
// estimated.
type chebyshev struct {
	newton
	p            []float64
	theta, delta float64
	omega        float64 // 0 before the first step
}

// newChebyshev is for a spectrum within [lo, hi], lo > 0.
func newChebyshev(x, g []float64, lo, hi float64) *chebyshev {
	return &chebyshev{
		newton: newton{x: x, g: g},
		p:      make([]float64, len(x)),
		theta:  (hi + lo) / 2, delta: (hi - lo) / 2,
	}
}

func (c *chebyshev) step(z []float64) {
	if c.omega == 0 || c.delta == 0 {
		c.omega = c.delta / c.theta
		for i, v := range z {
			c.p[i] = -v / c.theta
		}
	} else {
		next := 1 / (2*c.theta/c.delta - c.omega)
		keep, move := next*c.omega, 2*next/c.delta
		for i, v := range z {
			c.p[i] = keep*c.p[i] - move*v
		}
		c.omega = next
	}
	vec.Axpy(1, c.p, c.x)
}
