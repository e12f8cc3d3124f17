// Package ridgetest tests ridge solvers. A test of a solver is one line:
//
//	ridgetest.Run(t, ridgetest.Solver{Solve: solve})
//
// The tests compare fits with reference solutions, which they compute in 512-bit arithmetic. They also check how
// the fit changes if the data are doubled, scaled, permuted, rotated, weighted or centred.
package ridgetest

import (
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

const eps = 0x1p-52

// A Solver is a function that solves ridge regression, together with the accuracy that it promises.
type Solver struct {
	// Solve returns one solution for each penalty γ in gammas, with an intercept if intercept is true. For an
	// iterative solver (Tol > 0), each γ is at least a tenth of the mean eigenvalue of AᵀA, for the rows A. A fit
	// must have Coef, Intercept, Gamma, ComputedTSS, EffectiveDimension and a complete Certificate, as returned by
	// the solvers of this module.
	Solve func(src dataset.Source, gammas []float64, intercept bool) ([]*ridge.Solution, error)
	// Tol is the promised relative error of the coefficients. Tol = 0 means a direct solver. The relative error of
	// a direct solver must be at most 10·eps·κ, where κ is the condition number of AᵀA + γI. Its coefficients must
	// have the same bits for dense and sparse rows. They must also not depend on the other γ that are solved in the
	// same call.
	Tol float64
	// Unweighted means that Solve does not support sample weights.
	Unweighted bool
}

// Run runs all tests for one solver.
func Run(t *testing.T, s Solver) {
	t.Run("Accuracy", s.accuracy)
	for _, r := range relations {
		t.Run(r.name, func(t *testing.T) { s.related(t, r.holds) })
	}
}
