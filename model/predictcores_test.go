package model_test

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/model"
)

// TestPredictCores: predictions are the same bits for every number of cores, also of blocks that are predicted in
// parts.
func TestPredictCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	r := rand.New(rand.NewPCG(37, 2))
	for _, c := range []struct{ n, d, k int }{{3000, 40, 3}, {1, 40, 1}, {9, 2, 1 << 18}, {3, 1, 1<<20 + 1}} {
		x, fit := make([]float64, c.n*c.d), model.Fit{Gamma: 1}
		for i := range x {
			x[i] = r.NormFloat64()
		}
		for range c.k {
			coef := make([]float64, c.d)
			for i := range coef {
				coef[i] = r.NormFloat64()
			}
			fit.Coef, fit.Intercept = append(fit.Coef, coef), append(fit.Intercept, r.NormFloat64())
		}
		m := &model.Model{Preparation: model.Preparation{Inputs: c.d}, Features: c.d, Fits: []model.Fit{fit}}
		src, err := dataset.FromDense(c.n, c.d, 0, x, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Predictor(nil)
		if err != nil {
			t.Fatal(err)
		}
		wants := make([]float64, c.n*c.k)
		for i := range c.n {
			if err := p.PredictRow(wants[i*c.k:(i+1)*c.k], nil, x[i*c.d:(i+1)*c.d]); err != nil {
				t.Fatal(err)
			}
		}
		for _, cores := range []int{1, 3} {
			runtime.GOMAXPROCS(cores)
			row := int64(0)
			for one, err := range m.Predict(t.Context(), src) {
				if err != nil {
					t.Fatal(err)
				}
				for j, y := range one.Y {
					want := wants[int(row)*c.k+j]
					if y != want {
						t.Fatalf("%+v, %d cores: row %d, target %d: %v, want %v", c, cores, row, j, y, want)
					}
				}
				if one.Row != row || len(one.Y) != c.k || one.Last != (one.Row == int64(c.n-1)) {
					t.Fatalf("%+v: row %d is %d with %d predictions, last %v", c, row, one.Row, len(one.Y), one.Last)
				}
				row++
			}
			if row != int64(c.n) {
				t.Errorf("%+v, %d cores: %d predictions", c, cores, row)
			}
		}
	}
}
