// Package ridgetest holds ridge solvers to what they promise. A solver adds one
// line to be tested:
//
//	ridgetest.Run(t, ridgetest.Solver{Solve: solve})
//
// It is held to solutions in 512-bit arithmetic and to metamorphic relations: what
// must come of data that were doubled, scaled, permuted, turned, weighted or
// centred by hand. No output is stored.
package ridgetest

import (
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

const eps = 0x1p-52

// A Solver is one way to solve ridge regression.
type Solver struct {
	// Solve solves for every γ of gammas, with an intercept where it is asked for.
	// It is given γ of a tenth of the mean eigenvalue of AᵀA and more. A fit has Coef,
	// Intercept, Gamma, TSS and a Certificate with ErrorBound, RelativeErrorBound,
	// EnergyBound, InterceptBound, TSS, RSS, Objective, GCV and EffectiveDimension, as
	// this module's solvers fill them.
	Solve func(src dataset.Source, gammas []float64, intercept bool) ([]*ridge.Solution, error)
	// Tol is the relative error of the weights that Solve answers for. A solver with
	// 0 is direct: its error is that of round-off, 10·eps·κ(AᵀA + γI), it is given γ
	// down to 10⁻⁶ of the mean eigenvalue too, and sparse rows, and γ solved for
	// together, change no bit of its weights.
	Tol float64
	// Unweighted says that Solve does not know the weights of rows.
	Unweighted bool
}

// Run runs the whole suite on one solver.
func Run(t *testing.T, s Solver) {
	t.Run("Accuracy", s.accuracy)
	for _, r := range relations {
		t.Run(r.name, func(t *testing.T) { s.related(t, r.holds) })
	}
}
