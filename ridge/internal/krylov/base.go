package krylov

import (
	"math"

	"github.com/fdridge/fdridge/internal/vec"
)

// A base is the point x₀ from which [galerkin] computes the solution of a system, with the gradient g₀ at x₀.
type base struct {
	x, g  []float64 // x₀ and the gradient g₀ at x₀
	moved bool      // g₀ has changed, so Qg₀ must be computed again
	// the error bound of the system when it was last solved again without new vectors in the subspace
	unchanged float64
}

// rebase sets the base of s to the current iterate and gradient.
func (m *galerkin) rebase(s *System) {
	b := &m.bases[s.index]
	copy(b.x, s.X)
	copy(b.g, s.G)
	b.moved = true
}

// advance sets the iterate of s to x₀ − v, and its gradient to g₀ − (K + γI)v, for K = AᵀA. kv is the
// product Kv.
func (b *base) advance(s *System, v, kv []float64) {
	gamma := s.Gamma()
	for i, w := range v {
		s.X[i] = b.x[i] - w
		s.G[i] = b.g[i] - (kv[i] + gamma*w)
	}
}

// carriedResidual returns ‖Ax − b‖ at the iterate x of s without a pass. It computes the norm from the updated
// gradient g of s: √(‖b‖² − cᵀx + xᵀ(g − γx)), with c = Aᵀb. tss is ‖b‖². If s has an [origin],
// it returns the last measured residual instead.
func carriedResidual(s *System, tss float64, c []float64) float64 {
	if s.origin != nil {
		return s.Residual
	}
	x := vec.Norm(s.X)
	rss := tss - vec.Dot(c, s.X) + vec.Dot(s.X, s.G) - s.Gamma()*x*x
	return math.Sqrt(math.Max(0, rss))
}
