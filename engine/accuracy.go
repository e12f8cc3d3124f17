package engine

import "github.com/fdridge/fdridge/engine/internal/accuracy"

// Accuracy is what a backend promises of the round-off of its operations:
//
//	type Accuracy struct {
//		Strip    int // terms of a product along rows that go one after the other into a sum, at most,
//		Sums     int // or of how many sums side by side such a product is made, at least
//		Gradient int // additions an element of G goes through in one call, at most
//		// whether an operation on the same numbers has the same bits each time, however many
//		// threads there are
//		Reproducible bool
//	}
//
// Let z be an element of the result as computed, z* the exact value of the same formula
// alpha·Σxᵢyᵢ + beta·c for the k products of its row and column, and
// T = |alpha|·Σ|xᵢyᵢ| + |beta·c|. Where nothing overflows or underflows, and k is less
// than 2²⁴,
//
//	|z − z*| ≤ (bound + [Roundings])·eps·T,   eps = 2⁻⁵²,
//
// whatever the numbers are, with the bound of
//
//	Dot(k) = min(k, Strip)/2 + k/(2·Sums)
//	                                 products along rows: Gemm(false, true, …), Syrk(false, …),
//	                                 Gram, Gemv(false, …) and the R of Gradient, c being −b
//	Sum(k) = k/2                     all other products
//	Gradients() = ⌊(Gradient+1)/2⌋   the G of Gradient as a sum over the n rows of the
//	                                 products of R, as it is stored, with A; for a call of
//	                                 no more than [Tuning.GradientCall] rows
//	Sum(n)                           and for any other
//
// A product that Gemm adds up in several calls, beta = 0 in the first and alpha = beta = 1 in the
// others, counts as one of all their terms: there are no more roundings on the way of a term, but
// for one.
//
// Each rounding is off by at most half an eps of what is rounded, and no partial sum
// exceeds T(1 + k·eps): so the bound is half the number of roundings that the longest way
// of a product into the sum meets, its own included (N. Higham, "Accuracy and Stability
// of Numerical Algorithms", 2nd ed., 2002, §4.2). Where strips of columns are added up each
// by itself, a strip has at most min(k, Strip) roundings and there are fewer than k/Sums
// strips. Where several sums are kept side by side, each has at most k/Sums roundings and
// there are fewer than Strip sums. Rows whose roundings all go the same way come close to
// the bound: package enginetest holds backends to it with such rows.
//
// Products are summed by additions alone. So Gemm, Syrk and Gram are exact, with alpha = 1 and beta 0
// or 1, if each product and each sum of some of the terms is a float64.
//
// What Cholesky, QR, Tridiagonal, SymEig and SVD make of round-off is not bounded here; enginetest
// measures their residuals.
type Accuracy = accuracy.Accuracy

// Roundings is how many eps are added to every bound of an [Accuracy]: for alpha and
// beta, for what is added to beta·C, and for terms of second order.
const Roundings = accuracy.Roundings

// MaxGradientRows is the most that [Tuning.GradientCall] returns.
const MaxGradientRows = accuracy.MaxRows
