package fdridge_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// repeatedRows returns 3·n rows of d features of the given size. The rank is n.
func repeatedRows(t *testing.T, n, d int, size float64) dataset.Source {
	t.Helper()
	rng := rand.New(rand.NewPCG(31, 8))
	x := make([]float64, n*d)
	for i := range x {
		x[i] = size * rng.NormFloat64()
	}
	x = slices.Concat(x, x, x)
	y := make([]float64, 3*n)
	for i := range y {
		y[i] = x[i*d]/size + 0.1*rng.NormFloat64()
	}
	return testkit.Must(dataset.FromDense(3*n, d, 1, x, y))(t)
}

// TestSingularCandidates: candidates at which the system is singular are left out. The choice equals the choice among
// the other candidates alone, and their order is kept.
func TestSingularCandidates(t *testing.T) {
	src := repeatedRows(t, 6, 30, 1e7)
	for _, method := range []ridge.Method{ridge.Auto, ridge.Exact, ridge.Tridiagonal, ridge.Dual} {
		for _, by := range []choose.Criterion{choose.GCV, choose.LOO} {
			t.Run(fmt.Sprint(method, " ", by), func(t *testing.T) {
				opts := fdridge.Options{
					Method:     method,
					Select:     by,
					Tol:        1e-8,
					Candidates: []float64{1e7, 1e-5, 1e5, 1e-4, 1e6},
				}
				r := testkit.Must(fdridge.Fit(t.Context(), src, opts))(t)
				opts.Candidates = []float64{1e7, 1e5, 1e6}
				alone := testkit.Must(fdridge.Fit(t.Context(), src, opts))(t)
				var tried []float64
				for _, s := range r.Choice.Path {
					tried = append(tried, s.Gamma)
				}
				if !slices.Equal(tried, opts.Candidates) || !slices.Equal(r.Choice.Unknown, []float64{1e-5, 1e-4}) ||
					alone.Choice.Unknown != nil {
					t.Errorf(
						"tried %g, left out %g; of the others alone %g",
						tried,
						r.Choice.Unknown,
						alone.Choice.Unknown,
					)
				}
				if r.Choice.Gamma() != alone.Choice.Gamma() || r.Choice.Score != alone.Choice.Score ||
					r.Status != alone.Status {
					t.Errorf(
						"γ = %g of %v, %v; of the others alone %g of %v, %v",
						r.Choice.Gamma(),
						r.Choice.Score,
						r.Status,
						alone.Choice.Gamma(),
						alone.Choice.Score,
						alone.Status,
					)
				}
				var read choose.GammaChoice
				if err := json.Unmarshal(testkit.Must(json.Marshal(r.Choice))(t), &read); err != nil ||
					!slices.Equal(read.Unknown, r.Choice.Unknown) {
					t.Errorf("read back: %g, %v", read.Unknown, err)
				}

				opts.Candidates = []float64{1e-5, 1e-4}
				_, err := fdridge.Fit(t.Context(), src, opts)
				if singular, ok := errors.AsType[*ridge.SingularError](err); !ok || singular.Gamma != 1e-4 {
					t.Errorf("all are singular: %v", err)
				}
			})
		}
	}
}
