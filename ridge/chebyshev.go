package ridge

import (
	"fmt"

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

func newChebyshev(s *system, h Hessian) (*chebyshev, error) {
	lo, hi := h.Range(s.gamma)
	if !(lo > 0) {
		return nil, fmt.Errorf("ridge: at gamma = %g the Hessian proves no range for Chebyshev, for a sketch because gamma is below its round-off; use CG", s.gamma)
	}
	return &chebyshev{
		newton: newton{x: s.x, g: s.g},
		p:      make([]float64, len(s.x)),
		theta:  (hi + lo) / 2, delta: (hi - lo) / 2,
	}, nil
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
