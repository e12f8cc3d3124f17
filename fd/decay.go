package fd

import (
	"math"

	"github.com/fdridge/fdridge/internal/badinput"
)

// Decay forgets: it multiplies AᵀA by beta, 0 < beta <= 1, so that rows seen k
// decays ago count betaᵏ times. B ← √β·B and η ← βη; the bound stays exact for
// the decayed covariance. Where rows less a centre wait ([Sketch.AppendCentred]) that would be next to
// nothing they are shrunk first, as the multiples of it need not be.
func (s *Sketch) Decay(beta float64) error {
	if !(beta > 0 && beta <= 1) {
		return badinput.Errorf("fd: decay by %v, must be in (0, 1]", beta)
	}
	if err := s.ready(); err != nil {
		return err
	}
	if s.fades(beta) {
		s.reserve()
		if err := s.shrink(); err != nil {
			s.bad = err
			return err
		}
	}
	f := math.Sqrt(beta)
	norm2 := s.frob.Value()
	if centres, _ := s.centreSquares(); centres > 0 {
		norm2 += centres + squares(s.sparse.Val) // which are rounded in place of their differences
	}
	for i := range s.rows {
		row := s.row(i)
		for j := range row {
			row[j] *= f
		}
	}
	s.sparse.decay(f)
	for i := range s.kept {
		s.norm2[i] *= beta
	}
	for i := range s.sums {
		s.sums[i].Scale(beta)
	}
	// Two roundings for each entry, four for its square: 2·eps. An entry of K, and its
	// correction, are rounded once. What becomes denormal, of
	// entries, η or this pad, loses less than a unit 2⁻¹⁰⁷⁴ each time, see underflow.
	pad := padDecay * eps * norm2
	if s.kept > 0 {
		pad *= renewal // once for each shrink that relies on the products of the kept rows
	}
	s.roundOff = beta * (s.roundOff + pad)
	s.eta *= beta
	s.frob.Scale(beta)
	return nil
}
