package fdridge_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestPassesOfHopelessCorrections: a pass counts even if its gradients improve nothing.
func TestPassesOfHopelessCorrections(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	p := testkit.Problem(r, "gaussian", 11, 5, 1, 1)
	for i := range p.X { // four different rows
		copy(p.X[i], p.X[i%4])
	}
	p.W = make([]float64, len(p.X))
	for i := range p.W {
		p.W[i] = 1
	}
	p.W[5] = 3e10
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
