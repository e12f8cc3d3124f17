package certify

import (
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// factors are what sums and products of n numbers may be off by, in units of eps times
// the sum of their magnitudes.
type factors struct {
	sum     float64 // what was summed over the rows, and rounded by each decay
	pass    float64 // what a pass sums
	workers float64 // those whose sums were added up, but one
	dot     float64 // the product of a row with weights
	dense   float64 // of a dense one
	onto    float64 // a projection onto V, twice, relative to a vector's norm
	along   float64 // a sum over the rows of V
}

// newFactors derives them. The sum of W workers' numbers, in whatever order, is off by
// at most (W−1)·eps/2 of the sum of their magnitudes. Of component j of a gradient these
// are at most ‖a_j^w‖‖r^w‖, for the rows of worker w, and together, by Cauchy and Schwarz,
// ‖a_j‖‖r‖; and those of μ_j·1ᵀr, which is taken off the gradient of sparse rows,
// √Σw·|μ_j|·‖r‖, as much again at most, with the a_j of such rows. ‖r‖² is off by
// (W−1)·eps/2 of itself, ‖r‖ by half as much.
func newFactors(e *Evidence) factors {
	d, rows, accuracy := e.Sketch.Dim, float64(e.Rows), e.Backend.Accuracy()
	long := rows * rows * roundoff.Unit // of the corrections of compensated sums
	f := factors{
		sum:     roundoff.Sum + long + 4*float64(e.Decays),
		workers: float64(max(e.Workers, 1) - 1),
		onto:    2*denseDot(accuracy, d) + roundoff.SkewV,
		dense:   denseDot(accuracy, d),
		along:   float64(len(e.Sketch.Sigma2))/2 + few,
	}
	f.pass, f.dot = passFactor(accuracy, e.Sparse)+long+f.workers, f.dense
	if e.Sparse {
		f.dot = sparseDot(d)
	}
	return f
}

// denseDot is for the product of a dense row of d features with weights.
func denseDot(a engine.Accuracy, d int) float64 { return a.Dot(d) + few }

// sparseDot is for that of a sparse row, of which the mean's share is taken off.
func sparseDot(d int) float64 { return 5*float64(d)/8 + 2*few }

// passFactor is for the gradient of a pass of dense rows: what a call of the backend adds up,
// what the plain sums of calls do, and a product's own rounding. Sparse rows may come after
// dense ones, and the mean's share is taken off from theirs.
func passFactor(a engine.Accuracy, sparse bool) float64 {
	chain := a.Gradient + roundoff.ManyCalls
	if sparse {
		return float64((chain+roundoff.SparseChain+1)/2 + 8)
	}
	return float64((chain+1)/2 + 4)
}
