package fd

import (
	"math"

	"github.com/fdridge/fdridge/internal/neumaier"
)

const eps = 0x1p-52

// Pads for round-off, in units of eps. XX
const (
	padShrink   = 16
	padLossless = 32
	padSVD      = 0.25
	padRead     = 32
	padSums     = 0.5
	longSum     = 256
)

// A Bound is what a sketch guarantees about A, the rows it was made from:
//
//	−RoundOff·I ⪯ AᵀA − BᵀB ⪯ (Shrinkage + RoundOff)·I
//
// where B is the matrix the bound came with. Without RoundOff the bound would be
// false: on data of rank below m the computed η is 1e-13 where the error of
// BᵀB is 1e-8, both for ‖A‖²_F = 1e7.
type Bound struct {
	Shrinkage  float64 // η = Σδ
	RoundOff   float64 // what floating-point arithmetic may have added
	Frobenius2 float64 // ‖A‖²_F
	Tail       float64 // tr(AᵀA − BᵀB) = ‖A‖²_F − ‖B‖²_F, at least 0
	Rows       int64   // n
}

// FD is the bound η on ‖AᵀA − BᵀB‖₂, round-off included.
func (b Bound) FD() float64 { return b.Shrinkage + b.RoundOff }

// RFD is the bound on ‖AᵀA − (BᵀB + ρI)‖₂ with ρ = [Bound.Shift], round-off
// included: half of FD.
func (b Bound) RFD() float64 { return b.Shift() + b.RoundOff }

// Shift is ρ = η/2, the minimax shift of Robust Frequent Directions.
func (b Bound) Shift() float64 { return b.Shrinkage / 2 }

// Bound returns the guarantee on the live rows as they stand, of which there are
// up to m+p between two shrinks. [Sketch.Spectrum] reduces them to m and carries
// its own bound. ‖B‖²_F is summed for it: O(md).
func (s *Sketch) Bound() Bound {
	var norm2 neumaier.Sum
	for _, v := range s.norm2[:s.kept] {
		norm2.Add(v)
	}
	for i := s.kept; i < s.rows; i++ {
		for _, v := range s.row(i) {
			norm2.Add(v * v)
		}
	}
	return s.bound(0, 0, norm2.Value())
}

// bound assembles a Bound after a further shrink by delta with round-off pad,
// that left ‖B‖²_F = norm2.
func (s *Sketch) bound(delta, pad, norm2 float64) Bound {
	frob := s.frob.Value()
	return Bound{
		Shrinkage:  s.eta + delta,
		RoundOff:   s.roundOff + pad + s.padOfRead()*eps*frob + s.underflow(),
		Frobenius2: frob,
		Tail:       math.Max(0, frob-norm2),
		Rows:       s.count,
	}
}

// underflow bounds what squares below the smallest normal number can have lost:
// each of the n·d squares of a column of A less than 2⁻¹⁰²².
func (s *Sketch) underflow() float64 {
	return float64(s.count) * float64(s.cfg.Dim) * 0x1p-1022
}

// padOfRead is the pad, in eps·‖A‖²_F, of sums that rows enter once and of reading.
func (s *Sketch) padOfRead() float64 {
	return padRead + padSums*float64(min(s.cfg.Dim, longSum))
}

// padOfShrink is the pad of one shrink of k rows, whose BBᵀ has the eigenvalues lambda.
func (s *Sketch) padOfShrink(k int, lambda []float64) float64 {
	var norm2 float64
	for _, v := range lambda {
		norm2 += math.Abs(v)
	}
	pad := float64(padShrink)
	switch {
	case s.cfg.Shrink == SVD:
		pad += padSVD * float64(k)
	case s.lossless():
		pad = padLossless
	}
	return pad * eps * norm2
}
