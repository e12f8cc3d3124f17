package krylov

import "github.com/fdridge/fdridge/internal/vec"

// newton is the paper's iterative refinement (Algorithm 1; iFDRR, iRFDRR) with
// the γx it forgets in the gradient:
//
//	x ← x − Ĥ⁻¹(Aᵀ(Ax − b) + γx).
//
// The error shrinks by ridge.Solution.Contraction or better each time. With RFD
// that is ρ/(γ+ρ) < 1 for every γ > 0; with FD η/γ, which may be 1 or more.
type newton struct{ x, g []float64 }

func (n *newton) query(v []float64) bool {
	copy(v, n.x)
	return true
}

func (n *newton) absorb(hv []float64) bool {
	copy(n.g, hv)
	return true
}

func (n *newton) step(z []float64) { vec.Axpy(-1, z, n.x) }

// verify has nothing to do: every query is the gradient at x.
func (n *newton) verify() {}
