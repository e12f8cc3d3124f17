package krylov

import (
	"math"

	"github.com/fdridge/fdridge/internal/vec"
)

// A base is a point x₀ and the gradient g₀ of a system at this point. [galerkin] computes the solution of the
// system from them.
type base struct {
	x, g  []float64 // x₀ and the gradient g₀ at x₀
	moved bool      // g₀ has changed, so Qg₀ must be computed again
	// unchanged is the error bound of the system when it was last solved again in a subspace without new vectors.
	unchanged float64
}

// rebase sets the base of the system s to its current iterate and gradient.
func (m *galerkin) rebase(s *System) {
	b := &m.bases[s.index]
	copy(b.x, s.X)
	copy(b.g, s.G)
	b.moved = true
}

// advance sets the iterate of the system s to b.x − v. It sets the gradient to b.g − (AᵀA + γI)v, for the
// penalty γ of the system. kv is the product AᵀAv.
func (b *base) advance(s *System, v, kv []float64) {
	gamma := s.Gamma()
	for i, w := range v {
		s.X[i] = b.x[i] - w
		s.G[i] = b.g[i] - (kv[i] + gamma*w)
	}
}

// carriedResidual returns the norm ‖Ax − b‖ of the residual at the iterate x of the system s, without a pass.
// It computes the norm from the updated gradient g as √(‖b‖² − cᵀx + xᵀ(g − γx)). Here c is Aᵀb, γ
// is the penalty, and tss is ‖b‖². If s has an [origin], carriedResidual returns the last measured norm.
func carriedResidual(s *System, tss float64, c []float64) float64 {
	if s.origin != nil {
		return s.Residual
	}
	x := vec.Norm(s.X)
	rss := tss - vec.Dot(c, s.X) + vec.Dot(s.X, s.G) - s.Gamma()*x*x
	return math.Sqrt(math.Max(0, rss))
}
