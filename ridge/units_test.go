package ridge_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// exactLeftOut returns the mean squared leave-one-out error of target 0, computed with hundreds of bits.
func exactLeftOut(t *testing.T, x, y [][]float64, gamma float64, intercept bool) float64 {
	t.Helper()
	sum := new(big.Float).SetPrec(refbig.Prec)
	for left := range x {
		var restX, restY [][]float64
		for i := range x {
			if i != left {
				restX, restY = append(restX, x[i]), append(restY, y[i])
			}
		}
		p := refbig.New(restX, restY, nil, intercept)
		s := testkit.Must(p.Solve(gamma))(t)
		off := refbig.Float(y[left][0])
		if intercept {
			off.Sub(off, p.MeanY[0])
		}
		for j, v := range x[left] {
			a := refbig.Float(v)
			if intercept {
				a.Sub(a, p.MeanX[j])
			}
			off.Sub(off, a.Mul(a, s.Coef[0][j]))
		}
		sum.Add(sum, off.Mul(off, off))
	}
	v, _ := sum.Quo(sum, refbig.Float(float64(len(x)))).Float64()
	return v
}

// TestLeaveOneOutUnits: brackets of leave-one-out errors contain the exact errors and are narrow, for columns whose
// sizes differ by many powers of ten and that are nearly dependent. γ ranges over 14 powers of ten.
func TestLeaveOneOutUnits(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for seed := range uint64(12) {
			rng := rand.New(rand.NewPCG(44, seed))
			n, d, intercept := 9+int(seed), 3+int(seed%4), seed%3 > 0
			x, y, sizes := make([][]float64, n), make([][]float64, n), make([]float64, d)
			for j := range sizes {
				sizes[j] = math.Pow(10, 16*rng.Float64()-6)
			}
			var rows, targets []float64
			for i := range n {
				x[i] = make([]float64, d)
				common := rng.NormFloat64()
				for j, size := range sizes {
					x[i][j] = size * (common + 0.01*rng.NormFloat64())
				}
				if seed%5 == 4 && i == 0 {
					x[i][d-1] *= 1e4 // a row with a leverage near 1
				}
				y[i] = []float64{common + x[i][0]/sizes[0] + 0.1*rng.NormFloat64()}
				rows, targets = append(rows, x[i]...), append(targets, y[i]...)
			}
			src := testkit.Must(dataset.FromDense(n, d, 1, rows, targets))(t)
			gammas := []float64{1e-4, 1e-2, 1, 1e3, 1e6, 1e10}
			for _, m := range []ridge.Method{ridge.Cholesky, ridge.Tridiagonal, ridge.QR} {
				f := testkit.Must(
					ridge.Factorize(
						t.Context(),
						src,
						nil,
						ridge.ExactOptions{Method: m, Intercept: intercept, Backend: be, LeaveOneOut: true},
					),
				)(
					t,
				)
				_, found, err := f.LeaveOneOut(t.Context(), src, gammas, ridge.LeaveOneOutOptions{})
				if err != nil {
					t.Fatal(err)
				}
				for i, gamma := range gammas {
					want, got := exactLeftOut(t, x, y, gamma, intercept), found.Bounds[i][0]
					if !(got.Lo <= want && want <= got.Hi) {
						t.Errorf("seed %d, %v, γ = %g: %v does not contain %v", seed, m, gamma, got, want)
					}
					if seed%5 != 4 && !(got.Hi <= 1.001*got.Lo) {
						t.Errorf("seed %d, %v, γ = %g: %v for %v is wide", seed, m, gamma, got, want)
					}
				}
			}
		}
	})
}
