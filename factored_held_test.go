package fdridge_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestFactorAfterChoice checks the error bound of a solution by QR after a choice of γ among raw columns. The
// pencils of the choice use the memory of the factor, so the correction of the solution must not use this factor. For
// one row a with target b, the exact solution is a·b/(aᵀa + γ).
func TestFactorAfterChoice(t *testing.T) {
	row, b := []float64{-0.4, 9.9999999e7}, -4.0
	src, err := dataset.FromDense(1, 2, 1, row, []float64{b})
	if err != nil {
		t.Fatal(err)
	}
	for _, candidates := range [][]float64{{3, 1}, {1, 3, 10}, {3}} {
		for _, method := range []ridge.Method{ridge.QR, ridge.Cholesky, ridge.Exact, ridge.Tridiagonal} {
			r, err := fdridge.Fit(
				t.Context(),
				src,
				fdridge.Options{Method: method, Candidates: candidates, NoIntercept: true},
			)
			if r == nil {
				t.Fatalf("%v: %v", method, err)
			}
			s := r.Solutions[0]
			size := testkit.Rational(s.Gamma)
			for _, v := range row {
				size.Add(size, new(big.Rat).Mul(testkit.Rational(v), testkit.Rational(v)))
			}
			o, square := s.Targets[0], 0.0
			for j, v := range row {
				exact := new(big.Rat).Mul(testkit.Rational(v), testkit.Rational(b))
				exact.Quo(exact, size)
				off, _ := exact.Sub(exact, testkit.Rational(o.Coef[j])).Float64()
				square += off * off
			}
			if got := math.Sqrt(square); !(got <= o.ErrorBound*(1+1e-12)) {
				t.Errorf(
					"%v, candidates %v: the error at γ = %v is %g, more than the bound %g",
					method,
					candidates,
					s.Gamma,
					got,
					o.ErrorBound,
				)
			}
		}
	}
}
