package plan

import (
	"math"

	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/spectral"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/krylov"
)

// An iteration describes an iterative method.
type iteration struct {
	method ridge.Method
	// rate returns the rate of convergence if the eigenvalues of the preconditioned matrix are in [lo, hi].
	rate   func(lo, hi float64) rate
	ends   bool    // ends after d steps in exact arithmetic
	share  float64 // usual number of passes, divided by the number that CG needs
	cost   func(o *forecast, rows int64, size, systems, passes int) cost
	byName bool // runs only if the caller names it
}

// iterations lists the iterative methods in the order in which a [Plan] lists them.
var iterations = []iteration{
	{
		method: ridge.CG,
		rate:   cgRate,
		ends:   true,
		share:  1,
		cost:   (*forecast).separateCost,
	},
	{
		method: ridge.Galerkin,
		rate:   cgRate,
		ends:   true,
		share:  galerkinShare,
		cost:   (*forecast).galerkinCost,
	},
	{
		method: ridge.Newton,
		rate:   newtonRate,
		share:  1,
		cost:   (*forecast).separateCost,
		byName: true,
	},
}

// A rate bounds the error of an iteration: k steps multiply the error by at most factor·eachᵏ.
type rate struct{ each, factor float64 }

// cgRate returns the rate of CG if the eigenvalues of the preconditioned matrix are in [lo, hi].
func cgRate(lo, hi float64) rate {
	kappa := math.Sqrt(hi / lo)
	return rate{(kappa - 1) / (kappa + 1), 2}
}

// newtonRate returns the rate of Newton if the eigenvalues of Ĥ⁻¹H are in [lo, hi]. Here H is AᵀA + γI for the
// rows A and the penalty γ, and Ĥ is its preconditioner. Newton may diverge if hi ≥ 2.
func newtonRate(lo, hi float64) rate {
	return rate{math.Max(1-lo, hi-1), 1}
}

// passesWithin returns the number of passes after which the error of an iteration is at most tol times its first
// value. The eigenvalues of the preconditioned matrix must be in [lo, hi], and rateOf must return the rate of the
// iteration. The result is 0 if the iteration may diverge.
func passesWithin(lo, hi, tol float64, rateOf func(lo, hi float64) rate) int {
	if !(lo > 0) {
		return 0
	}
	switch r := rateOf(lo, hi); {
	case r.each >= 1:
		return 0
	case r.each <= 0:
		return 1
	default:
		passes := math.Log(tol/r.factor) / math.Log(r.each)
		return 1 + max(0, int(math.Ceil(passes)))
	}
}

// PredictedPasses returns the number of passes with which method m multiplies the error by at most tol, in exact
// arithmetic. This number is proved. The error is measured in the norm of AᵀA + γI, for the rows A and the penalty
// γ. The pass that computes the summary is not counted. The result is 0 if the method may not converge.
func PredictedPasses(sum *ridge.Summary, gamma, tol float64, m ridge.Method) (int, error) {
	if err := m.Takes(gamma); err != nil {
		return 0, err
	}
	spec, err := sum.Spectrum()
	if err != nil {
		return 0, err
	}
	for _, it := range iterations {
		if it.method == m {
			e := &spectral.Eigen{Dim: spec.Dim, Values: spec.Sigma2, V: spec.V}
			lo, hi := krylov.NewSketch(spec.Bound, e, true, sum.Config().Backend).Range(gamma)
			return passesWithin(lo, hi, tol, it.rate), nil
		}
	}
	return 0, errtext.BadInput("plan: %v does not iterate", m)
}
