package ridge_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/ridge"
)

// TestPassesOfHopelessCorrections: a pass counts even if its gradients improve nothing.
func TestPassesOfHopelessCorrections(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	p := problem(r, "gaussian", 11, 5, 1, 1)
	for i := range p.x { // four different rows
		copy(p.x[i], p.x[i%4])
	}
	p.w = make([]float64, len(p.x))
	for i := range p.w {
		p.w[i] = 1
	}
	p.w[5] = 3e10
	for _, m := range []ridge.Method{ridge.Exact, ridge.Cholesky, ridge.Tridiagonal, ridge.QR} {
		for _, gamma := range []float64{1e-70, 1e-30, 1e-12, 1e-6, 1e-3} {
			for _, intercept := range []bool{true, false} {
				src := &reads{Source: p}
				got, err := fdridge.Fit(
					t.Context(),
					src,
					fdridge.Options{Method: m, Gammas: []float64{gamma}, NoIntercept: !intercept},
				)
				if got == nil {
					if _, ok := errors.AsType[*ridge.SingularError](err); !ok {
						t.Error(err)
					}
					continue
				}
				if got.Passes != src.passes {
					t.Errorf("%v, γ = %g: %d passes, %d are counted", m, gamma, src.passes, got.Passes)
				}
			}
		}
	}
}
