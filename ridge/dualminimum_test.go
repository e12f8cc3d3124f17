package ridge_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// fewRows returns integer rows, with some that are combinations of earlier rows, and targets.
func fewRows(rng *rand.Rand, n, d, targets int) (x, y [][]float64) {
	for i := range n {
		row, target := make([]float64, d), make([]float64, targets)
		for j := range row {
			if rng.IntN(3) == 0 {
				row[j] = float64(rng.IntN(19) - 9)
			}
		}
		if i > 0 && rng.IntN(4) == 0 {
			a, p := rng.IntN(i), float64(rng.IntN(5)-2)
			for j := range row {
				row[j] = p * x[a][j]
			}
		}
		for j := range target {
			target[j] = float64(rng.IntN(199) - 99)
		}
		x, y = append(x, row), append(y, target)
	}
	return x, y
}

// TestMinimumNormOfFewRows compares the solution from AAᵀ at γ = 0 with rational arithmetic: the rank, the gradient,
// the null space and the bracket of RSS. It checks that no d×d matrix is needed.
func TestMinimumNormOfFewRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(45, 3))
	const d = 120
	deficient := 0
	for trial := range 60 {
		n, targets := 2+rng.IntN(9), 1+rng.IntN(2)
		intercept := trial%2 == 0
		x, y := fewRows(rng, n, d, targets)
		name := fmt.Sprintf("trial %d: %d×%d, intercept %v", trial, n, d, intercept)
		opts := ridge.ExactOptions{
			Method: ridge.Exact, Intercept: intercept, Tol: 1e-8,
			MaxBytes: uint64(ridge.DirectBytes(ridge.QR, int64(n), d, targets, 1, false)) - 1,
		}
		rows := testkit.Table{X: x, Y: y, Sparse: trial%4 < 2}
		fits, err := ridge.SolveExact(t.Context(), rows, []float64{0, 1}, opts)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		a, b := centredExactly(x, y, intercept)
		echelon, _ := centredExactly(x, y, intercept)
		rank, null := nullSpace(echelon, d)
		full := n
		if intercept {
			full--
		}
		if rank < full {
			deficient++
		}
		f := fits[0]
		if f.Status != ridge.MinimumNorm || f.Rank != rank || f.Method != ridge.Dual {
			t.Errorf("%s: %v by %v, rank %d, want %d", name, f.Status, f.Method, f.Rank, rank)
			continue
		}
		for k, o := range f.Targets {
			checkMinimum(t, name, a, b, null, o, k)
		}
		if df := f.EffectiveDimension; df.Lo > float64(rank) || df.Hi < float64(rank) {
			t.Errorf("%s: effective dimension %v, the rank is %d", name, df, rank)
		}
		if one := fits[1]; one.Status != ridge.Factorized || !(one.WorstError() <= 1e-8) {
			t.Errorf("%s: at γ = 1: %v, error %g", name, one.Status, one.WorstError())
		}
	}
	if deficient < 10 {
		t.Errorf("only %d tables have dependent rows", deficient)
	}
}

// TestMinimumNormLimit: several targets, weights and a constant target have finite coefficients
// near the limit of ridge.
func TestMinimumNormLimit(t *testing.T) {
	rng := rand.New(rand.NewPCG(45, 4))
	const n, d = 20, 200
	x, y := fewRows(rng, n, d, 3)
	w := make([]float64, n)
	for i := range n {
		x[i][d-1] = rng.NormFloat64()
		y[i][2] = 7
		w[i] = 0.5 + rng.Float64()
	}
	w[3] = 0
	opts := ridge.ExactOptions{
		Method: ridge.Exact, Intercept: true,
		MaxBytes: uint64(ridge.DirectBytes(ridge.QR, n, d, 3, 1, false)) - 1,
	}
	fits, err := ridge.SolveExact(t.Context(), testkit.Table{X: x, Y: y, W: w}, []float64{0, 1e-7}, opts)
	if err != nil {
		t.Fatal(err)
	}
	for k := range 3 {
		for j, v := range fits[0].Targets[k].Coef {
			if !(math.Abs(v-fits[1].Targets[k].Coef[j]) <= 1e-5) {
				t.Fatalf("target %d: coefficient %d is %g, near γ = 0 it is %g", k, j, v, fits[1].Targets[k].Coef[j])
			}
		}
	}

	// Leave-one-out errors and more rows than features need QR.
	opts.LeaveOneOut = true
	if _, err := ridge.SolveExact(
		t.Context(), testkit.Table{X: x, Y: y}, []float64{0}, opts,
	); !errors.Is(err, ridge.ErrInput) {
		t.Errorf("leave-one-out errors: %v", err)
	}
	opts = ridge.ExactOptions{Method: ridge.Exact, MaxBytes: 1000}
	tall := testkit.Table{X: [][]float64{{1, 2}, {3, 4}, {5, 7}}, Y: [][]float64{{1}, {2}, {3}}}
	var large *ridge.SizeError
	if _, err := ridge.SolveExact(t.Context(), tall, []float64{0}, opts); !errors.As(err, &large) || large.Rows != 0 {
		t.Errorf("more rows than features: %v", err)
	}
}
