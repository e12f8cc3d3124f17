package fd

import (
	"math"

	"github.com/fdridge/fdridge/internal/neumaier"
)

const eps = 0x1p-52

// padDecay bounds what a decay loses, in units of eps·‖B‖²_F: two roundings for each entry are
// 2·eps·‖B‖²_F, and some are for the squared norms.
const padDecay = 4

// A Bound is what a sketch guarantees about A, the rows it was made from:
//
//	−RoundOff·I ⪯ AᵀA − BᵀB ⪯ (Shrinkage + RoundOff)·I
//
// where B is the matrix the bound came with. Without RoundOff the bound would be
// false: on data of rank below m the computed η is 1e-13 where the error of
// BᵀB is 1e-8, both for ‖A‖²_F = 1e7.
//
// With exact arithmetic Shrinkage alone is a bound. RoundOff bounds what floating-point arithmetic
// did. Each shrink and each reading measures its eigenvectors by matrix products, and
// [engine.Accuracy] bounds the round-off of these products. docs/math.md §14 has the proofs.
//
// Frobenius2, Tail and TailSlack are rounded values without a pad. Frobenius2 of [Spectrum.Scaled]
// is a bound. If rows less a centre were appended ([Sketch.AppendCentred]), round-off is relative to
// ‖xᵢ‖ and |timesᵢ|·‖centre‖.
type Bound struct {
	Shrinkage  float64 // η = Σδ
	RoundOff   float64 // bounds what floating-point arithmetic did
	Frobenius2 float64 // ‖A‖²_F; of [Spectrum.Scaled], the most that it may be
	Tail       float64 // tr(AᵀA − BᵀB) = ‖A‖²_F − ‖B‖²_F, at least 0
	// TailSlack is how much less than Tail tr(AᵀA − BᵀB) may be: 0 but for [Spectrum.Scaled], to
	// which it is not known.
	TailSlack float64
	Rows      int64 // n
}

// FD is the bound η on ‖AᵀA − BᵀB‖₂, round-off included.
func (b Bound) FD() float64 { return b.Shrinkage + b.RoundOff }

// RFD is the bound on ‖AᵀA − (BᵀB + ρI)‖₂ with ρ = [Bound.Shift], η/2 and the same
// round-off as FD has.
func (b Bound) RFD() float64 { return b.Shift() + b.RoundOff }

// Shift is ρ = η/2, the minimax shift of Robust Frequent Directions.
func (b Bound) Shift() float64 { return b.Shrinkage / 2 }

// Bound returns the guarantee on the live rows as they stand, of which there are
// up to m+p between two shrinks, or on AᵀA where that is kept. [Sketch.Spectrum] reduces them to m and carries
// its own bound. ‖B‖²_F is summed for it: O(md).
func (s *Sketch) Bound() Bound {
	var norm2 neumaier.Sum
	for _, v := range s.norm2[:s.kept] {
		norm2.Add(v)
	}
	centres := s.centres()
	for i := s.kept; i < s.rows; i++ {
		if centres != nil && centres[i] {
			continue
		}
		for _, v := range s.row(i) {
			norm2.Add(v * v)
		}
	}
	var c centre
	for i := range s.sparse.Rows {
		idx, val := s.sparse.Row(i)
		if s.centreOf(i, &c) != nil {
			norm2.Add(c.squares(idx, val, s.sparse.times[i]))
			continue
		}
		for _, v := range val {
			norm2.Add(v * v)
		}
	}
	if s.sums != nil {
		norm2.Add(trace(s.cfg.Dim, s.sums))
	}
	return s.bound(0, 0, norm2.Value())
}

// bound assembles a Bound after a further shrink by delta with round-off pad,
// that left ‖B‖²_F = norm2.
func (s *Sketch) bound(delta, pad, norm2 float64) Bound {
	frob := s.frob.Value()
	return Bound{
		Shrinkage:  s.eta + delta,
		RoundOff:   s.roundOff + pad + s.underflow(),
		Frobenius2: frob,
		Tail:       math.Max(0, frob-norm2),
		Rows:       s.count,
	}
}

// underflow bounds what numbers below the smallest normal one can have lost: each of the
// n·d squares of entries of A less than 2⁻¹⁰²². That has room for the 2⁻¹⁰⁷⁵ by which each
// denormal that a shrink or a decay rounds is off, of which there are far fewer than
// 2⁵³·n·d. A decay to denormal entries of B adds to that what is below eps·‖B‖²_F.
func (s *Sketch) underflow() float64 {
	return float64(s.count) * float64(s.cfg.Dim) * 0x1p-1022
}
