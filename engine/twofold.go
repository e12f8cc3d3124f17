package engine

import "github.com/fdridge/fdridge/engine/internal/matrix"

// A Twofold is a matrix of sums that are kept as two numbers each, what they round to and
// what that leaves, with bounds of their errors:
//
//	type Twofold struct{ Hi, Lo, Err Matrix }
//
// The exact value of an element is within Err of Hi + Lo, and |Lo| is at most half an ulp
// of Hi. Where a sum overflows, or is none, Err is not finite.
//
// What [Backend.GradientTwofold] adds to G is (W·R)ᵀ·A for the R that it returns, Hi + Lo, and
// the Err of G is about that. What R itself is off by, at most its Err, is up to the caller: for
// columns that are far from zero it does less to the solution than Σ|w_i·a_ij|·Err_i says.
//
// What [Backend.GradientTwofold] adds to Err follows from the scales s of up to 32 rows
// and c of columns that it finds in A, |a_ij| ≤ s_i·c_j. With u = 2⁻⁵³, and products
// along rows taken in strips of at most 512 columns:
//
//   - A sum that begins with a base between 2ᵏ and 2ᵏ⁺¹, 2ᵏ at most 4 times the terms'
//     magnitudes M = s_i·Σc_j|x_j|, loses at most u2ᵏ in each addition, and of these
//     losses, which are added up beside it in four to sixteen sums of n/4 terms at most, u of
//     what they have come to: n·(3/2 + n/8 + 16)·u²·4M < n(70 + n/2)u²M for a strip of n
//     columns. S strips, −b and c are added without a loss but for u of the low parts, which
//     are no more than (4n + S + 2)u(M + |b| + |c|), in 2(S + 2) additions.
//   - So is a strip's part of G, with M = c_j·Σs_i|w_i·r_i|: R rows, one after the other, of
//     two losses each, come to (R + 4R²)u²·4M, and weighting R to 2⁻¹⁰³·M. Strips and parts are
//     added without a loss but for four roundings of the low parts, which are in Err as they are.
//
// Magnitudes that underflow count for 2⁻¹⁰⁶⁴ before they are multiplied by a scale. Twice that is taken. For 512 columns it is 2⁻⁸⁷ of the magnitudes, for ten 2⁻⁹⁵.
// Where magnitudes of entries are near the products of such scales, Err is of the order
// of that; a sparse row has scales of its own.
type Twofold = matrix.Twofold
