package ridge

import (
	"context"

	"github.com/fdridge/fdridge/internal/vec"
)

// A Hessian is an approximation Ĥ(γ) of H(γ) = AᵀA + γI, for the rows A and the penalty γ, that is cheap to
// invert. The solvers use Ĥ only through these methods.
type Hessian interface {
	// Solve overwrites row i of dst with Ĥ(γᵢ)⁻¹gᵢ, where gᵢ is row i of g and γᵢ is gamma[i]. g and dst
	// are q×d matrices, stored row by row, for d features.
	Solve(q int, gamma []float64, g, dst []float64)
	// Range returns bounds lo and hi on the eigenvalues of Ĥ(γ)⁻¹H(γ), where H(γ) is AᵀA + γI. If no positive
	// lower bound is known, lo is not positive.
	Range(gamma float64) (lo, hi float64)
}

// A Refresher is a Hessian that is computed anew from the data in every step, as in the Iterative Hessian Sketch
// (M. Pilanci, M. Wainwright, JMLR 17, 2016). A solver calls Refresh before every Solve. Of the iterative methods,
// only Newton accepts a Refresher, because the others require the same approximation in all steps.
type Refresher interface {
	Hessian
	Refresh(ctx context.Context) error
}

// Identity is the Hessian Ĥ = γI, for the penalty γ. With this Hessian, CG is the method of conjugate gradients
// without a preconditioner, and Newton is gradient descent with step 1/γ.
type Identity struct {
	// Largest is an upper bound on the largest eigenvalue of AᵀA, for example ‖A‖²_F. Only Range uses it.
	Largest float64
}

func (h Identity) Solve(q int, gamma []float64, g, dst []float64) {
	d := len(g) / max(q, 1)
	for i := range q {
		row := dst[i*d : (i+1)*d]
		copy(row, g[i*d:(i+1)*d])
		vec.Scale(1/gamma[i], row)
	}
}

// Range returns [1, 1 + Largest/γ].
func (h Identity) Range(gamma float64) (lo, hi float64) {
	return 1, 1 + h.Largest/gamma
}
