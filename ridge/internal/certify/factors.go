package certify

import (
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// factors are what sums and products of n numbers may be off by, in units of eps times
// the sum of their magnitudes.
type factors struct {
	sum     float64 // what was summed over the rows, and rounded by each decay
	pass    float64 // what a pass sums
	workers float64 // one less than the workers whose sums are added up
	dot     float64 // the product of a row with weights
	dense   float64 // that of a dense row
	onto    float64 // a projection onto V, made twice, relative to the vector's norm
	along   float64 // a sum over the rows of V
	skew    float64 // how far V is from orthonormal rows
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
		skew:    e.Sketch.Skew / eps,
		dense:   roundoff.DenseDot(accuracy.Dot(d)),
		along:   float64(len(e.Sketch.Sigma2))/2 + few,
	}
	f.onto = 2*f.dense + f.skew
	f.pass, f.dot = roundoff.Pass(accuracy.Gradient, e.Sparse)+long+f.workers, f.dense
	if e.Sparse {
		f.dot = roundoff.SparseDot(d)
	}
	return f
}
