package krylov

import (
	"context"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/resolvent"
	"github.com/fdridge/fdridge/internal/vec"
)

// A Hessian is an approximation Ĥ(γ) of H(γ) that is cheap to invert.
type Hessian interface {
	// Solve writes Ĥ(γᵢ)⁻¹gᵢ to row i of g.Off, for the gradients gᵢ in g. On entry, row i of g.Off holds the
	// part of gᵢ orthogonal to V. Solve overwrites g.Along.
	Solve(ctx context.Context, gammas []float64, g *resolvent.Gradients) error
	// Range returns bounds lo and hi on the eigenvalues of Ĥ(γ)⁻¹H(γ). lo ≤ 0 means that there is no lower
	// bound.
	Range(gamma float64) (lo, hi float64)
}

// A Sketch is the Hessian of a Frequent Directions (FD) sketch B: Ĥ = BᵀB + (γ + Shift)I. Shift is half the
// shrinkage for Robust Frequent Directions (RFD), and 0 for FD.
type Sketch struct {
	Shift  float64
	bound  fd.Bound
	m      *resolvent.Resolvent
	shifts []float64
}

// NewSketch returns the Hessian of a sketch with the given bound, eigenvalues and eigenvectors. robust
// selects RFD.
func NewSketch(b fd.Bound, e *resolvent.Eigen, robust bool, be engine.Backend) *Sketch {
	s := &Sketch{bound: b, m: resolvent.New(e, be)}
	if robust {
		s.Shift = b.Shift()
	}
	return s
}

// Range derives the bounds from −pad·I ⪯ K − BᵀB ⪯ (η + pad)·I, with the shrinkage η and the round-off pad.
// Without round-off they are 1 and 1 + η/γ for FD, and γ/(γ+ρ) and 1 + ρ/(γ+ρ) for RFD, where ρ = η/2.
func (s *Sketch) Range(gamma float64) (lo, hi float64) {
	shifted := gamma + s.Shift
	return (gamma - s.bound.RoundOff) / shifted, 1 + (s.bound.FD()-s.Shift)/shifted
}

// Solve solves with Ĥ and never returns an error.
func (s *Sketch) Solve(_ context.Context, gammas []float64, g *resolvent.Gradients) error {
	s.shifts = vec.Grow(s.shifts, len(gammas))
	for i, gamma := range gammas {
		s.shifts[i] = gamma + s.Shift
	}
	s.m.Invert(s.shifts, g.Along, g.Off)
	return nil
}
