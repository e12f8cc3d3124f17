package krylov

import "github.com/fdridge/fdridge/internal/vec"

// cg is the preconditioned conjugate gradient method (Hestenes, Stiefel 1952) for the system Hx = c, with
// H = AᵀA + γI and c = Aᵀb. It keeps the gradient g = Hx − c and the search direction p. A step is
//
//	α = gᵀz/pᵀHp,  x ← x + αp,  g ← g + αHp,  z = Ĥ⁻¹g,  p ← −z + (g₊ᵀz₊/gᵀz)p.
//
// Ĥ is the preconditioner, and + marks values after the update. For a sketch with shrinkage η, the condition number
// of Ĥ⁻¹H is at most 1 + η/γ. The gradient is updated by this recursion. Sometimes a pass measures it, and the
// iteration restarts from the measured gradient.
type cg struct {
	x, g, p []float64
	// gᵀz of the previous step; 0 after a restart
	gz    float64
	check bool // the next pass measures the gradient at x
}

func (c *cg) query(v []float64) bool {
	if c.check {
		copy(v, c.x)
	} else {
		copy(v, c.p)
	}
	return c.check
}

func (c *cg) absorb(hv []float64) bool {
	if c.check {
		c.check, c.gz = false, 0
		copy(c.g, hv)
		return true
	}
	if curvature := vec.Dot(c.p, hv); curvature > 0 {
		alpha := c.gz / curvature
		vec.Axpy(alpha, c.p, c.x)
		vec.Axpy(alpha, hv, c.g)
	}
	return false
}

func (c *cg) step(z []float64) {
	gz := vec.Dot(c.g, z)
	beta := 0.0
	if c.gz > 0 {
		beta = gz / c.gz
	}
	for i, v := range z {
		c.p[i] = beta*c.p[i] - v
	}
	c.gz = gz
}

func (c *cg) verify() { c.check = true }
