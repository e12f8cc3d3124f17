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

// Of passes. What a call of the backend sums is its own promise, engine.Accuracy.
const (
	// ManyCalls is how many calls' sums a pass adds up plainly before they go to the
	// compensated ones, which cost more; sparse rows are that chain of additions
	// themselves, SparseChain of them.
	ManyCalls   = 8
	SparseChain = 1024
)
