package fd

import (
	"math"

	"github.com/fdridge/fdridge/internal/neumaier"
)

const eps = 0x1p-52

// Shrinks and reading perturb BᵀB by multiples of eps that add up in RoundOff:
//
//	a shrink     max(padShrink, padOrder·order)·eps·‖R‖²_F
//	reading      min(d, longSum)·eps·‖A‖²_F
//
// R are the rows that the shrink rewrites and order is that of its eigenproblem: m+p, or
// where m = d min(d, largestOrder), for there it grows no further, and for SVD orderSVD. Reading includes what happens to a row once, when its
// products are summed along the features; longer sums the backends cut into blocks.
//
// These are calibrated, not proved, by TestRoundOff and its kin: the worst error found in
// extended precision is below a third of RoundOff. The worst streams are equal rows, for
// sums of equal terms are all rounded the same way; found were shrinks that are off by
// order/16 or by 2, and 48 for reading, each time in the same direction. Proved from what
// package enginetest asks of backends, an eigenproblem's residual of 10·eps·order and sums
// off by eps a term, a shrink's pad would be some 12·(m+p), thirty times as much.
//
// What a decay loses is proved: two roundings for each entry are 2·eps·‖B‖²_F, and some for
// the squared norms.
const (
	padShrink    = 16
	padOrder     = 0.4
	largestOrder = 80
	longSum      = 256
	padDecay     = 4
)

// A Bound is what a sketch guarantees about A, the rows it was made from:
//
//	−RoundOff·I ⪯ AᵀA − BᵀB ⪯ (Shrinkage + RoundOff)·I
//
// where B is the matrix the bound came with. Without RoundOff the bound would be
// false: on data of rank below m the computed η is 1e-13 where the error of
// BᵀB is 1e-8, both for ‖A‖²_F = 1e7.
//
// With exact arithmetic Shrinkage alone is a bound, and that is a theorem. RoundOff is a
// multiple of eps·‖A‖²_F whose factors are calibrated on streams that round badly, with a
// margin of four, and not proved. So FD, RFD, and all that is derived from them, rest on
// calibration to the extent of RoundOff: where Shrinkage is far larger that is immaterial,
// and where nothing is lost (m = d, or rank(A) ≤ m) they are calibrated figures. Of
// RoundOff, only what decays, adding rows to AᵀA where that is kept (scatter.go) and numbers
// below the smallest normal one lose is proved.
// Frobenius2, Tail and TailSlack are rounded values without a pad, but for the Frobenius2 of
// [Spectrum.Scaled], which is a bound; of rows less a centre ([Sketch.AppendCentred]) rounding is
// that of ‖xᵢ‖ and |timesᵢ|·‖centre‖.
type Bound struct {
	Shrinkage  float64 // η = Σδ
	RoundOff   float64 // what floating-point arithmetic may have added: calibrated
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
		RoundOff:   s.roundOff + pad + s.padOfRead() + s.underflow(),
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

// padOfRead is the pad of reading.
func (s *Sketch) padOfRead() float64 {
	return float64(min(s.cfg.Dim, longSum)) * eps * s.frob.Value()
}

// padOfShrink is the pad of one shrink with an eigenproblem of the given order that has the
// eigenvalues lambda.
func padOfShrink(order int, lambda []float64) float64 {
	var norm2 float64
	for _, v := range lambda {
		norm2 += math.Abs(v)
	}
	return perEigenproblem(order) * eps * norm2
}

// perEigenproblem is the pad of one shrink with an eigenproblem of the given order, in units of
// eps·‖R‖²_F.
func perEigenproblem(order int) float64 { return max(padShrink, padOrder*float64(order)) }

// orderSVD is the order by which the SVD driver's shrink of k rows counts. Sums over more
// rows than features, in their QR decomposition, are worse than the eigenproblem.
func orderSVD(k, d int) int {
	if k > d {
		return 5 * k / 2
	}
	return k
}
