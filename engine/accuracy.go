package engine

import "github.com/fdridge/fdridge/engine/internal/matrix"

// Accuracy bounds the round-off of the products of a backend:
//
//	type Accuracy struct {
//		Strip        int  // see Dot
//		Sums         int  // see Dot
//		Gradient     int  // see Gradients
//		Added        int  // see below
//		Reproducible bool
//	}
//
// A sum of k products along rows is split in one of two ways. There are fewer than k/Sums strips of at most Strip
// terms, or fewer than Strip parallel sums of at most k/Sums terms. In one call of Gradient, an element of the result
// G has at most Gradient additions in sequence. Reproducible means that the same numbers give the same bits, for any
// number of threads.
//
// Let z be a computed element of a result, and z* = alpha·Σxᵢyᵢ + beta·c its exact value, with k products. Let
// T = |alpha|·Σ|xᵢyᵢ| + |beta·c|. If nothing overflows or underflows, and k is less than 2²⁴,
//
//	|z − z*| ≤ (bound + [Roundings])·eps·T,   eps = 2⁻⁵²,
//
// where the number bound is
//
//	Dot(k) = min(k, Strip)/2 + k/(2·Sums)
//	                                 for products along rows: Gemm(false, true, …),
//	                                 Syrk(false, …), Gram, Gemv(false, …) and the R of
//	                                 Gradient, with c = −b
//	Sum(k) = k/2                     for all other products
//	Gradients() = ⌊(Gradient+1)/2⌋   for the G of Gradient, as a sum of products of the
//	                                 computed R with A over n rows, in a call with at
//	                                 most [Tuning.GradientCall] rows
//	Sum(n)                           for the G of any other call of Gradient
//
// A product may be split into several calls of Gemm, with beta = 0 in the first and alpha = beta = 1 in the others.
// The bound is then the bound for all k terms, because each term has at most one more rounding.
//
// If A has at most Added rows, Syrk(true, 1, A, 1, C) gives the same bits as P = AᵀA by Syrk(true, 1, A, 0, P) and
// then C = C + P. So each element of C is rounded once in the addition. Added is 0 if a backend does not promise this.
//
// Proof: each rounding has an error of at most half an eps of the rounded sum, and no partial sum exceeds T(1 +
// k·eps). So the bound is half the largest number of roundings that follow a product, its own included (N. Higham,
// "Accuracy and Stability of Numerical Algorithms", 2nd ed., 2002, §4.2). If strips are summed one after the other, a
// term has at most min(k, Strip) roundings in its strip, and fewer than k/Sums later. With parallel sums, a term has
// at most k/Sums roundings in its sum, and then fewer than Strip. Package enginetest tests backends with rows whose
// roundings all have the same sign; these come close to the bound.
//
// All elements of a product are sums in the same order, or in one of at most [Orders] orders. If all rows of B are
// equal, a row of ABᵀ has at most Orders different numbers.
//
// Products are summed by additions only. So Gemm, Syrk and Gram with alpha = 1 and beta 0 or 1 are exact if every
// product and every partial sum is a float64.
//
// Accuracy has no bounds for Cholesky, QR, Tridiagonal, SymEig and SVD. Package enginetest measures their residuals.
type Accuracy = matrix.Accuracy

// Roundings is the constant term in every round-off bound of an [Accuracy], in units of 2⁻⁵². The term covers
// second-order terms. For a product alpha·A·B + beta·C, it also covers the multiplication by alpha and the addition
// of beta·C.
const Roundings = matrix.Roundings

// Orders is the largest number of different orders in which one matrix product adds up terms. Each element of the
// product is a sum, and most elements add their terms in the same order. Elements at the edges of blocks may use
// other orders.
const Orders = matrix.Orders

// MaxGradientRows is the largest value that [Tuning.GradientCall] returns.
const MaxGradientRows = matrix.MaxRows
