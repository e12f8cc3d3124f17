package certify

import (
	"math"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// factors holds bounds on the round-off of sums and products. A bound is in units of eps times the sum of the
// magnitudes of the terms, unless its comment names another unit. V has the right singular vectors of the sketch as
// rows.
type factors struct {
	sum     float64 // sums over the rows, including the roundings of decays of the weights
	pass    float64 // sums of a pass
	workers float64 // number of workers minus one
	dot     float64 // a product of a row with coefficients
	dense   float64 // a product of a dense row with coefficients
	// a product of V with a vector followed by a product of Vᵀ with the result, relative to the norm of the vector
	onto    float64
	back    float64 // a product Vᵀz, relative to ‖z‖
	along   float64 // a sum over the rows of V
	skew    float64 // the distance of V from orthonormal rows
	squares float64 // ‖A‖²_F
}

// newFactors returns the bounds for the sketch e.Sketch and the arithmetic of e.Backend.
func newFactors(e *Evidence) factors {
	d := e.Sketch.Dim
	rows := float64(e.Rows)
	accuracy := e.Backend.Accuracy()
	long := rows * rows * roundoff.Unit // round-off of the corrections of compensated sums
	sum := float64(roundoff.Sum)
	if len(e.TSS) >= roundoff.ManyTargets {
		sum = roundoff.SumMany
	}
	f := factors{
		sum: math.Max(sum+long+4*float64(e.Decays), e.Rounding),
		// workers bounds the relative error of adding the sums of several workers in any order: half of eps for
		// each worker but one (docs/math.md §14).
		workers: float64(max(e.Workers, 1) - 1),
		skew:    e.Sketch.Skew / eps,
		dense:   roundoff.DenseDot(accuracy.Dot(d)),
		along:   float64(len(e.Sketch.Sigma2))/2 + few,
		squares: math.Max(fd.SquaresError(d), roundoff.CentredSquares) +
			long +
			float64(e.Decays) +
			few,
	}
	f.back, f.onto = productsWithV(
		float64(d),
		float64(len(e.Sketch.Sigma2)),
		2*accuracy.Dot(d),
	)
	f.onto += f.skew
	f.pass = roundoff.Pass(accuracy.Gradient, e.Sparse) + long + f.workers
	f.dot = f.dense
	if e.Sparse {
		f.dot = roundoff.SparseDot(d)
	}
	return f
}

// productsWithV returns bounds on the round-off of products with an r×d matrix V, whose rows are nearly
// orthonormal:
//   - back, for a product Vᵀz with a vector z
//   - onto, for a product of V with a vector followed by a product of Vᵀ with the result
//
// In a product of two vectors of length d, each term has at most perTerm roundings. The proof is in docs/math.md
// §14, "Products with V".
func productsWithV(d, r, perTerm float64) (back, onto float64) {
	along := math.Sqrt(d*perTerm) + math.Sqrt(r) + few
	back = r + math.Sqrt(r) + few
	return back, 1.5*along + 3*back
}
