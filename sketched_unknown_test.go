package fdridge_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// TestChoiceSaysWhatIsUnknown: for monomials of large numbers, errors by a sketch or by folds are not known at small
// γ. The choice lists these γ. GCV is known there, and its least is far below. Direct methods know the
// leave-one-out errors at all γ. Nothing is left out if γ are given, or if all columns have about the same size.
func TestChoiceSaysWhatIsUnknown(t *testing.T) {
	for name, c := range map[string]struct {
		unit   float64
		degree int
		opts   fdridge.Options
		left   bool
	}{
		"loo": {10, 12, fdridge.Options{NoIntercept: true, Select: choose.LOO}, false},
		"loo of a sketch": {10, 12, fdridge.Options{
			NoIntercept: true, Select: choose.LOO, Method: ridge.CG, Size: 16,
		}, true},
		"cross-validation": {30, 5, fdridge.Options{NoIntercept: true, Folds: 5}, true},
		"a sketch's gcv": {10, 12, fdridge.Options{
			NoIntercept: true, Select: choose.GCV, Method: ridge.CG, GammaTol: 1e-9,
		}, true},
		"gcv":       {30, 5, fdridge.Options{NoIntercept: true, Select: choose.GCV}, false},
		"like size": {1, 2, fdridge.Options{NoIntercept: true, Folds: 5}, false},
		"given":     {30, 5, fdridge.Options{NoIntercept: true, Folds: 5, Candidates: []float64{1e9, 1e10}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			src := monomials(t, c.unit, c.degree)
			c.opts.NoIntercept = false
			r := testkit.Must(fdridge.Fit(t.Context(), src, c.opts))(t)
			choice := r.Choice
			if got := len(choice.Unknown) > 0; got != c.left {
				t.Fatalf("γ = %g of %d: %d are unknown", choice.Gamma(), len(choice.Path), len(choice.Unknown))
			}
			if !c.left {
				return
			}
			if !slices.IsSorted(choice.Unknown) || !(choice.Unknown[len(choice.Unknown)-1] < choice.Path[0].Gamma) ||
				!(choice.Unknown[0] > 0) {
				t.Errorf("unknown are %g, tried are those from %g on", choice.Unknown, choice.Path[0].Gamma)
			}
			gcv := testkit.Must(fdridge.Fit(t.Context(), src, fdridge.Options{Select: choose.GCV}))(t)
			if !(gcv.Best().Targets[0].R2().Lo > r.Best().Targets[0].R2().Hi+0.3) {
				t.Errorf(
					"R² of %v by GCV, of %v here: nothing worth a word is left out",
					gcv.Best().Targets[0].R2(),
					r.Best().Targets[0].R2(),
				)
			}
			if !(r.ColumnSpread > 1e4) {
				t.Errorf("columns are %g apart", r.ColumnSpread)
			}
		})
	}
}

// monomials are rows of the powers, up to a degree, of four numbers within ±unit, without the
// constant, and a target that oscillates.
func monomials(t *testing.T, unit float64, degree int) dataset.Source {
	t.Helper()
	const n, k = 280, 4
	rng := rand.New(rand.NewPCG(33, 5))
	d := k * degree
	x, y := make([]float64, 0, n*d), make([]float64, n)
	for i := range n {
		var v [k]float64
		for j := range v {
			v[j] = 2*rng.Float64() - 1
			y[i] += math.Sin(5 * v[j])
		}
		y[i] += 0.1 * rng.NormFloat64()
		for p := 1; p <= degree; p++ {
			for _, v := range v {
				x = append(x, math.Pow(unit*v, float64(p)))
			}
		}
	}
	return testkit.Must(dataset.FromDense(n, d, 1, x, y))(t)
}
