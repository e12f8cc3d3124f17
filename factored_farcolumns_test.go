package fdridge_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// TestChoiceFarColumns: the target depends on small columns, but large columns dominate the mean eigenvalue. The grid
// of γ then extends down to γ at which the small columns are fitted. This holds for direct solutions, sketches and
// cross-validation, and all except cross-validation prove that the choice is near the best.
func TestChoiceFarColumns(t *testing.T) {
	src := columnsApart(t, 400, 6, 4)
	for name, opts := range map[string]fdridge.Options{
		"unasked":          {},
		"by GCV":           {Select: choose.GCV},
		"direct":           {Method: ridge.Exact},
		"from a sketch":    {Method: ridge.CG, Select: choose.GCV},
		"cross-validation": {Folds: 5},
	} {
		r := testkit.Must(fdridge.Fit(t.Context(), src, opts))(t)
		if v := r.Best().Targets[0].R2(); !(v.Lo >= 0.98) || opts.Folds == 0 && !(r.Choice.RelativeExcess() < 0.01) {
			t.Errorf(
				"%s: γ = %g of %d, R² %v, may be better by %g",
				name,
				r.Choice.Gamma(),
				len(r.Choice.Path),
				v,
				r.Choice.RelativeExcess(),
			)
		}
	}
}

// columnsApart are rows of normal deviates, each column 2^step times as large as the one before, and a
// target that is made of the two smallest.
func columnsApart(t *testing.T, n, d, step int) dataset.Source {
	t.Helper()
	rng := rand.New(rand.NewPCG(21, 4))
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range n {
		for j := range d {
			v := rng.NormFloat64()
			x[i*d+j] = math.Ldexp(v, step*j)
			if j < 2 {
				y[i] += v
			}
		}
		y[i] += 0.1 * rng.NormFloat64()
	}
	return testkit.Must(dataset.FromDense(n, d, 1, x, y))(t)
}
