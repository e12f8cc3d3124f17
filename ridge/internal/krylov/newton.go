package krylov

import "github.com/fdridge/fdridge/internal/vec"

// newton is the iterative refinement of C. Dickens (2020), Algorithm 1 (iFDRR and iRFDRR), for coefficients x and a
// target b. The paper omits the term γx of the gradient, which newton includes:
//
//	x ← x − Ĥ⁻¹(Aᵀ(Ax − b) + γx).
//
// Ĥ is the approximation of AᵀA + γI by the sketch. A step multiplies the error by at most
// ridge.Outcome.Contraction. Let η be the shrinkage of the sketch, and ρ = η/2. For Robust Frequent Directions the
// factor is ρ/(γ+ρ) < 1. For plain Frequent Directions it is η/γ, which may be 1 or more.
type newton struct{ x, g []float64 }

func (n *newton) query(v []float64) bool {
	copy(v, n.x)
	return true
}

func (n *newton) absorb(hv []float64) bool {
	copy(n.g, hv)
	return true
}

func (n *newton) step(z []float64) {
	vec.Axpy(-1, z, n.x)
}

// verify does nothing, because every pass of newton measures the gradient at the iterate.
func (n *newton) verify() {}
