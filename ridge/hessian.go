package ridge

import (
	"context"

	"github.com/fdridge/fdridge/internal/vec"
)

// A Hessian stands for H(γ) = AᵀA + γI: an Ĥ(γ) that is cheap to invert, and how
// far it is from H. The solvers know nothing else about it.
type Hessian interface {
	// Solve overwrites row i of dst with Ĥ(γᵢ)⁻¹gᵢ for each of the q rows of g
	// (q×d, contiguous).
	Solve(q int, gamma []float64, g, dst []float64)
	// Range bounds the spectrum of Ĥ(γ)⁻¹H(γ). lo <= 0 says that nothing is
	// known below.
	Range(gamma float64) (lo, hi float64)
}

// A Refresher is a Hessian that every step makes anew from the data, as the
// Iterative Hessian Sketch does (M. Pilanci, M. Wainwright, JMLR 17, 2016). A
// solver calls Refresh before each Solve, the first included. Only Newton takes
// one: the other methods need the same Ĥ throughout.
type Refresher interface {
	Hessian
	Refresh(ctx context.Context) error
}

// Identity is the Hessian of methods that go without one: Ĥ = γI. With it CG is
// plain conjugate gradients and Newton is gradient descent with step 1/γ.
type Identity struct {
	// Largest bounds ‖A‖²₂, for Range; ‖A‖²_F does.
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

// Range is [1, 1 + Largest/γ].
func (h Identity) Range(gamma float64) (lo, hi float64) { return 1, 1 + h.Largest/gamma }
