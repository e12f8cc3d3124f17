// Package roundoff defines the constants with which certificates bound round-off, and says how they are derived. The
// constants of a backend are in engine.Accuracy. The errors of eigenvectors and of reductions to tridiagonal form have
// no such constants; they are measured after the computation (fd/measure.go, ridge/internal/direct/defect.go).
//
// A sum of n products, in any order, has an error of at most n·eps/2 times the sum of the magnitudes. If rows repeat,
// the error comes close to this bound, because all rounding errors have the same sign.
//
// So a factor in units of eps is half the largest number of consecutive additions for a result, plus a few for the
// operations around the sum. Factors for factorisations are in units of Unit = eps/2, and so contain the whole number
// of additions.
//
// The operations that evaluate a bound round, too. They are counted where they occur, as in the factor (1+16·eps).
// The same holds for GCV, R² and predictions.
package roundoff

import "math"

const (
	// Eps is the distance from 1 to the next float64. Unit is the largest relative error of rounding a number to the
	// nearest float64, apart from overflow and underflow.
	Eps  = 0x1p-52
	Unit = Eps / 2
	// Underflow is the largest error of a product that underflows.
	Underflow = 0x1p-1074
	// Inflate is a factor by which bounds on round-off are multiplied. It covers the rounding errors that computing the
	// bounds themselves causes.
	Inflate = 1.01
	// Few bounds the round-off of a few operations, in units of Eps. It is also enough for vec.Dot and vec.Norm with
	// vectors of any length, because these use compensated sums.
	Few = 8
)

// These constants are for rows that package rows has centred and multiplied by the square roots of their weights.
const (
	// MeanPart is the number of rows in a partial sum. Package rows computes the mean of a block of rows from such
	// partial sums.
	MeanPart = 16
	// MeanOfBlock and RowOfBlock are for one column of a block of rows. Let a be an element of the column, w the
	// weight of its row, and o the column's element of rows.Stage.Origin. Let D = √Σw(a − o)². The computed mean of
	// the column has an error of at most MeanOfBlock·Unit·D/√Σw, by Cauchy–Schwarz. MeanOfBlock is the number of
	// additions within a partial sum, plus the number of partial sums, plus 8. These 8 roundings are in
	// differences, products, a quotient and a compensated sum of weights.
	//
	// After the mean is subtracted, the column has an error with a norm of at most RowOfBlock·Unit·D. It comes from the
	// error of the mean and from two differences.
	MeanOfBlock = MeanPart + StageRows/MeanPart + 8
	RowOfBlock  = MeanOfBlock + 3
	// StageRows is the largest number of rows that package rows prepares together, as one block.
	StageRows = 256
	// LostSum bounds the underflow error of a product. LostSpread bounds the underflow error of w·z² for a weight
	// w ≤ 2⁵⁰⁰ and any number z.
	LostSum    = Underflow
	LostSpread = 0x1p-1020
	// WeightedRow bounds the relative error of a row that was multiplied by the square root of its weight. The square
	// root and the product are both rounded.
	WeightedRow = 2 * Eps
)

// Constants for sums over rows.
const (
	// CentredSquares bounds the relative error of the squared norm of a centred sparse row, in units of Eps. For all
	// other rows, fd.SquaresError bounds this error.
	CentredSquares = 15
	// Sum bounds the round-off of AᵀY, certify.Witness and ‖b‖² for a target b, in units of Eps. Such a sum over
	// all rows is computed in two steps. Plain addition sums each group of SumRows rows. Compensated addition then
	// adds up the groups, so that the error does not grow with the number of rows.
	SumRows = 32
	Sum     = SumRows/2 + 4
	// With at least ManyTargets targets Y, the product AᵀY does not fit into the cache. Groups then have ManyRows
	// rows instead of SumRows, and the bound on the round-off is SumMany instead of Sum.
	ManyTargets = 512
	ManyRows    = 128
	SumMany     = ManyRows/2 + 4
	// LostResidual is a number whose square bounds the underflow error of a squared entry of a residual Ax − b.
	LostResidual = 0x1p-511
)

// SameRows is the largest accepted difference between the results of two passes over the same rows, for example in
// another order. Only round-off makes such results differ. For a product, the difference is relative to ‖A‖² or
// ‖A‖·‖Y‖, for features A and targets Y. For a weight, it is relative to the weight of all rows.
const SameRows = 1e-9

// These constants are for passes that multiply vectors by AᵀA. The bounds for the sums within one call of the
// backend are in engine.Accuracy.
const (
	// ManyCalls and SparseChain limit how many results a pass adds in plain arithmetic. The results come from at most
	// ManyCalls calls of the backend, or from at most SparseChain sparse rows. The pass then adds the plain sums to
	// compensated sums, which take more time.
	ManyCalls   = 8
	SparseChain = 1024
)

// DenseDot bounds the round-off of the product of a dense row with coefficients, in units of Eps. dot is the
// backend's bound for the product alone (engine.Accuracy.Dot).
func DenseDot(dot float64) float64 { return dot + Few }

// SparseDot bounds the round-off of the product of a centred sparse row of d features with coefficients, in units
// of Eps. The product is a plain sum over the entries, minus the product of the means with the coefficients.
func SparseDot(d int) float64 {
	return 5*float64(d)/8 + 2*Few
}

// Pass bounds the round-off of the gradient that a pass computes, in units of Eps. gradient is the number of
// additions in one call of the backend (engine.Accuracy.Gradient). The bound also covers the plain sums over calls
// and the rounding of a product. If sparse is true, some rows may be sparse. Sparse rows are not centred. For them
// the pass also subtracts the means times a sum of residuals, which the bound then covers.
func Pass(gradient int, sparse bool) float64 {
	chain := gradient + ManyCalls
	if sparse {
		return float64((chain+SparseChain+1)/2 + 8)
	}
	return float64((chain+1)/2 + 4)
}

// The following functions bound the round-off of solving the normal equations (K + γI)x = c for d features A and
// targets Y. K = AᵀA and c = AᵀY are sums over groups of rows, the folds. H = K + γI is factored as LLᵀ. The
// product of each fold is computed separately, and the products are added. Hence an entry of K is computed by a
// chain of at most
//
//	chain = rows of the longest fold + number of folds
//
// consecutive additions. With the columns aᵢ of A, the error of entry (i, j) is at most
// chain·Unit·‖aᵢ‖‖aⱼ‖, for any order of additions in the backend.

// GramSum bounds the error of a computed element aᵢᵀaⱼ of AᵀA, in units of Unit·‖aᵢ‖‖aⱼ‖ for
// columns aᵢ and aⱼ of A. chain is the number of consecutive additions for an element. The added 1 covers
// second-order terms.
func GramSum(chain float64) float64 { return chain + 1 }

// LostSquares bounds the underflow error of an element of AᵀA, which is a sum over fewer than 2³⁴ rows. Each row
// adds an underflow error of at most [Underflow].
const LostSquares = 0x1p-1040

// CholeskyFactor bounds the error of a computed Cholesky factorisation LLᵀ of H = AᵀA + γI, for d features A and
// the penalty γ. The bound for element (i, j) of LLᵀ − H is in units of Unit·√(Hᵢᵢ·Hⱼⱼ), where Unit is
// the rounding unit. The argument chain is the number of consecutive additions for an element of AᵀA. The
// factorisation contributes d+1 (N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., theorem 10.3).
// The addition of γ and second-order terms contribute 3.
func CholeskyFactor(chain, d float64) float64 { return chain + d + 4 }

// CholeskyPivot bounds the square of a computed pivot that is 0 in exact arithmetic. It is for the Cholesky
// factorisation of K = AᵀA with d features A. The bound for pivot i is in units of Unit·Kᵢᵢ, where Unit is the
// rounding unit. The argument chain is the number of consecutive additions for an element of K.
func CholeskyPivot(chain, d float64) float64 { return chain + d + 3 }

// CholeskyResidual bounds the error of element i of the computed residual c − Kx − γx, for d features A, a target
// b, the penalty γ and coefficients x. Here K = AᵀA and c = Aᵀb. The bound is in units of
// Unit·‖aᵢ‖·(‖b‖ + Σ‖aⱼ‖|xⱼ|), where Unit is the rounding unit and aⱼ are the columns of A. It
// does not include the error of γx; see [GammaResidual]. The argument chain is the number of consecutive additions
// for an element of K.
func CholeskyResidual(chain, d float64) float64 { return chain + d + 3 }

// GammaResidual bounds a part of the error of element i of the computed residual AᵀY − AᵀAx − γx, for d
// features A, a target Y, the penalty γ and coefficients x. It is the part that the term γx causes, in units of
// Unit·γ|xᵢ|, where Unit is the rounding unit. [CholeskyResidual] bounds the rest of the error.
func GammaResidual(d float64) float64 { return d + 3 }

// CholeskyRSS bounds the error of a computed sum of squared residuals, for d features A, a target b and
// coefficients x. The sum is computed as ‖b‖² − 2cᵀx + xᵀKx, where K is AᵀA and c is Aᵀb. The bound is
// in units of Unit·(‖b‖ + Σ‖aⱼ‖|xⱼ|)², where Unit is the rounding unit and aⱼ are the columns of A.
// The argument chain is the number of consecutive additions for an element of AᵀA. The proof is in docs/math.md §14
// ("Residuals of a direct method").
func CholeskyRSS(chain, d float64) float64 { return 2*chain + 2*d + 12 }

// GammaRSS bounds a part of the error of the sum of squared residuals that [CholeskyRSS] describes. In this sum,
// the product AᵀAx is computed as c − γx − r. Here A has the d features, x are the coefficients, γ is the
// penalty, c is Aᵀb for the target b, and r is the residual of (AᵀA + γI)x = c. So the sum has a term γ‖x‖².
// GammaRSS bounds the error that this term causes, in units of Unit·γ‖x‖², where Unit is the rounding unit.
func GammaRSS(d float64) float64 { return 2*d + 8 }

// Constants of a fold of the streamed QR.
const (
	PanelColumns = 16 // number of columns in a panel, which are reduced one by one
	StripRows    = 64 // number of rows whose products are added in plain arithmetic
)

// QRFold bounds the backward error of one fold of the streamed QR factorisation. A fold factors a triangle of q
// columns stacked on new rows. The argument rows is the number of these new rows. The bound for a column is in
// units of Unit times the norm of the column. The argument motion is the sum of 2 − τ over the reflections I −
// τ·vvᵀ of the fold. The proof is in docs/math.md §14.
func QRFold(q, rows, motion float64) float64 {
	w := math.Min(q, PanelColumns)
	panels := math.Ceil(q / PanelColumns)
	s := motion + 100*q*Unit // the exact τ may be slightly smaller
	root := math.Sqrt(s)
	product, reflectors := 18., 25.
	if panels > 1 {
		inPanel := math.Min(s, w)
		product = StripRows + 5 + math.Ceil(rows/StripRows)
		reflectors += 12*inPanel + (w+1)*(1+inPanel/math.Sqrt2)
	}
	return 4*reflectors +
		2*product*(math.Sqrt2+root) +
		(w+4)*(panels+1) +
		2*(w+6)*root +
		45
}

// LostFold bounds the norm of the underflow error in a column of a fold of the streamed QR factorisation. The
// argument q is the number of columns and rows the number of new rows, see [QRFold].
func LostFold(q, rows float64) float64 {
	return 8 * q * (q + rows) * Underflow
}

// QRSolve bounds the backward error of solving with a triangular factor of q columns and of evaluating the residual
// Ax − b. The bound for a column is in units of Unit times the norm of the column.
func QRSolve(q float64) float64 { return 2 * (q + 4) }

// QRPivot returns the largest pivot that counts as zero, in units of Unit times the norm of its column. It only
// decides whether a column counts as dependent on others. No error bound depends on it.
func QRPivot(q, longestFold, folds float64) float64 {
	return 4*(q+4) + longestFold*folds
}

// SeminormalResidual bounds the error of element i of the computed negative gradient Rᵀ(z − Rx) − γx. Here R is
// the triangular factor of d features A. z has the first d elements of the target's column in the factor of [A Y].
// The bound is in units of Unit·(‖aᵢ‖‖z − Rx‖ + γ|xᵢ|), where aᵢ is column i of A. It covers an inner
// product of length d and a few operations.
func SeminormalResidual(d float64) float64 { return d + 3 }
