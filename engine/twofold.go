package engine

import "github.com/fdridge/fdridge/engine/internal/matrix"

// A Twofold is a matrix whose elements are unevaluated sums of two numbers, with error bounds:
//
//	type Twofold struct{ Hi, Lo, Err Matrix }
//
// The exact value of an element differs from Hi + Lo by at most Err, and |Lo| is at most half an ulp of Hi. If a sum
// overflows or is NaN, Err is not finite.
//
// [Backend.GradientTwofold] adds (W·R)ᵀ·A to G, for the computed R = Hi + Lo. The Err of G does not include the
// error of R, which is at most the Err of R. The caller must add its effect. For columns far from zero, this effect
// on the solution is less than Σ|w_i·a_ij|·Err_i.
//
// The Err of [Backend.GradientTwofold] is computed from scales s_i of rows and c_j of columns, |a_ij| ≤ s_i·c_j, for
// up to 32 rows at a time. Let u = 2⁻⁵³. Products along rows are summed in strips of at most 512 columns:
//
//   - The sum of a strip of n columns starts with a base between 2ᵏ and 2ᵏ⁺¹, a number that is subtracted at the end.
//     2ᵏ is at most 4 times the magnitude M = s_i·Σc_j|x_j|. Each addition loses at most u2ᵏ. The losses are added in
//     four to sixteen sums of at most n/4 terms, which lose u times their values. The total is n·(3/2+n/8+16)·u²·4M <
//     n(70+n/2)u²M.
//   - Adding S strips, −b and c loses only u times the low parts in 2(S+2) additions. The low parts are at most
//     (4n+S+2)u(M+|b|+|c|).
//   - A strip of G is summed in the same way, with M = c_j·Σs_i|w_i·r_i|. R rows in sequence, with two losses each,
//     lose (R + 4R²)u²·4M, and multiplying by the weights loses 2⁻¹⁰³·M. Adding strips and parts loses four roundings
//     of the low parts, which are included in Err as computed.
//
// Magnitudes that underflow count as 2⁻¹⁰⁶⁴ before they are multiplied by a scale. Err is twice these
// bounds: 2⁻⁸⁷ times the magnitudes for 512 columns, 2⁻⁹⁵ for ten. The actual error is of this order if
// the entries are near the products of the scales. A sparse row has its own scales.
type Twofold = matrix.Twofold

// NewTwofold returns a rows×cols matrix of zeros.
func NewTwofold(rows, cols int) Twofold {
	zeros := func() Matrix { return View(rows, cols, make([]float64, rows*cols)) }
	return Twofold{Hi: zeros(), Lo: zeros(), Err: zeros()}
}
