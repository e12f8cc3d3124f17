package fdridge_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// gradedRows returns n rows of d features. Their singular values fall from largest, evenly in logarithm,
// by a factor of spread.
func gradedRows(t *testing.T, seed uint64, n, d int, largest, spread float64) dataset.Source {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	orthogonal := func(n int) *mat.Dense {
		a := mat.NewDense(n, d, nil)
		for i := range a.RawMatrix().Data {
			a.RawMatrix().Data[i] = rng.NormFloat64()
		}
		var qr mat.QR
		qr.Factorize(a)
		var q mat.Dense
		qr.QTo(&q)
		return mat.DenseCopyOf(q.Slice(0, n, 0, d))
	}
	u, v := orthogonal(n), orthogonal(d)
	for k := range d {
		for i := range n {
			u.Set(i, k, u.At(i, k)*largest*math.Pow(spread, -float64(k)/float64(d-1)))
		}
	}
	var x mat.Dense
	x.Mul(u, v.T())
	w := make([]float64, d)
	for j := range w {
		w[j] = rng.NormFloat64()
	}
	y := make([]float64, n)
	for i := range y {
		y[i] = mat.Dot(x.RowView(i), mat.NewVecDense(d, w)) + 0.1*rng.NormFloat64()
	}
	return testkit.Must(dataset.FromDense(n, d, 1, x.RawMatrix().Data, y))(t)
}

// TestGalerkinWhole: where AᵀA itself is known, a γ far below eps·‖K‖ does not make Galerkin diverge, alone
// or beside others. AᵀA is kept, or computed by a pass for the choice of γ.
func TestGalerkinWhole(t *testing.T) {
	gammas := []float64{1e-10, 1e-8, 1e-6}
	for seed := range uint64(3) {
		src := gradedRows(t, seed, 194, 33, 1e6, 1e11)
		sum := testkit.Must(ridge.Summarize(t.Context(), src, ridge.SummaryConfig{Size: 256, Intercept: true}, nil))(t)
		opts := ridge.SolveOptions{Method: ridge.Galerkin, MaxPasses: 40}
		for i := range len(gammas) + 1 {
			asked := gammas // the last time
			if i < len(gammas) {
				asked = gammas[i : i+1]
			}
			fits, err := ridge.SolvePath(t.Context(), src, sum, asked, opts)
			for _, f := range testkit.Solved(t, fits, err) {
				if f.Status == ridge.Diverged {
					t.Errorf("seed %d, gamma %g of %g: %v", seed, f.Gamma, asked, f.Status)
				}
			}
		}

		r, err := fdridge.Fit(t.Context(), src, fdridge.Options{
			Method: ridge.Galerkin, Size: 8, Candidates: []float64{1e-10, 1e-9}, GammaTol: 1e-9, MaxPasses: 40,
		})
		if _, short := errors.AsType[*ridge.NotConvergedError](err); err != nil && !short {
			t.Fatal(err)
		}
		if !r.Choice.Whole || r.Status == ridge.Diverged {
			t.Errorf("seed %d: AᵀA is known: %v; %q", seed, r.Choice.Whole, r.Status)
		}
	}
}
