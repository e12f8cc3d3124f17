package ridge_test

// What an outsider's search found in refined fits. Each test fails on the commit it was found on.

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

func bigOf(v float64) *big.Float { return new(big.Float).SetPrec(4000).SetFloat64(v) }

func extremeSource(t *testing.T, n, d int, x, y, w []float64) dataset.Source {
	t.Helper()
	src, err := dataset.FromDense(n, d, 1, x, y)
	if err != nil {
		t.Fatal(err)
	}
	if w == nil {
		return src
	}
	ws, err := dataset.FromDense(n, 1, 1, w, make([]float64, n))
	if err != nil {
		t.Fatal(err)
	}
	src, err = dataset.Weigh(src, ws)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func extremeSolve(
	t *testing.T, src dataset.Source, cfg ridge.SummaryConfig, gamma float64, o ridge.SolveOptions,
) *ridge.Solution {
	t.Helper()
	sum, err := ridge.Summarize(context.Background(), src, cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := ridge.Solve(context.Background(), src, sum, gamma, o)
	var nc *ridge.NotConvergedError
	if errors.As(err, &nc) {
		return nc.Solutions[0]
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestRefinedRenewedOrigin: the best iterate keeps the RSS, energy and objective that were measured for its own
// weights, even if the origin is renewed later.
func TestRefinedRenewedOrigin(t *testing.T) {
	x := []float64{
		1000,
		0,
		1,
		1e+15,
		1,
		1001,
		1.003003001e+09,
		1.004006004001e+12,
		1.005010010005001e+15,
		1.006015020015006e+18,
		1003,
		0,
		1.012054108081e+12,
		1.015090270405243e+15,
		1.0181355412164588e+18,
		1004,
		1,
		1.016096256256e+12,
		1.020160641281024e+15,
		1.0242412838461481e+18,
		1006,
		1.018108216e+09,
		1.024216865296e+12,
		1.030362166487776e+15,
		1.0365443394867026e+18,
	}
	y := []float64{1, 0, 0, 1, 0}
	w := []float64{
		1.120673223057829e+16,
		1.120673223057829e+16,
		2.241346446115658e+16,
		2.241346446115658e+16,
		2.241346446115658e+16,
	}
	f := extremeSolve(
		t,
		extremeSource(t, 5, 5, x, y, w),
		ridge.SummaryConfig{Size: 1},
		1,
		ridge.SolveOptions{Method: ridge.Galerkin, Tol: 1e-12},
	)
	rss := bigOf(0)
	for i := range y {
		r := bigOf(-y[i])
		for j, v := range f.Targets[0].Coef {
			r.Add(r, bigOf(0).Mul(bigOf(x[i*5+j]), bigOf(v)))
		}
		rss.Add(rss, bigOf(0).Mul(r.Mul(r, r), bigOf(w[i])))
	}
	if b := f.Targets[0].RSS; rss.Cmp(bigOf(b.Lo)) < 0 || rss.Cmp(bigOf(b.Hi)) > 0 {
		t.Errorf("‖Ax̂ − b‖² is %.6g, certified %v", rss, b)
	}
}

// ‖Ĥ⁻¹g‖ and gᵀĤ⁻¹g are sums of squares that underflow where ‖g‖² does not.
func TestRefinedSquaresOfSteps(t *testing.T) {
	src := extremeSource(t, 1, 1, []float64{3.1901201339002456e+16}, []float64{0}, []float64{7.1087893171324305e+19})
	start := mat.NewDense(1, 1, []float64{rand.New(rand.NewPCG(0x68f0, 5)).NormFloat64() * 1e12})
	f := extremeSolve(
		t,
		src,
		ridge.SummaryConfig{Size: 1},
		5.441135402282135e+41,
		ridge.SolveOptions{Method: ridge.Newton, Tol: 1e-15, Start: start},
	)
	if o := f.Targets[0]; !(math.Abs(o.Coef[0]) <= o.ErrorBound) {
		t.Errorf(
			"x* is 0, x̂ %g, its bound %g (relative %g), %v",
			o.Coef[0],
			o.ErrorBound,
			o.RelativeErrorBound,
			f.Status,
		)
	}
}

// What underflows in R⁻ᵀg and R⁻¹R⁻ᵀg is multiplied by R in the norm of H, and by R⁻¹.
func TestRefinedStepsUnderflow(t *testing.T) {
	for _, c := range []struct {
		y, gamma float64
		factor   ridge.Method
	}{
		{-1.0619739203824282e-300, 4.792970578939868e+20, ridge.QR},
		{-1.2842829034939e-310, 2.5770100501924704e+16, ridge.Cholesky},
	} {
		fits, err := ridge.SolveExact(
			context.Background(),
			extremeSource(t, 1, 1, []float64{1}, []float64{c.y}, nil),
			[]float64{c.gamma},
			ridge.ExactOptions{Method: c.factor, Tol: 1e-15},
		)
		if err != nil {
			t.Fatal(err)
		}
		o := fits[0].Targets[0]
		h := bigOf(0).Add(bigOf(1), bigOf(c.gamma))
		off := bigOf(0).Sub(bigOf(o.Coef[0]), bigOf(0).Quo(bigOf(c.y), h))
		off.Mul(off.Abs(off), h.Sqrt(h))
		if off.Cmp(bigOf(o.EnergyBound)) > 0 {
			t.Errorf("%v: ‖H^{½}(x̂ − x*)‖ is %.4g, certified %.4g", c.factor, off, o.EnergyBound)
		}
	}
	// weights: X is a permutation of a diagonal, no intercept needed for the reference but for means of y
	x, y := []float64{0, 1.4411518807585587e+17, 8.796093022208e+12, 0}, []float64{0, -8.622632189750732e-301}
	const gamma = 3.081779665462871e+22
	fits, err := ridge.SolveExact(
		context.Background(),
		extremeSource(t, 2, 2, x, y, nil),
		[]float64{gamma},
		ridge.ExactOptions{Method: ridge.QR, Tol: 1e-15, Intercept: true},
	)
	if err != nil {
		t.Fatal(err)
	}
	// centred rows are ±z, z = (−8.8e12, 1.44e17)/2: x* = 2z·(y₁−y₂)/2/(2‖z‖² + γ)
	z := []*big.Float{bigOf(0).Quo(bigOf(-x[2]), bigOf(2)), bigOf(0).Quo(bigOf(x[1]), bigOf(2))}
	b := bigOf(0).Quo(bigOf(-y[1]), bigOf(2))
	den := bigOf(gamma)
	for _, v := range z {
		den.Add(den, bigOf(0).Mul(bigOf(2), bigOf(0).Mul(v, v)))
	}
	sum := bigOf(0)
	for j, v := range z {
		e := bigOf(0).Mul(bigOf(2), bigOf(0).Mul(v, b))
		e.Sub(bigOf(fits[0].Targets[0].Coef[j]), e.Quo(e, den))
		sum.Add(sum, e.Mul(e, e))
	}
	sum.Sqrt(sum)
	if sum.Cmp(bigOf(fits[0].Targets[0].ErrorBound)) > 0 {
		t.Errorf("‖x̂ − x*‖ is %.4g, certified %.4g", sum, fits[0].Targets[0].ErrorBound)
	}
}

// A bound is never NaN.
func TestRefinedGammaNearTheEnd(t *testing.T) {
	fits, err := ridge.SolveExact(
		context.Background(),
		extremeSource(t, 1, 1, []float64{0}, []float64{0}, nil),
		[]float64{4e307},
		ridge.ExactOptions{},
	)
	if err != nil {
		t.Skip(err)
	}
	o := fits[0].Targets[0]
	if math.IsNaN(o.ErrorBound) || math.IsNaN(o.EnergyBound) || math.IsNaN(o.RSS.Hi) || math.IsNaN(o.GCV.Hi) {
		t.Errorf("%+v", o.Certificate)
	}
}

// offsetRows are 50 rows of 3 features about an offset, and targets about another.
func offsetRows(t *testing.T, offset, targets float64) dataset.Source {
	r := rand.New(rand.NewPCG(1, 2))
	const n, d = 50, 3
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	for i := range y {
		y[i] = x[i*d] - x[i*d+1] + r.NormFloat64() + targets
	}
	for i := range x {
		x[i] += offset
	}
	return extremeSource(t, n, d, x, y, nil)
}

// A smaller tolerance loses nothing that a larger one would have certified. For targets far from zero, refinement makes
// the bracket of the residual a hundred times narrower.
func TestRefinedOffsets(t *testing.T) {
	for _, offset := range []float64{1e8, 1e10} {
		src := offsetRows(t, offset, 0)
		cfg := ridge.SummaryConfig{Size: 2, Intercept: true}
		loose := extremeSolve(t, src, cfg, 1, ridge.SolveOptions{Tol: 1e-8})
		tight := extremeSolve(t, src, cfg, 1, ridge.SolveOptions{Tol: 1e-15})
		if a, b := loose.Targets[0].RelativeErrorBound, tight.Targets[0].RelativeErrorBound; b > 2*a {
			t.Errorf("features about %g: %.3g is certified where 1e-8 is asked for, %.3g where 1e-15 is", offset, a, b)
		}
	}
	for _, f := range []ridge.Method{ridge.Cholesky, ridge.QR, ridge.Tridiagonal} {
		var width [2]float64
		for i, tol := range []float64{0, 1e-15} {
			fits, err := ridge.SolveExact(
				context.Background(),
				offsetRows(t, 0, 1e10),
				[]float64{1},
				ridge.ExactOptions{Method: f, Tol: tol, Intercept: true},
			)
			if err != nil {
				t.Fatal(err)
			}
			width[i] = fits[0].Targets[0].RSS.Hi - fits[0].Targets[0].RSS.Lo
		}
		if width[1] > width[0]/100 { // residuals and their rounding are of the size of the noise
			t.Errorf(
				"%v: targets about 1e10: the bracket of the residual is %.3g wide, refined %.3g",
				f,
				width[0],
				width[1],
			)
		}
	}
}

// A target that is zero in every row, a start that isn't, ordinary data and the default tolerance:
// the iteration ends when the start is gone but for a rounding.
func TestRefinedZeroTarget(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n, d = 50, 3
	x, y := make([]float64, n*d), make([]float64, 2*n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	for i := range n {
		y[2*i] = r.NormFloat64()
	}
	src, err := dataset.FromDense(n, d, 2, x, y)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := ridge.Summarize(context.Background(), src, ridge.SummaryConfig{Size: 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []ridge.Method{ridge.CG, ridge.Galerkin, ridge.Newton} {
		f, err := ridge.Solve(
			context.Background(),
			src,
			sum,
			1,
			ridge.SolveOptions{Method: m, MaxPasses: 3000, Start: mat.NewDense(2, d, []float64{1, 2, 3, 1, 2, 3})},
		)
		if err != nil {
			t.Errorf("%v: %.120v", m, err)
			continue
		}
		t.Logf("%v: %v, %d passes", m, f.Status, f.Passes)
	}
}

// TestRefinedNearlyZeroTarget: a target is orthogonal to the rows except for a part of 2⁻⁵⁰. Plain arithmetic
// rounds this part to zero, arithmetic with twice the digits does not. The solution of this part is certified.
func TestRefinedNearlyZeroTarget(t *testing.T) {
	const n = 64
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = 1, float64(1-2*(i%2))
	}
	y[0] += 0x1p-50
	src := extremeSource(t, n, 1, x, y, nil)
	sum := testkit.Summarize(t, src, ridge.SummaryConfig{Size: 1})
	for _, m := range []ridge.Method{ridge.CG, ridge.Galerkin, ridge.Newton} {
		f := testkit.Must(ridge.Solve(t.Context(), src, sum, 1, ridge.SolveOptions{Method: m}))(t)
		if o := f.Targets[0]; f.Status != ridge.Converged || !(math.Abs(o.Coef[0]-0x1p-50/65) <= o.ErrorBound) {
			t.Errorf("%v: x̂ is %g, certified to %g, %v", m, o.Coef[0], o.RelativeErrorBound, f.Status)
		}
	}
}

// A gradient γx that underflows says nothing of x: a bound of zero promises that there is no error.
func TestRefinedGradientUnderflows(t *testing.T) {
	start := mat.NewDense(1, 1, []float64{rand.New(rand.NewPCG(0x6b61eb, 5)).NormFloat64()})
	f := extremeSolve(
		t,
		extremeSource(t, 1, 1, []float64{0}, []float64{0}, nil),
		ridge.SummaryConfig{Size: 1},
		7.159842647962735e-09,
		ridge.SolveOptions{Method: ridge.Galerkin, Tol: 1e-17, Start: start},
	)
	if o := f.Targets[0]; !(math.Abs(o.Coef[0]) <= o.ErrorBound) {
		t.Errorf(
			"x* is 0, x̂ %g, its bound %g (relative %g), %v",
			o.Coef[0],
			o.ErrorBound,
			o.RelativeErrorBound,
			f.Status,
		)
	}
}

// What is lost where rows of two blocks are joined is lost in ‖b‖².
func TestRefinedJoinedTargets(t *testing.T) {
	rows := extremeSource(
		t,
		2,
		1,
		[]float64{0, 0},
		[]float64{0, 1.7815200681897e-310},
		[]float64{1.1517741445500304e-40, 1},
	)
	first, err := dataset.Rows(rows, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	second, err := dataset.Rows(rows, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	src, err := dataset.Concat(first, second) // blocks of one row
	if err != nil {
		t.Fatal(err)
	}
	sum := testkit.Summarize(t, src, ridge.SummaryConfig{Size: 1, Intercept: true})
	if _, err := ridge.Solve(t.Context(), src, sum, 1, ridge.SolveOptions{}); !errors.As(err, new(*ridge.ScaleError)) {
		t.Errorf("targets whose squares underflow are solved for: %v", err)
	}
}
