package krylov

import (
	"context"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/resolvent"
	"github.com/fdridge/fdridge/internal/vec"
)

// A Hessian is an Ĥ(γ) that is cheap to invert, and how far it is from H.
type Hessian interface {
	// Solve replaces g.Off, on entry the parts of the gᵢ orthogonal to V, by the solutions
	// Ĥ(γᵢ)⁻¹gᵢ. g.Along is destroyed.
	Solve(ctx context.Context, gammas []float64, g *resolvent.Gradients) error
	// Range bounds the spectrum of Ĥ(γ)⁻¹H(γ). lo <= 0 says that nothing is
	// known below.
	Range(gamma float64) (lo, hi float64)
}

// A Sketch is the Hessian of a Frequent Directions sketch: Ĥ = BᵀB + (γ + Shift)I
// with Shift = ρ for RFD and 0 for FD.
type Sketch struct {
	Shift  float64
	bound  fd.Bound
	m      *resolvent.Resolvent
	shifts []float64
}

// NewSketch makes the Hessian of a sketch of the given bound and decomposition.
func NewSketch(b fd.Bound, e *resolvent.Eigen, robust bool, be engine.Backend) *Sketch {
	s := &Sketch{bound: b, m: resolvent.New(e, be)}
	if robust {
		s.Shift = b.Shift()
	}
	return s
}

// Range follows from −pad ⪯ K − BᵀB ⪯ η + pad. For FD the spectrum of Ĥ⁻¹H lies
// in [1, 1 + η/γ]; for RFD in [γ/(γ+ρ), 1 + ρ/(γ+ρ)]. The paper uses the
// spectral radius of I − Ĥ⁻¹H for its norm (Lemmas on contraction); these
// bounds need neither.
func (s *Sketch) Range(gamma float64) (lo, hi float64) {
	shifted := gamma + s.Shift
	return (gamma - s.bound.RoundOff) / shifted, 1 + (s.bound.FD()-s.Shift)/shifted
}

// Solve never fails.
func (s *Sketch) Solve(_ context.Context, gammas []float64, g *resolvent.Gradients) error {
	s.shifts = vec.Grow(s.shifts, len(gammas))
	for i, gamma := range gammas {
		s.shifts[i] = gamma + s.Shift
	}
	s.m.Invert(s.shifts, g.Along, g.Off)
	return nil
}
