package fd

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/internal/errtext"
)

// Decay multiplies AᵀA by beta, for all appended rows A and 0 < beta <= 1. It multiplies the rows of the sketch by
// √beta and the shrinkage by beta. A row that was appended before k calls of Decay with the same beta thus has the
// weight betaᵏ. The Bound remains valid for the reduced AᵀA.
//
// If Decay would make the norm of a stored centre almost zero (see [Sketch.AppendCentred]), it first shrinks the
// sketch.
func (s *Sketch) Decay(beta float64) error {
	if !(beta > 0 && beta <= 1) {
		return errtext.BadInput("fd: decay by %v, must be in (0, 1]", beta)
	}
	if err := s.checkReady(); err != nil {
		return err
	}
	if s.hasFadingCentre(beta) {
		s.allocate()
		if err := s.shrink(); err != nil {
			s.bad = err
			return err
		}
	}
	f := math.Sqrt(beta)
	norm2 := s.frob.Value()
	if centres, _ := s.centreSquares(); centres > 0 {
		// A row s − κμ with a centre μ is stored as s, κ and μ. s and μ are rounded, not their difference. So norm2
		// must include the squares of s and κμ.
		norm2 += centres + squares(s.sparse.Val)
	}
	for i := range s.rows {
		floats.Scale(f, s.row(i))
	}
	floats.Scale(f, s.sparse.Val)
	for i := range s.kept {
		s.norm2[i] *= beta
	}
	for i := range s.sums {
		s.sums[i].Scale(beta)
	}
	// Each entry is rounded twice, which changes its square by at most 2·eps of the square. If the sketch keeps
	// AᵀA, each entry is a sum and its correction, and both are rounded. Numbers that become denormal lose less
	// than 2⁻¹⁰⁷⁴ each; the method underflow covers this error.
	pad := padDecay * eps * norm2
	if s.kept > 0 {
		// At most renewal consecutive shrinks rely on the rows kept by the last shrink being orthogonal with the
		// squared norms s.norm2. The rounding of a decay affects each of these shrinks.
		pad *= renewal
	}
	s.roundOff = beta * (s.roundOff + pad)
	s.eta *= beta
	s.frob.Scale(beta)
	return nil
}
