// Package roundoff has the constants that the round-off terms of certificates are made of and
// that are more than a few operations, each with what it follows from. Those of a backend are
// in engine.Accuracy: it promises them. Eigenvectors, and reductions to tridiagonal form, are
// measured when they are made (fd/measure.go, ridge/internal/direct/defect.go).
//
// A sum of n products, in whatever order, is off by at most n·eps/2 of the sum of their
// magnitudes, and rows that are repeated come close to that: all their roundings go the
// same way. So a factor, in units of eps, is half the longest chain of additions that an
// entry is the end of, and a little for the operations around it. The factors of
// factorisations are in units of Unit = eps/2, so that the chain counts in full. The few
// operations of evaluating a bound are counted there, as in (1+16·eps), and so are those of
// GCV, R² and predictions.
package roundoff

import "math"

const (
	// Eps is the distance from 1 to the next float64, Unit what rounding a number to
	// the nearest puts it off by at most, relatively.
	Eps  = 0x1p-52
	Unit = Eps / 2
	// Underflow is what one product may lose to underflow.
	Underflow = 0x1p-1074
	// Inflate is what bounds on round-off are multiplied by, for their own rounding.
	Inflate = 1.01
	// Few is the factor for a few operations, vec.Dot and vec.Norm.
	Few = 8
)

// Of rows as they are staged, see package rows.
const (
	// MeanPart is how many rows of a block are summed one after another for its mean.
	MeanPart = 16
	// With D = √Σw·(row − origin)² of a column of a block, its mean is off by no more than
	// MeanOfBlock·Unit·D/√Σw, by Cauchy and Schwarz: its sum is one of sums of MeanPart
	// rows, and differences, products, a quotient and a compensated sum of weights count
	// for 8 more. The rows, less their mean, are off by RowOfBlock·Unit·D in norm: that of
	// the mean, and two differences.
	MeanOfBlock = MeanPart + StageRows/MeanPart + 8
	RowOfBlock  = MeanOfBlock + 3
	// StageRows is the most rows that are staged at a time.
	StageRows = 256
	// LostSum is what a product loses at most to underflow, LostSpread what w·z² does, for
	// w ≤ 2⁵⁰⁰.
	LostSum    = Underflow
	LostSpread = 0x1p-1020
	// WeightedRow is for a root and a product: a row times √w.
	WeightedRow = 2 * Eps
)

// Of sums over rows.
const (
	// SumRows is how many rows are summed plainly for c and the witness before their sum is
	// added with compensation: the error grows with SumRows, not with n. Sum is the factor
	// for c and the witness, and for ‖b‖².
	SumRows = 32
	Sum     = SumRows/2 + 4
	// LostResidual squared is what the square of an entry of Ax − b loses at most to
	// underflow.
	LostResidual = 0x1p-511
)

// SameRows is how far, relative to what they are sums of, numbers that two passes have found may
// be apart and still be of the same rows: ‖A‖² or ‖A‖·‖Y‖ for products, Σw for a weight. Other
// rows differ by more; the same rows in another order differ by round-off only.
const SameRows = 1e-9

// Of passes. What a call of the backend sums is its own promise, engine.Accuracy.
const (
	// A pass adds up plainly the sums of ManyCalls calls, or SparseChain sparse rows, before
	// it adds that to compensated sums, which cost more.
	ManyCalls   = 8
	SparseChain = 1024
)

// DenseDot is the factor for the product of a dense row with weights, for which a backend
// promises dot (engine.Accuracy.Dot).
func DenseDot(dot float64) float64 { return dot + Few }

// SparseDot is the factor for that of a sparse row of d features, which is one plain sum, less
// the share of the mean.
func SparseDot(d int) float64 { return 5*float64(d)/8 + 2*Few }

// Pass is the factor for the gradient of a pass of dense rows: what a call of the backend
// adds up, for which it promises a chain of gradient (engine.Accuracy.Gradient), what the
// plain sums of calls do, and a product's own rounding. Sparse rows may come after dense
// ones, and the mean's share is taken off from theirs.
func Pass(gradient int, sparse bool) float64 {
	chain := gradient + ManyCalls
	if sparse {
		return float64((chain+SparseChain+1)/2 + 8)
	}
	return float64((chain+1)/2 + 4)
}

// Of the normal equations, for d features: K and c are summed in folds of rows, H = K + γI
// is factored as LLᵀ, and Hx = c solved. Each fold's products are formed apart and then
// added, so that an entry is the end of a chain of at most
//
//	chain = rows of the longest fold + number of folds
//
// additions, and off by chain·Unit·‖aᵢ‖‖aⱼ‖, whatever the backend does inside.

// GramSum bounds the error of Kᵢⱼ as it is summed, in units of Unit·‖aᵢ‖‖aⱼ‖: the chain, and one
// for what is of second order.
func GramSum(chain float64) float64 { return chain + 1 }

// LostSquares is what an entry of K, a sum over fewer than 2³⁴ rows, loses to underflow:
// [Underflow] for each row.
const LostSquares = 0x1p-1040

// CholeskyFactor bounds |LLᵀ − H|ᵢⱼ, H without round-off, in units of Unit·√(HᵢᵢHⱼⱼ): the
// chain, d+1 of the factorisation (N. Higham, Accuracy and Stability of Numerical
// Algorithms, 2nd ed., theorem 10.3), and three for γ and for what is of second order.
func CholeskyFactor(chain, d float64) float64 { return chain + d + 4 }

// CholeskyPivot is what the square of a pivot of K itself may be, in units of Unit·Kᵢᵢ, where
// column i depends on those before it.
func CholeskyPivot(chain, d float64) float64 { return chain + d + 3 }

// CholeskyResidual bounds the error of Kx and c in component i of c − Kx − γx as computed,
// in units of Unit·‖aᵢ‖·(‖b‖ + Σ‖aⱼ‖|xⱼ|): chain of the sums and d+3 of the product.
func CholeskyResidual(chain, d float64) float64 { return chain + d + 3 }

// GammaResidual bounds that of γx there, in units of Unit·γ|xᵢ|.
func GammaResidual(d float64) float64 { return d + 3 }

// CholeskyRSS bounds the error of ‖b‖² − 2cᵀx + xᵀKx as computed, with Kx = c − γx − r, in
// units of Unit·(‖b‖ + Σ‖aⱼ‖|xⱼ|)²: twice that of the sums and of a product.
func CholeskyRSS(chain, d float64) float64 { return 2*chain + 2*d + 12 }

// GammaRSS bounds that of γxᵀx there, in units of Unit·γ‖x‖².
func GammaRSS(d float64) float64 { return 2*d + 8 }

// Of a fold of the streamed QR.
const (
	PanelColumns = 16 // are reduced one by one
	StripRows    = 64 // rows whose products are summed plainly
)

// QRFold bounds the backward error of one fold of the streamed QR, which puts rows below a triangle
// of q columns and factors both. The bound is in units of Unit times the norm of each column. motion
// is Σ(2 − τ) over the reflections I − τ·vvᵀ. docs/math.md §14 has the proof.
func QRFold(q, rows, motion float64) float64 {
	w, panels := math.Min(q, PanelColumns), math.Ceil(q/PanelColumns)
	s := motion + 100*q*Unit // the exact τ differ a little
	root := math.Sqrt(s)
	product, reflectors := 18., 25.
	if panels > 1 {
		inPanel := math.Min(s, w)
		product = StripRows + 5 + math.Ceil(rows/StripRows)
		reflectors += 12*inPanel + (w+1)*(1+inPanel/math.Sqrt2)
	}
	return 4*reflectors + 2*product*(math.Sqrt2+root) + (w+4)*(panels+1) + 2*(w+6)*root + 45
}

// LostFold is what underflow adds to the norm of the backward error of each column in a fold.
func LostFold(q, rows float64) float64 { return 8 * q * (q + rows) * Underflow }

// QRSolve bounds what solving with the factor of q columns, and evaluating Ax − b with it, add to
// the backward error.
func QRSolve(q float64) float64 { return 2 * (q + 4) }

// QRPivot is the size, in units of Unit times the norm of its column, below which a pivot is taken
// for zero. No bound rests on it.
func QRPivot(q, longestFold, folds float64) float64 { return 4*(q+4) + longestFold*folds }

// SeminormalResidual bounds the error of component i of Rᵀ(z − Rx) − γx as computed, in
// units of Unit·(‖aᵢ‖‖z − Rx‖ + γ|xᵢ|): a product of d numbers, and a few operations.
func SeminormalResidual(d float64) float64 { return d + 3 }
