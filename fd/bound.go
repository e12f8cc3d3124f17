package fd

import (
	"math"

	"github.com/fdridge/fdridge/internal/twofold"
)

const eps = 0x1p-52

// padDecay bounds the round-off when a decay multiplies the buffered rows B by a number, in units of eps·‖B‖²_F.
// The two roundings of each entry contribute 2. The remaining 2 cover the rounding of the squared norms.
const padDecay = 4

// A Bound is a guarantee about the matrix A of all appended rows and a smaller matrix B:
//
//	−RoundOff·I ⪯ AᵀA − BᵀB ⪯ (Shrinkage + RoundOff)·I
//
// For [Sketch.Bound], B is the matrix in the buffer. For the field Bound of a [Spectrum], B is [Spectrum.Matrix].
// Shrinkage alone is a bound only in exact arithmetic. For example, data of rank below the sketch size with
// ‖A‖²_F = 1e7 had Shrinkage = 1e-13 and ‖AᵀA − BᵀB‖ = 1e-8.
//
// RoundOff includes the measured error of the eigenvectors of every shrink and of [Sketch.Spectrum]. Proofs are in
// docs/math.md §14. For a row xᵢ − timesᵢ·centre of [Sketch.AppendCentred], RoundOff grows with ‖xᵢ‖
// and |timesᵢ|·‖centre‖, even if the row itself is shorter.
//
// Frobenius2 and Tail are computed values with round-off, not bounds. After [Spectrum.Scaled] they are upper
// bounds, again up to round-off.
type Bound struct {
	Shrinkage  float64 // η, the sum of the δ of all shrinks
	RoundOff   float64 // bounds the effect of round-off
	Frobenius2 float64 // ‖A‖²_F; after [Spectrum.Scaled], an upper bound on ‖A‖²_F
	// Tail is the trace of AᵀA − BᵀB, which is ‖A‖²_F − ‖B‖²_F. It is at least 0. In the result of
	// [Spectrum.Scaled], it is an upper bound on this trace.
	Tail float64
	// TailSlack bounds how much Tail exceeds the trace of AᵀA − BᵀB. It is nonzero only in results of
	// [Spectrum.Scaled].
	TailSlack float64
	Rows      int64 // n, the number of rows appended
}

// FD returns a bound on ‖AᵀA − BᵀB‖₂, for the matrices A and B of [Bound]. It is the sum of Shrinkage and
// RoundOff.
func (b Bound) FD() float64 { return b.Shrinkage + b.RoundOff }

// RFD returns a bound on ‖AᵀA − (BᵀB + ρI)‖₂, for the matrices A and B of [Bound] and the shift ρ that
// [Bound.Shift] returns. It is the sum of ρ and RoundOff.
func (b Bound) RFD() float64 { return b.Shift() + b.RoundOff }

// Shift returns ρ, half the Shrinkage. Adding ρI to BᵀB, for the matrices A and B of [Bound], gives the smallest
// proved bound on ‖AᵀA − (BᵀB + ρI)‖₂.
func (b Bound) Shift() float64 { return b.Shrinkage / 2 }

// Bound returns the guarantee for the matrix B of all rows in the buffer. Between two shrinks, B may have more than
// Size rows. [Sketch.Spectrum] reduces B to at most Size rows and returns the Bound for these rows. If the sketch
// keeps AᵀA, for all appended rows A, the kept matrix stands for BᵀB. Bound takes O(Size·Dim) time, because it
// sums ‖B‖²_F.
func (s *Sketch) Bound() Bound {
	norm2 := twofold.TotalOf(s.norm2[:s.kept])
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
		norm2.Add(traceOfSums(s.cfg.Dim, s.sums))
	}
	return s.bound(0, 0, norm2.Value())
}

// bound returns the Bound after one more shrink, which subtracts delta from the eigenvalues. The argument pad
// bounds the round-off of this shrink. The argument norm2 is the sum of squares of the rows after the shrink.
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

// underflow bounds the error of AᵀA − BᵀB that comes from numbers below 2⁻¹⁰²², the smallest normal
// number. A are the appended rows and B the rows of the sketch. The square of each entry of A loses less than
// 2⁻¹⁰²².
//
// The bound also covers the rounding of denormal numbers in a shrink or a decay. Each rounding has an error of at
// most 2⁻¹⁰⁷⁵, and an entry of A takes part in far fewer than 2⁵³ roundings. A decay that makes entries
// of B denormal adds less than eps·‖B‖²_F.
func (s *Sketch) underflow() float64 {
	return float64(s.count) * float64(s.cfg.Dim) * 0x1p-1022
}
