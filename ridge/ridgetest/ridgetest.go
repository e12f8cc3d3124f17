// Package ridgetest tests ridge solvers. A test of a solver is one line:
//
//	ridgetest.Run(t, ridgetest.Solver{Solve: solve})
//
// The tests compare fits with solutions in 512-bit arithmetic. They also check how the fit changes if the data are
// doubled, scaled, permuted, rotated, weighted or centred. No results are stored.
package ridgetest

import (
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

const eps = 0x1p-52

// A Solver is a function that solves ridge regression, with the accuracy that it promises.
type Solver struct {
	// Solve solves for every γ of gammas, with an intercept if intercept is true. Each γ is at least a tenth
	// of the mean eigenvalue of AᵀA. A fit must have Coef, Intercept, Gamma, ComputedTSS, EffectiveDimension
	// and a complete Certificate, as returned by the solvers of this module.
	Solve func(src dataset.Source, gammas []float64, intercept bool) ([]*ridge.Solution, error)
	// Tol is the promised relative error of the coefficients. Tol = 0 means a direct solver. Its error must be at most
	// 10·eps·κ(AᵀA + γI). Its coefficients must have the same bits for dense and sparse rows, and for one γ and
	// several.
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
