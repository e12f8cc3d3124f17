package ridge_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestPredictorZeroIntercept: the interval includes the error of an intercept, also if the intercept is 0.
func TestPredictorZeroIntercept(t *testing.T) {
	f := &ridge.Solution{
		Outcome: ridge.Outcome{Gamma: 1},
		Targets: []ridge.Target{{Coef: []float64{1}, Certificate: ridge.Certificate{
			ErrorBound: 1e-15, EnergyBound: 1e-15, InterceptBound: 1e-3, Objective: ridge.Interval{Lo: 1, Hi: 2},
		}}},
	}
	dst := make([]ridge.Interval, 1)
	err := testkit.Must(f.Predictor())(t).Predict(dst, dataset.Block{N: 1, X: []float64{2}})
	if err != nil || !(dst[0].Lo <= 2-1e-3 && dst[0].Hi >= 2+1e-3 && dst[0].Hi < 2+2e-3) {
		t.Errorf("%v, %v", dst, err)
	}
}

// TestNarrowZeroTargets: fits of targets that are zero narrow predictions, whatever round-off has left of
// the weights that the fit began with. A fit without a certificate does not.
func TestNarrowZeroTargets(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 10))
	x, start := make([]float64, 30*8), mat.NewDense(3, 8, nil)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	for i := range start.RawMatrix().Data {
		start.RawMatrix().Data[i] = 1
	}
	src := testkit.Must(dataset.FromDense(30, 8, 3, x, make([]float64, 3*30)))(t)
	for _, size := range []int{2, 64} {
		sum := testkit.Must(ridge.Summarize(t.Context(), src, ridge.SummaryConfig{Size: size, Intercept: true}, nil))(t)
		for _, begin := range []*mat.Dense{nil, start} {
			fits, err := ridge.SolvePath(t.Context(), src, sum, []float64{1}, ridge.SolveOptions{Start: begin})
			f := testkit.Solved(t, fits, err)[0]
			p := testkit.Must(sum.Predictor(1))(t)
			if err := p.Narrow(f); err != nil {
				t.Fatalf("size %d, %v, %v: %v", size, f.Status, f.Coef(), err)
			}
			within := testkit.Must(p.PredictMatrix(mat.NewDense(1, 8, x[:8])))(t)
			for _, v := range within {
				if !(v.Lo <= 0 && 0 <= v.Hi && v.Hi-v.Lo < 1e-12) {
					t.Errorf("size %d: 0 is predicted to be within %v", size, v)
				}
			}
			if begin == nil {
				continue
			}
			for j := range f.Targets {
				f.Targets[j].Certificate = ridge.Certificate{}
			}
			if err := p.Narrow(f); !errors.Is(err, ridge.ErrShape) ||
				!strings.Contains(err.Error(), "without a certificate") {
				t.Errorf("size %d: a fit without a certificate: %v", size, err)
			}
		}
	}
}
