package paper_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/paper"
	"github.com/fdridge/fdridge/ridge"
)

const eps = 0x1p-52

// TestRiskDense compares with the formulas evaluated as they stand, for sketches
// shorter and taller than d and fewer rows than features.
func TestRiskDense(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		r := rand.New(rand.NewPCG(1, 0))
		for _, c := range []struct{ n, d, m int }{
			{40, 12, 5}, {40, 12, 20}, {8, 12, 3}, {8, 12, 12}, {30, 1, 1}, {1, 4, 2}, {300, 70, 30},
		} {
			g := newDesign(t, r, decaying(r, c.n, c.d, 0.8), normals(r, c.d), 0.3, c.m, c.m, be)
			for _, e := range g.estimators(t) {
				for _, gamma := range []float64{1e-2, 1, 1e3} {
					risk, bounds := mustRisk(t, e, gamma)
					bias2, variance := g.dense(g.linear(t, e.Method, gamma))
					tol := 64 * eps * float64(c.d) * (1 + g.spec.Bound.Frobenius2/gamma)
					if !(math.Abs(risk.Bias2-bias2) <= tol*bias2) ||
						!(math.Abs(risk.Variance-variance) <= tol*variance) {
						t.Errorf(
							"%v %s γ=%v: ‖bias‖² %v, trace of the variance %v; want %v, %v",
							c,
							e.Method,
							gamma,
							risk.Bias2,
							risk.Variance,
							bias2,
							variance,
						)
					}
					if risk.Gamma != gamma || risk.MSE != risk.Bias2+risk.Variance {
						t.Errorf("%v %s γ=%v: %+v", c, e.Method, gamma, risk)
					}
					holds(t, fmt.Sprint(c, e.Method, gamma), bounds, risk)
				}
			}
		}
	})
}

func holds(t *testing.T, what string, b paper.RiskBounds, r paper.Risk) {
	t.Helper()
	for _, c := range []struct {
		name  string
		in    ridge.Interval
		value float64
	}{{"‖bias‖²", b.Bias2, r.Bias2}, {"trace of the variance", b.Variance, r.Variance}, {"MSE", b.MSE, r.MSE}} {
		if !(c.in.Lo >= 0 && c.in.Lo <= c.value && c.value <= c.in.Hi) {
			t.Errorf("%s: %s %v is not in %v", what, c.name, c.value, c.in)
		}
	}
}

// TestRiskSimulation draws b = Ax₀ + ε ten thousand times, has every method fit
// every one of them, and finds the means of what it sees within five standard
// errors of the closed forms.
func TestRiskSimulation(t *testing.T) {
	const n, d, m, trials, gamma = 20, 5, 3, 10000, 0.8
	r := rand.New(rand.NewPCG(2, 0))
	g := newDesign(t, r, decaying(r, n, d, 0.6), normals(r, d), 0.1, m, m, nil)
	var ax mat.VecDense
	ax.MulVec(g.a, mat.NewVecDense(d, g.x0))
	y := mat.NewDense(n, trials, normals(r, n*trials))
	y.Apply(func(i, _ int, v float64) float64 { return ax.AtVec(i) + math.Sqrt(g.noise)*v }, y)

	sum, err := ridge.NewSummary(
		ridge.SummaryConfig{Dim: d, Targets: trials, Size: m, ShrinkRows: m, Store: fd.StoreRows},
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := sum.Append(g.a, y, nil); err != nil {
		t.Fatal(err)
	}
	for _, e := range g.estimators(t) {
		risk, _ := mustRisk(t, e, gamma)
		var coef *mat.Dense // trials×d
		switch e.Method {
		case "exact":
			coef = fitChunks(t, g.a, y, gamma)
		case "classical":
			var sy mat.Dense
			sy.Mul(g.s, y)
			coef = fitChunks(t, g.sa(), &sy, gamma)
		case "hessian":
			coef = mat.NewDense(trials, d, nil)
			coef.Mul(y.T(), g.linear(t, e.Method, gamma).T())
		case "fd", "rfd":
			fit := sum.Fit
			if e.Method == "fd" {
				fit = sum.FitFD
			}
			f, err := fit(gamma)
			if err != nil {
				t.Fatal(err)
			}
			coef = f.Coef()
		}
		simulated(t, e.Method, coef, g.x0, risk)
	}
}

// fitChunks is ridge regression of the columns of y on a, a hundred at a time.
func fitChunks(t *testing.T, a, y *mat.Dense, gamma float64) *mat.Dense {
	t.Helper()
	const chunk = 100
	n, d := a.Dims()
	_, trials := y.Dims()
	out := mat.NewDense(trials, d, nil)
	for lo := 0; lo < trials; lo += chunk {
		s := (&design{a: a}).table(mat.DenseCopyOf(y.Slice(0, n, lo, lo+chunk)))
		fits, err := ridge.SolveExact(context.Background(), s, []float64{gamma}, ridge.ExactOptions{})
		if err != nil {
			t.Fatal(err)
		}
		out.Slice(lo, lo+chunk, 0, d).(*mat.Dense).Copy(fits[0].Coef())
	}
	return out
}

// simulated compares the rows of coef, draws of x̂, with the risk that they should
// have.
func simulated(t *testing.T, method string, coef *mat.Dense, x0 []float64, risk paper.Risk) {
	t.Helper()
	trials, d := coef.Dims()
	n := float64(trials)
	bias := make([]float64, d)
	for j := range d {
		bias[j] = stat.Mean(mat.Col(nil, j, coef), nil) - x0[j]
	}
	spread, loss, along := make([]float64, trials), make([]float64, trials), make([]float64, trials)
	var bias2 float64
	for _, b := range bias {
		bias2 += b * b
	}
	for i := range trials {
		for j, v := range coef.RawRowView(i) {
			loss[i] += (v - x0[j]) * (v - x0[j])
			spread[i] += (v - x0[j] - bias[j]) * (v - x0[j] - bias[j])
			along[i] += 2 * bias[j] * v
		}
	}
	mse, mseSD := stat.MeanStdDev(loss, nil)
	variance, varianceSD := stat.MeanStdDev(spread, nil)
	// The mean of the draws is off by e of covariance Σ/n, and its square has
	// mean ‖bias‖² + tr Σ/n, and variance 4·biasᵀΣbias/n + 2·tr Σ²/n².
	bias2 -= variance / n
	biasSE := math.Hypot(stat.StdDev(along, nil)/math.Sqrt(n), math.Sqrt2*variance/n)
	for _, c := range []struct {
		name              string
		seen, want, error float64
	}{
		{"‖bias‖²", bias2, risk.Bias2, biasSE},
		{"trace of the variance", variance * n / (n - 1), risk.Variance, varianceSD / math.Sqrt(n)},
		{"MSE", mse, risk.MSE, mseSD / math.Sqrt(n)},
	} {
		if !(math.Abs(c.seen-c.want) <= 5*c.error) || !(c.error <= 0.05*c.want) {
			t.Errorf(
				"%s: %s %v in %d trials, standard error %v; want %v",
				method,
				c.name,
				c.seen,
				trials,
				c.error,
				c.want,
			)
		}
	}
}

// counterexample is data on which the paper's theorem 1 fails, and what it
// assumes of them. The paper's sketch of m = 2 rows has a buffer of 2m and is
// shrunk by λ_m, which leaves m−1.
func counterexample() (a *mat.Dense, theta, gamma float64, size, shrinkRows int) {
	return mat.NewDense(6, 3, []float64{
		1, 0, -1,
		2, -100, -2,
		3, -100, -1,
		-3, -100, -3,
		1, -300, -2,
		1, -300, -1,
	}), 0.5, 106.6515, 1, 3
}

// TestBiasTheoremIsFalse is a counterexample to theorems 1 and 3 of the paper and their counterparts for RFD. All
// assumptions hold, but the squared bias is 28 times (FD) and 22 times (RFD) the squared bias of ridge regression. With
// little noise the same holds for the mean squared error. The paper claims at most 1/(1−θ) = 2 and 1/(1−θ') =
// 1.37. The bounds that replace the theorems hold.
func TestBiasTheoremIsFalse(t *testing.T) {
	a, theta, gamma, size, shrinkRows := counterexample()
	var svd mat.SVD
	svd.Factorize(a, mat.SVDNone)
	s := svd.Values(nil)
	if need := (s[1]*s[1] + s[2]*s[2]) / (1 - math.Sqrt(1-theta)); !(math.Abs(gamma-need) <= 1e-4) { // m = 2, k = 1
		t.Fatalf("the theorem is about γ = %v", need)
	}
	r := rand.New(rand.NewPCG(3, 0))
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		g := newDesign(t, r, a, normals(r, 3), 0, size, shrinkRows, be)
		for method, want := range map[string]float64{"fd": 27.9877, "rfd": 22.1674} {
			g := newDesign(t, r, a, g.worst(t, method, gamma), 1e-9, size, shrinkRows, be)
			optimal, _ := mustRisk(t, g.model.Exact(), gamma)
			for _, e := range g.estimators(t) {
				if e.Method != method {
					continue
				}
				risk, bounds := mustRisk(t, e, gamma)
				holds(t, method, bounds, risk)
				bias, mse := risk.Bias2/optimal.Bias2, risk.MSE/optimal.MSE
				if !(math.Abs(bias-want) <= 1e-4) || !(mse >= 0.99*want) {
					t.Errorf(
						"%s: squared bias %v and MSE %v times those of ridge regression, want %v",
						method,
						bias,
						mse,
						want,
					)
				}
			}
		}
	})
}

// worst is the x₀ that maximises ‖bias(x̂)‖/‖bias(x*)‖ = ‖Mu‖/(γ‖u‖) with
// u = H⁻¹x₀ and M = (Ĥ⁻¹K − I)H: x₀ = Hu for its leading right singular vector.
func (g *design) worst(t *testing.T, method string, gamma float64) []float64 {
	t.Helper()
	_, d := g.a.Dims()
	var h, m, v mat.Dense
	h.Mul(g.a.T(), g.a)
	m.Mul(g.linear(t, method, gamma), g.a)
	for i := range d {
		h.Set(i, i, h.At(i, i)+gamma)
		m.Set(i, i, m.At(i, i)-1)
	}
	m.Mul(&m, &h)
	var svd mat.SVD
	if !svd.Factorize(&m, mat.SVDThin) {
		t.Fatal("no singular values")
	}
	svd.VTo(&v)
	var x0 mat.VecDense
	x0.MulVec(&h, v.ColView(0))
	return x0.RawVector().Data
}

// TestRiskBounds holds them to be true on data of many shapes and for the worst
// x₀ of each.
func TestRiskBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 0))
	for trial := range 60 {
		n, d := 2+r.IntN(30), 1+r.IntN(12)
		m, p := 1+r.IntN(d), 1+r.IntN(d)
		a := decaying(r, n, d, 0.3+0.7*r.Float64())
		gamma := math.Exp2(16*r.Float64() - 10)
		g := newDesign(t, r, a, normals(r, d), 1, m, p, nil)
		for _, x0 := range [][]float64{g.x0, g.worst(t, "fd", gamma), g.worst(t, "rfd", gamma)} {
			g := newDesign(t, r, a, x0, 1, m, p, nil)
			optimal, _ := mustRisk(t, g.model.Exact(), gamma)
			for _, e := range g.estimators(t) {
				risk, bounds := mustRisk(t, e, gamma)
				holds(t, fmt.Sprint(trial, e.Method), bounds, risk)
				if e.Method == "fd" && !(risk.Variance >= optimal.Variance*(1-1e-10)) {
					t.Errorf(
						"%d: the variance of FDRR is %v, less than the %v of x*",
						trial,
						risk.Variance,
						optimal.Variance,
					)
				}
			}
		}
	}
}

// TestRiskBoundsAreAttained has rows a·e₁ and b·e₂, a ≫ b, and a sketch of one row, so that K − BᵀB = b²I.
// With x₀ = e₂ the bias is at the lower end of its bounds, for FD because γ > b². The trace of the variance is at
// the upper end of its bounds.
func TestRiskBoundsAreAttained(t *testing.T) {
	const b, gamma = 1.5, 4
	r := rand.New(rand.NewPCG(5, 0))
	g := newDesign(t, r, mat.NewDense(2, 2, []float64{1e5, 0, 0, b}), []float64{0, 1}, 1, 1, 1, nil)
	for _, e := range g.estimators(t)[1:3] {
		risk, bounds := mustRisk(t, e, gamma)
		if !(risk.Bias2 <= bounds.Bias2.Lo*(1+1e-4)) {
			t.Errorf("%s: ‖bias‖² %v in %v", e.Method, risk.Bias2, bounds.Bias2)
		}
		if !(risk.Variance >= bounds.Variance.Hi*(1-1e-4)) {
			t.Errorf("%s: trace of the variance %v in %v", e.Method, risk.Variance, bounds.Variance)
		}
	}
}

// TestRiskBoundsPad: a sketch that is off by as much as its RoundOff allows.
func TestRiskBoundsPad(t *testing.T) {
	const a, b, pad, gamma = 1e5, 1, 1, 4 // b² = pad: B may miss e₂ altogether
	r := rand.New(rand.NewPCG(7, 0))
	g := newDesign(t, r, mat.NewDense(2, 2, []float64{a, 0, 0, b}), []float64{0, 1}, 1, 1, 1, nil)
	for _, off := range []float64{-pad, pad} {
		g.spec = &fd.Spectrum{
			Dim: 2, Sigma2: []float64{a * a, b*b + off}, V: []float64{1, 0, 0, 1},
			Bound: fd.Bound{RoundOff: pad, Frobenius2: a*a + b*b, Rows: 2},
		}
		for _, e := range g.estimators(t)[1:3] {
			risk, bounds := mustRisk(t, e, gamma)
			holds(t, fmt.Sprint(e.Method, off), bounds, risk)
			if off < 0 && !(risk.Variance >= bounds.Variance.Hi*(1-1e-4)) {
				t.Errorf("%s: trace of the variance %v in %v", e.Method, risk.Variance, bounds.Variance)
			}
		}
	}
}

// TestRiskBoundsRoundOff: a lossless sketch has η ≈ 0, and the bounds are only as wide as their allowance for
// round-off. The allowance must cover the round-off of the closed forms, even for γ so small that the result is only
// round-off. For moderate γ it must be at most 4e-6. Negative computed eigenvalues must not add to the bias.
func TestRiskBoundsRoundOff(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		r := rand.New(rand.NewPCG(6, 0))
		for trial := range 20 {
			n, d, m := 100, 20, 5
			a := mat.NewDense(n, d, nil)
			a.Mul(mat.NewDense(n, m, normals(r, n*m)), decaying(r, m, d, 0.5))
			g := newDesign(t, r, a, normals(r, d), 1, m, m, be)
			for _, relative := range []float64{1e-18, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 1, 1e3} {
				gamma := relative * g.spec.Bound.Frobenius2
				for _, e := range g.estimators(t)[:3] {
					risk, bounds := mustRisk(t, e, gamma)
					holds(t, fmt.Sprint(trial, e.Method, relative), bounds, risk)
					if x := floats.Norm(g.x0, 2); e.Method == "exact" && !(risk.Bias2 <= x*x*(1+1e-14)) {
						t.Errorf("%d γ = %v‖A‖²: ‖bias‖² %v for an x₀ of length %v", trial, relative, risk.Bias2, x)
					}
					if relative >= 1e-6 && !(bounds.MSE.Hi-bounds.MSE.Lo <= 4e-6*risk.MSE) {
						t.Errorf("%d %s γ = %v‖A‖²: %v for %v", trial, e.Method, relative, bounds.MSE, risk.MSE)
					}
				}
			}
		}
	})
}
