package krylov

import (
	"context"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/spectral"
	"github.com/fdridge/fdridge/internal/vec"
)

// A Hessian is an approximation of AᵀA + γI that is cheap to invert, for any penalty γ.
type Hessian interface {
	// Solve multiplies each gradient by the inverse of the Hessian. Gradient i uses the penalty gammas[i]. On entry, g
	// holds the gradients and their projections onto the right singular vectors of the sketch. On return, row i of
	// g.Off holds the product for gradient i, and g.Along is undefined.
	Solve(ctx context.Context, gammas []float64, g *spectral.Gradients) error
	// Range returns bounds lo and hi on the eigenvalues of Ĥ⁻¹(AᵀA + γI), where Ĥ is this Hessian. If lo ≤ 0, no
	// positive lower bound is known.
	Range(gamma float64) (lo, hi float64)
}

// A Sketch is the Hessian BᵀB + (γ + Shift)I for a Frequent Directions (FD) sketch B. For FD, Shift is 0. For
// Robust Frequent Directions (RFD), Shift is half the shrinkage of the sketch.
type Sketch struct {
	Shift  float64
	bound  fd.Bound
	m      *spectral.Resolvent
	shifts []float64
}

// NewSketch returns the Hessian of a sketch B with the error bound b. e holds the eigenvalues and eigenvectors of
// BᵀB. If robust is true, the Hessian is for Robust Frequent Directions, and otherwise for Frequent Directions.
func NewSketch(b fd.Bound, e *spectral.Eigen, robust bool, be engine.Backend) *Sketch {
	s := &Sketch{bound: b, m: spectral.NewResolvent(e, be)}
	if robust {
		s.Shift = b.Shift()
	}
	return s
}

// Range returns bounds on the eigenvalues of Ĥ⁻¹(AᵀA + γI), where Ĥ is this Hessian. They follow from
//
//	−pad·I ⪯ AᵀA − BᵀB ⪯ (η + pad)·I.
//
// Here η is the shrinkage of the sketch B, and pad bounds its round-off. Without round-off, the eigenvalues are
// between 1 and 1 + η/γ for Frequent Directions. For Robust Frequent Directions they are between 1 − η/(2γ + η)
// and 1 + η/(2γ + η).
func (s *Sketch) Range(gamma float64) (lo, hi float64) {
	shifted := gamma + s.Shift
	return (gamma - s.bound.RoundOff) / shifted, 1 + (s.bound.FD()-s.Shift)/shifted
}

// Solve solves with Ĥ and never returns an error.
func (s *Sketch) Solve(_ context.Context, gammas []float64, g *spectral.Gradients) error {
	s.shifts = vec.Grow(s.shifts, len(gammas))
	for i, gamma := range gammas {
		s.shifts[i] = gamma + s.Shift
	}
	s.m.Invert(s.shifts, g.Along, g.Off)
	return nil
}
