package krylov

import (
	"math"

	"github.com/fdridge/fdridge/internal/vec"
)

// A base is where a system moves from with the subspace.
type base struct {
	x, g      []float64 // x₀ and g₀
	moved     bool      // u is not yet that of g₀
	unchanged float64   // the system's bound when it was last solved again in an unchanged subspace
}

// rebase has a system move from where it is.
func (m *galerkin) rebase(s *System) {
	b := &m.bases[s.index]
	copy(b.x, s.X)
	copy(b.g, s.G)
	b.moved = true
}

// advance sets x to x₀ − v and g to the gradient there, given Kv.
func (b *base) advance(s *System, v, kv []float64) {
	gamma := s.Gamma()
	for i, w := range v {
		s.X[i] = b.x[i] - w
		s.G[i] = b.g[i] - (kv[i] + gamma*w)
	}
}

// carriedResidual is ‖Ax − b‖ as the gradient carried along has it, given ‖b‖² and c:
// ‖b‖² − cᵀx + xᵀ(g − γx).
func carriedResidual(s *System, tss float64, c []float64) float64 {
	if s.origin != nil {
		return s.Residual
	}
	x := vec.Norm(s.X)
	return math.Sqrt(math.Max(0, tss-vec.Dot(c, s.X)+vec.Dot(s.X, s.G)-s.Gamma()*x*x))
}
