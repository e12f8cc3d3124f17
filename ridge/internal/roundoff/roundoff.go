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
	// Eps is the distance from 1 to the next float64. Unit is the largest relative error of rounding a number
	// to the nearest float64.
	Eps  = 0x1p-52
	Unit = Eps / 2
	// Underflow is the largest error of a product that underflows.
	Underflow = 0x1p-1074
	// Inflate is a factor by which bounds on round-off are multiplied. It covers the rounding errors in the computation
	// of the bounds themselves.
	Inflate = 1.01
	// Few bounds the round-off of a few operations, in units of Eps. It also bounds the round-off of vec.Dot and
	// vec.Norm, because they use compensated sums.
	Few = 8
)

// Constants for the weighted and centred rows of package rows.
const (
	// MeanPart is the number of rows in a partial sum. The mean of a block of rows is computed from such partial sums.
	MeanPart = 16
	// Let D = √Σw·(row − origin)² for one column of a block, with the weights w and the Origin of rows.Stage. The
	// computed mean of the column has an error of at most MeanOfBlock·Unit·D/√Σw, by Cauchy–Schwarz. MeanOfBlock
	// is the number of additions within a partial sum, plus the number of partial sums, plus 8. These 8 roundings are in
	// differences, products, a quotient and a compensated sum of weights.
	//
	// After the mean is subtracted from the rows, the column has an error of norm at most RowOfBlock·Unit·D. It comes
	// from the error of the mean and from two differences.
	MeanOfBlock = MeanPart + StageRows/MeanPart + 8
	RowOfBlock  = MeanOfBlock + 3
	// StageRows is the largest number of rows in a block of package rows.
	StageRows = 256
	// LostSum is a bound on the underflow error of a product. LostSpread is a bound on the underflow error of w·z², for
	// a weight w ≤ 2⁵⁰⁰ and any number z.
	LostSum    = Underflow
	LostSpread = 0x1p-1020
	// WeightedRow is a bound on the relative error of a row times √w. The square root and the
	// product with it are both rounded.
	WeightedRow = 2 * Eps
)

// Constants for sums over rows.
const (
	// CentredSquares bounds the relative error of the squared norm of a centred sparse row, in units of Eps. For other
	// rows, fd.SquaresError is the bound.
	CentredSquares = 15
	// Sums over all rows, such as AᵀY, are computed in two steps. Plain addition sums each group of SumRows rows.
	// Compensated addition then adds up the groups, so that the error does not grow with the number of rows. Sum is a
	// bound on the round-off of AᵀY, certify.Witness and ‖b‖², in units of Eps.
	SumRows = 32
	Sum     = SumRows/2 + 4
	// With ManyTargets or more targets, AᵀY does not fit into the cache. Groups then have ManyRows instead of SumRows
	// rows, and the bound is SumMany instead of Sum.
	ManyTargets = 512
	ManyRows    = 128
	SumMany     = ManyRows/2 + 4
	// The square of LostResidual bounds the underflow error of a squared entry of Ax − b.
	LostResidual = 0x1p-511
)

// SameRows is the largest accepted difference between the results of two passes over the same rows, for example in
// another order. Only round-off makes such results differ. For products the difference is relative to ‖A‖² or
// ‖A‖·‖Y‖, and for a weight to the weight of all rows.
const SameRows = 1e-9

// The following constants are for passes that multiply vectors by AᵀA. engine.Accuracy covers the sums within one
// call of the backend.
const (
	// A pass adds the results of up to ManyCalls calls of the backend, or of SparseChain sparse rows, in plain
	// arithmetic. It then adds these sums to compensated sums, which take more time.
	ManyCalls   = 8
	SparseChain = 1024
)

// DenseDot returns a bound on the round-off of a product of a dense row with coefficients, in units of Eps. dot
// is the backend's bound for this product (engine.Accuracy.Dot).
func DenseDot(dot float64) float64 { return dot + Few }

// SparseDot returns a bound on the round-off of a product of a sparse row of d features with coefficients, in units of
// Eps. The product is a plain sum over the entries, minus the product of the means with the coefficients.
func SparseDot(d int) float64 {
	return 5*float64(d)/8 + 2*Few
}

// Pass returns a bound on the round-off of the gradient of a pass, in units of Eps. gradient is the number of
// additions in one call of the backend (engine.Accuracy.Gradient). The bound also covers the plain sums over calls and
// the rounding of a product. If sparse is true, some rows may be sparse. For sparse rows, which are not centred, the
// pass also subtracts the means times a sum of residuals.
func Pass(gradient int, sparse bool) float64 {
	chain := gradient + ManyCalls
	if sparse {
		return float64((chain+SparseChain+1)/2 + 8)
	}
	return float64((chain+1)/2 + 4)
}

// The following functions bound the round-off of the normal equations for d features. K = AᵀA and c = AᵀY are sums
// over groups of rows, the folds. H = K + γI is factored as LLᵀ, and Hx = c is solved. The product of each fold is
// computed separately, and the products are added. So an entry of K is computed by a chain of at most
//
//	chain = rows of the longest fold + number of folds
//
// consecutive additions. With the columns aᵢ of A, the error of entry i, j is at most
// chain·Unit·‖aᵢ‖‖aⱼ‖, for any order of additions in the backend.

// GramSum returns a bound on the error of the computed Kᵢⱼ = aᵢᵀaⱼ, in units of Unit·‖aᵢ‖‖aⱼ‖
// for columns aᵢ and aⱼ of A. chain is the number of consecutive additions for an entry of K = AᵀA. The term 1
// covers second-order terms.
func GramSum(chain float64) float64 { return chain + 1 }

// LostSquares is a bound on the underflow error of an entry of AᵀA, which is a sum over fewer than 2³⁴ rows.
// Each row has an underflow error of at most [Underflow].
const LostSquares = 0x1p-1040

// CholeskyFactor returns a bound on element i, j of LLᵀ − H for the exact H = AᵀA + γI, in units of
// Unit·√(HᵢᵢHⱼⱼ). chain is the number of consecutive additions for an entry of AᵀA. The factorisation
// contributes d+1 (N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., theorem 10.3), and γ and
// second-order terms contribute 3.
func CholeskyFactor(chain, d float64) float64 { return chain + d + 4 }

// CholeskyPivot bounds how large round-off can make the square of a pivot that is exactly 0. The bound for pivot i is
// in units of Unit·Kᵢᵢ for K = AᵀA. chain is the number of consecutive additions for an entry of K.
func CholeskyPivot(chain, d float64) float64 { return chain + d + 3 }

// CholeskyResidual returns a bound on the error of component i of the computed c − Kx − γx, without the error of
// γx ([GammaResidual]). The bound is in units of Unit·‖aᵢ‖·(‖b‖ + Σ‖aⱼ‖|xⱼ|), for K = AᵀA,
// c = Aᵀb and columns aⱼ of A. chain is the number of consecutive additions for an entry of K.
func CholeskyResidual(chain, d float64) float64 { return chain + d + 3 }

// GammaResidual returns a bound on the error that γx adds to component i of the computed c − Kx − γx, in units
// of Unit·γ|xᵢ|. d is the number of columns.
func GammaResidual(d float64) float64 { return d + 3 }

// CholeskyRSS returns a bound on the error of the computed ‖b‖² − 2cᵀx + xᵀKx. The bound is in units of
// Unit·(‖b‖ + Σ‖aⱼ‖|xⱼ|)², for K = AᵀA, c = Aᵀb and columns aⱼ of A. chain is the number of
// consecutive additions for an entry of K. The proof is in docs/math.md §14 ("Residuals of a direct method").
func CholeskyRSS(chain, d float64) float64 { return 2*chain + 2*d + 12 }

// GammaRSS returns a bound on the error that the term γ‖x‖² adds to the sum in [CholeskyRSS], in units of
// Unit·γ‖x‖². The term appears because Kx is computed as c − γx − r, with the residual r of
// (K + γI)x = c.
func GammaRSS(d float64) float64 { return 2*d + 8 }

// Constants of a fold of the streamed QR.
const (
	PanelColumns = 16 // number of columns in a panel, which are reduced one by one
	StripRows    = 64 // number of rows whose products are added in plain arithmetic
)

// QRFold returns a bound on the backward error of one fold of the streamed QR. A fold factors a triangle of q columns
// stacked on new rows, and the argument rows is the number of new rows. The bound for a column is in units of Unit
// times the norm of the column. motion is the sum of 2 − τ over the reflections I − τ·vvᵀ. The proof is in
// docs/math.md §14.
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

// LostFold returns a bound on the norm of the underflow error in a column of a fold, see [QRFold].
func LostFold(q, rows float64) float64 {
	return 8 * q * (q + rows) * Underflow
}

// QRSolve returns a bound on the backward error of solving with a triangular factor of q columns, and of evaluating
// Ax − b. The bound for a column is in units of Unit times the norm of the column.
func QRSolve(q float64) float64 { return 2 * (q + 4) }

// QRPivot returns the largest pivot that counts as zero, in units of Unit times the norm of its column. It only
// decides when a column counts as dependent; no error bound depends on it.
func QRPivot(q, longestFold, folds float64) float64 {
	return 4*(q+4) + longestFold*folds
}

// SeminormalResidual returns a bound on the error of component i of the computed negative gradient
// Rᵀ(z − Rx) − γx, where R is the triangular factor and z belongs to the target. The bound is in units of
// Unit·(‖aᵢ‖‖z − Rx‖ + γ|xᵢ|), where aᵢ is a column of A. It covers an inner product of length d and
// a few operations.
func SeminormalResidual(d float64) float64 { return d + 3 }
