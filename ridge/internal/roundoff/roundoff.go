// Package roundoff defines the constants of the round-off terms in certificates, with their derivations. The
// constants of a backend are in engine.Accuracy. The errors of eigenvectors and of reductions to tridiagonal
// form are measured when they are computed (fd/measure.go, ridge/internal/direct/defect.go).
//
// A sum of n products, in any order, has an error of at most n·eps/2 times the sum of the magnitudes.
// Repeated rows come close to this bound, because all their rounding errors have the same sign.
//
// Hence a factor in units of eps is half the largest number of additions in sequence for an entry, plus a few
// for the operations around the sum. Factors of factorisations are in units of Unit = eps/2, and contain the
// whole number.
//
// Operations that evaluate a bound are counted where they occur, as in (1+16·eps). The same holds for GCV, R²
// and predictions.
package roundoff

import "math"

const (
	// Eps is the distance from 1 to the next float64. Unit is the largest relative error of rounding a number
	// to the nearest float64.
	Eps  = 0x1p-52
	Unit = Eps / 2
	// Underflow is the largest error of a product that underflows.
	Underflow = 0x1p-1074
	// Inflate is a factor for bounds on round-off. It covers the rounding errors in the computation of the
	// bounds.
	Inflate = 1.01
	// Few is a bound on the round-off of a few operations, in units of Eps. vec.Dot and vec.Norm have at most
	// this round-off, because they use compensated sums.
	Few = 8
)

// Constants for the weighted and centred rows of package rows.
const (
	// The mean of a block of rows is computed from partial sums of MeanPart rows each.
	MeanPart = 16
	// Let D = √Σw·(row − origin)² for one column of a block, with the Origin of rows.Stage. The computed mean
	// of the column has an error of at most MeanOfBlock·Unit·D/√Σw, by Cauchy–Schwarz. MeanOfBlock is the
	// number of additions within a partial sum, plus the number of partial sums, plus 8. These 8 roundings are
	// in differences, products, a quotient and a compensated sum of weights.
	//
	// If the mean is subtracted from the rows, the result has an error of norm at most RowOfBlock·Unit·D. This
	// error comes from the error of the mean and from two differences.
	MeanOfBlock = MeanPart + StageRows/MeanPart + 8
	RowOfBlock  = MeanOfBlock + 3
	// StageRows is the largest number of rows in a block of package rows.
	StageRows = 256
	// LostSum is a bound on the underflow error of a product. LostSpread is a bound on the underflow error of
	// w·z² for a weight w ≤ 2⁵⁰⁰.
	LostSum    = Underflow
	LostSpread = 0x1p-1020
	// WeightedRow is a bound on the relative error of a row times √w. The root and the product are rounded.
	WeightedRow = 2 * Eps
)

// Constants for sums over rows.
const (
	// CentredSquares replaces fd.SquaresError for a centred sparse row. It bounds the relative error of the
	// squared norm, in units of Eps.
	CentredSquares = 15
	// Sums over all rows, such as AᵀY, are computed in two steps. Ordinary addition sums each group of SumRows
	// rows. Compensated addition then sums the groups, so that the error does not grow with the number of rows.
	// Sum is a bound on the round-off of AᵀY, certify.Witness and ‖b‖², in units of Eps.
	SumRows = 32
	Sum     = SumRows/2 + 4
	// With ManyTargets or more targets, AᵀY does not fit into the cache. ManyRows then replaces SumRows, and
	// SumMany replaces Sum.
	ManyTargets = 512
	ManyRows    = 128
	SumMany     = ManyRows/2 + 4
	// The square of LostResidual bounds the underflow error of a squared entry of Ax − b.
	LostResidual = 0x1p-511
)

// SameRows is the tolerance for the difference between the results of two passes over the same rows. The
// results may differ by round-off, and the order of the rows may differ. For products the difference is
// relative to ‖A‖² or ‖A‖·‖Y‖. For a weight it is relative to the weight of all rows.
const SameRows = 1e-9

// Constants for passes. engine.Accuracy covers the sums within one call of the backend.
const (
	// A pass adds the results of ManyCalls calls of the backend, or of SparseChain sparse rows, in plain
	// arithmetic. It then adds these sums to compensated sums, which take more time.
	ManyCalls   = 8
	SparseChain = 1024
)

// DenseDot returns a bound on the round-off of a product of a dense row with coefficients, in units of Eps. dot
// is the backend's bound for this product (engine.Accuracy.Dot).
func DenseDot(dot float64) float64 { return dot + Few }

// SparseDot returns a bound on the round-off of a product of a sparse row of d features with coefficients, in
// units of Eps. The product is one plain sum, minus the product of the means with the coefficients.
func SparseDot(d int) float64 { return 5*float64(d)/8 + 2*Few }

// Pass returns a bound on the round-off of the gradient of a pass, in units of Eps. gradient is the number of
// additions in one call of the backend (engine.Accuracy.Gradient). The bound also covers the plain sums over
// calls and the rounding of a product. If sparse is true, some rows may be sparse. The pass then also subtracts
// the means times a sum of residuals.
func Pass(gradient int, sparse bool) float64 {
	chain := gradient + ManyCalls
	if sparse {
		return float64((chain+SparseChain+1)/2 + 8)
	}
	return float64((chain+1)/2 + 4)
}

// The following functions bound the round-off of the normal equations for d features. K = AᵀA and c = AᵀY are
// sums over groups of rows, the folds. H = K + γI is factored as LLᵀ, and Hx = c is solved. The products of
// each fold are formed separately and then added. So an entry of K is computed by a chain of at most
//
//	chain = rows of the longest fold + number of folds
//
// additions. With the columns aᵢ of A, its error is at most chain·Unit·‖aᵢ‖‖aⱼ‖, for any order of
// additions in the backend.

// GramSum returns a bound on the error of the computed Kᵢⱼ = aᵢᵀaⱼ, in units of Unit·‖aᵢ‖‖aⱼ‖
// for columns aᵢ and aⱼ of A. chain is the number of additions in sequence for an entry of K. One is added for
// second-order terms.
func GramSum(chain float64) float64 { return chain + 1 }

// LostSquares is a bound on the underflow error of an entry of AᵀA, which is a sum over fewer than 2³⁴ rows.
// Each row has an underflow error of at most [Underflow].
const LostSquares = 0x1p-1040

// CholeskyFactor returns a bound on element i, j of LLᵀ − H for the exact H = AᵀA + γI, in units of
// Unit·√(HᵢᵢHⱼⱼ). chain is the number of additions in sequence for an entry of AᵀA. The factorisation
// adds d+1 (N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., theorem 10.3). γ and second-order
// terms add three.
func CholeskyFactor(chain, d float64) float64 { return chain + d + 4 }

// CholeskyPivot returns a bound on the square of a pivot that would be 0 without round-off. The bound on pivot
// i is in units of Unit·Kᵢᵢ for K = AᵀA. chain is the number of additions in sequence for an entry of K.
func CholeskyPivot(chain, d float64) float64 { return chain + d + 3 }

// CholeskyResidual returns a bound on the error of component i of the computed c − Kx − γx, except for the error
// of γx. The bound is in units of Unit·‖aᵢ‖·(‖b‖ + Σ‖aⱼ‖|xⱼ|), for K = AᵀA, c = Aᵀb and
// columns aⱼ of A. chain is the number of additions in sequence for an entry of K.
func CholeskyResidual(chain, d float64) float64 { return chain + d + 3 }

// GammaResidual returns a bound on the error of γx in [CholeskyResidual], in units of Unit·γ|xᵢ| for d columns.
func GammaResidual(d float64) float64 { return d + 3 }

// CholeskyRSS returns a bound on the error of the computed ‖b‖² − 2cᵀx + xᵀKx. The bound is in units of
// Unit·(‖b‖ + Σ‖aⱼ‖|xⱼ|)², for K = AᵀA, c = Aᵀb and columns aⱼ of A. chain is the number of
// additions in sequence for an entry of K. The proof is in docs/math.md §14 ("Residuals of a direct method").
func CholeskyRSS(chain, d float64) float64 { return 2*chain + 2*d + 12 }

// GammaRSS returns a bound on the error that γxᵀx adds to the sum in [CholeskyRSS], in units of Unit·γ‖x‖².
func GammaRSS(d float64) float64 { return 2*d + 8 }

// Constants of a fold of the streamed QR.
const (
	PanelColumns = 16 // number of columns that are reduced one by one
	StripRows    = 64 // number of rows whose products are added plainly
)

// QRFold returns a bound on the backward error of one fold of the streamed QR. A fold factors a triangle of q
// columns that is stacked on other rows, and the argument rows is the number of these other rows. The bound is
// in units of Unit times the norm of each column. motion is the sum of 2 − τ over the reflections I − τ·vvᵀ.
// The proof is in docs/math.md §14.
func QRFold(q, rows, motion float64) float64 {
	w, panels := math.Min(q, PanelColumns), math.Ceil(q/PanelColumns)
	s := motion + 100*q*Unit // the exact τ may be slightly smaller
	root := math.Sqrt(s)
	product, reflectors := 18., 25.
	if panels > 1 {
		inPanel := math.Min(s, w)
		product = StripRows + 5 + math.Ceil(rows/StripRows)
		reflectors += 12*inPanel + (w+1)*(1+inPanel/math.Sqrt2)
	}
	return 4*reflectors + 2*product*(math.Sqrt2+root) + (w+4)*(panels+1) + 2*(w+6)*root + 45
}

// LostFold returns a bound on the underflow error in each column of a fold (see [QRFold]).
func LostFold(q, rows float64) float64 { return 8 * q * (q + rows) * Underflow }

// QRSolve returns a bound on the backward error of solving with a triangular factor of q columns, and of
// evaluating Ax − b. The bound is in units of Unit times the norm of each column.
func QRSolve(q float64) float64 { return 2 * (q + 4) }

// QRPivot returns the largest pivot that counts as zero, in units of Unit times the norm of its column. No
// error bound depends on it.
func QRPivot(q, longestFold, folds float64) float64 { return 4*(q+4) + longestFold*folds }

// SeminormalResidual returns a bound on the error of component i of Rᵀ(z − Rx) − γx. This is the negative
// gradient, computed with the triangular factor R. The bound is in units of Unit·(‖aᵢ‖‖z − Rx‖ +
// γ|xᵢ|), where aᵢ is a column of A. It covers an inner product of length d and a few operations.
func SeminormalResidual(d float64) float64 { return d + 3 }
