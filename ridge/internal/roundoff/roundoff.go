// Package roundoff has the constants that the round-off terms of certificates are made
// of, each with what it follows from.
//
// A sum of n products, in whatever order, is off by at most n·eps/2 of the sum of their
// magnitudes, and rows that are repeated come close to that: all their roundings go the
// same way. So a factor, in units of eps, is half the longest chain of additions that an
// entry is the end of, and a little for the operations around it.
package roundoff

const (
	// Eps is the distance from 1 to the next float64, Unit what rounding a number to
	// the nearest puts it off by at most, relatively.
	Eps  = 0x1p-52
	Unit = Eps / 2
	// Underflow is what one product may lose to underflow.
	Underflow = 0x1p-1074
	// Inflate is for the rounding of bounds themselves.
	Inflate = 1.01
	// Few is the factor for a few operations, vec.Dot and vec.Norm.
	Few = 8
)

// Of rows as they are staged, see package rows.
const (
	// MeanPart is how many rows of a block are summed one after another for its mean.
	MeanPart = 16
	// MeanOfBlock and RowOfBlock are in units of Unit times D = √Σw·(row − origin)² of a
	// column: by Cauchy and Schwarz the mean of a block is off by no more than
	// MeanOfBlock·Unit·D/√Σw, for its sum is made of chains of MeanPart, and of their
	// sums, of differences, products and a quotient, and of a sum of weights with
	// compensation; its rows are off by as much and by their own two differences.
	MeanOfBlock = MeanPart + StageRows/MeanPart + 8
	RowOfBlock  = MeanOfBlock + 3
	// StageRows is the most rows that are staged at a time.
	StageRows = 256
	// LostSum is what a product, and LostSpread what w·z², loses at most to underflow,
	// for w ≤ 2⁵⁰⁰.
	LostSum    = Underflow
	LostSpread = 0x1p-1020
	// WeightedRow is for a root and a product: a row times √w.
	WeightedRow = 2 * Eps
)

// Of sums over rows.
const (
	// SumRows is how many rows are summed plainly for c and the witness, of which the
	// error grows with their number, before the sum is added with compensation; Sum is
	// the factor for these, and for ‖b‖².
	SumRows = 32
	Sum     = SumRows/2 + 4
	// LostResidual squared is what the square of an entry of Ax − b loses at most to
	// underflow.
	LostResidual = 0x1p-511
)

// SkewV is for the rows of V, which are orthonormal to so many Eps.
const SkewV = 32

// DenseDot is for the product of a dense row of d features with weights. Where vectors are
// few it is made of four sums or more; where they are many, backends add up a strip of
// columns one after the other, of dotStrip at most, and then the strips.
func DenseDot(d int) float64 {
	const dotStrip = 512
	return float64(min(d, dotStrip))/2 + float64(d)/8 + Few
}

// SparseDot is for that of a sparse row, of which the mean's share is taken off.
func SparseDot(d int) float64 { return 5*float64(d)/8 + 2*Few }

// How a pass takes rows, for threads to share them and for no element of a sum to be the
// end of a long chain of additions, with which its error grows. Backends divide
// PassRows dense rows among parts of at most 64, or add them up in blocks of as many,
// where that makes SharedWork multiply-adds, no element then being the end of more than
// callChain additions; less is taken FewRows at a time. From ManyQueries vectors on,
// which pay for being laid out anew, PassRows are taken whatever the tuning says. The
// sums of ManyCalls are added up before they go to the compensated ones, which cost more.
// What a pass makes of sparse rows is the chain of their additions itself, SparseChain.
const (
	PassRows    = 512
	SharedWork  = 1 << 16
	FewRows     = 32
	ManyQueries = 8
	callChain   = 73
	ManyCalls   = 8
	passChain   = callChain + ManyCalls
	SparseChain = 1024

	// Pass is the factor for the gradient of a pass of dense rows, PassSparse for one of
	// sparse rows, which may come after dense ones and from which the mean's share is
	// taken off.
	Pass       = (passChain+1)/2 + 4
	PassSparse = (passChain+SparseChain+1)/2 + 8
)
