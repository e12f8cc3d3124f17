package plan

import (
	"math"

	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/resolvent"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/krylov"
)

// An iteration has what is known beforehand of a method that iterates.
type iteration struct {
	method ridge.Method
	rate   func(lo, hi float64) rate // the worst rate for a spectrum of Ĥ⁻¹H in [lo, hi]
	ends   bool                      // ends after d steps, but for round-off
	share  float64                   // the share of CG's passes that it makes, as a rule
	cost   func(o *outlook, rows int64, size, systems, passes int) cost
	byName bool // runs only if it is asked for
}

// iterations has a row for each method that iterates, in the order in which a [Plan] lists them.
var iterations = []iteration{
	{method: ridge.CG, rate: cgRate, ends: true, share: 1, cost: (*outlook).separateCost},
	{method: ridge.Galerkin, rate: cgRate, ends: true, share: galerkinShare, cost: (*outlook).galerkinCost},
	{method: ridge.Newton, rate: newtonRate, share: 1, cost: (*outlook).separateCost, byName: true},
}

// A rate says that k steps shrink the error in the norm of H to at most factor·eachᵏ of itself.
type rate struct{ each, factor float64 }

// cgRate bounds the rate of CG, and of Galerkin while it has room.
func cgRate(lo, hi float64) rate {
	kappa := math.Sqrt(hi / lo)
	return rate{(kappa - 1) / (kappa + 1), 2}
}

// newtonRate is that of Newton, which diverges where it is not below 1.
func newtonRate(lo, hi float64) rate { return rate{math.Max(1-lo, hi-1), 1} }

// passesWithin is how many gradients shrink the error in the norm of H by tol where the
// spectrum of Ĥ⁻¹H is in [lo, hi]. 0 says that they may never.
func passesWithin(lo, hi, tol float64, of func(lo, hi float64) rate) int {
	if !(lo > 0) {
		return 0
	}
	switch r := of(lo, hi); {
	case r.each >= 1:
		return 0
	case r.each <= 0:
		return 1
	default:
		return 1 + max(0, int(math.Ceil(math.Log(tol/r.factor)/math.Log(r.each))))
	}
}

// PredictedPasses returns an upper bound on the number of reads of the data after the summary's that a method makes, in exact
// arithmetic, until the error in the norm of H has shrunk by tol. It follows from the proved bounds on Ĥ⁻¹H alone.
// 0 means that the method need not converge. The bound for Galerkin is that of CG.
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
			e := &resolvent.Eigen{Dim: spec.Dim, Values: spec.Sigma2, V: spec.V}
			lo, hi := krylov.NewSketch(spec.Bound, e, true, sum.Config().Backend).Range(gamma)
			return passesWithin(lo, hi, tol, it.rate), nil
		}
	}
	return 0, badinput.Errorf("plan: %v does not iterate", m)
}
