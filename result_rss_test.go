package fdridge_test

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestInterceptRSS checks that the bracket of RSS holds the sum of squares of the returned coefficients and the
// returned intercept, in rational arithmetic. The targets are 10⁸ plus small numbers, so that rounding the
// intercept matters.
func TestInterceptRSS(t *testing.T) {
	rng := rand.New(rand.NewPCG(44, 2))
	outside := 0 // cases in which the rounding of the intercept is larger than the bracket without it
	for trial := range 60 {
		n, d := 4+rng.IntN(8), 1+rng.IntN(2)
		x, y, w := make([][]float64, n), make([][]float64, n), make([]float64, n)
		for i := range x {
			x[i] = make([]float64, d)
			v := 1e8
			for j := range x[i] {
				x[i][j] = float64(rng.IntN(9) - 4)
				v += x[i][j]
			}
			y[i] = []float64{v + 2e-8*rng.NormFloat64()}
			w[i] = float64(1 + rng.IntN(3))
		}
		src := testkit.Table{X: x, Y: y}
		if trial%3 == 0 {
			src.W = w
		}
		for _, method := range []ridge.Method{
			ridge.QR, ridge.Cholesky, ridge.Tridiagonal, ridge.Dual, ridge.CG, ridge.Galerkin, ridge.OneShot,
		} {
			r, err := fdridge.Fit(t.Context(), src, fdridge.Options{Method: method, Gammas: []float64{1e-9}, Size: 4})
			if _, short := errors.AsType[*ridge.NotConvergedError](err); err != nil && !short {
				if _, singular := errors.AsType[*ridge.SingularError](err); singular {
					continue
				}
				t.Fatal(err)
			}
			o := &r.Solutions[0].Targets[0]
			exact := new(big.Rat)
			for i := range x {
				e := new(big.Rat).Sub(testkit.Rational(o.Intercept), testkit.Rational(y[i][0]))
				for j, v := range o.Coef {
					e.Add(e, new(big.Rat).Mul(testkit.Rational(x[i][j]), testkit.Rational(v)))
				}
				e.Mul(e, e)
				if src.W != nil {
					e.Mul(e, testkit.Rational(w[i]))
				}
				exact.Add(exact, e)
			}
			f, _ := exact.Float64()
			if testkit.Rational(o.RSS.Lo).Cmp(exact) > 0 || testkit.Rational(o.RSS.Hi).Cmp(exact) < 0 {
				t.Errorf(
					"trial %d, %v, weights %v: RSS is %v, outside of %v",
					trial,
					method,
					src.W != nil,
					fmt.Sprint(f),
					o.RSS,
				)
			}
			if o.RSS.Hi-o.RSS.Lo < f {
				outside++
			}
		}
	}
	if outside < 20 {
		t.Errorf("only %d brackets are sharp", outside)
	}
}
