package ridge_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
	"github.com/fdridge/fdridge/ridge/reason"
)

// words returns n sparse rows like the words of texts: word j of d has the frequency 1/(j + 1), and a few topics prefer
// some words. The target depends on the topic.
func words(rng *rand.Rand, n, d int) (*engine.CSR, []float64) {
	x, y := &engine.CSR{Rows: n, Cols: d, RowPtr: []int{0}}, make([]float64, n)
	for i := range n {
		topic := rng.IntN(8)
		y[i] = float64(topic&1) + 0.3*rng.NormFloat64()
		size := 0.0
		for j := range d {
			often := 4 / float64(j+2)
			if j%8 == topic {
				often *= 4
			}
			if rng.Float64() < often {
				v := 1 + rng.Float64()
				x.ColIdx, x.Val = append(x.ColIdx, int32(j)), append(x.Val, v)
				size += v * v
			}
		}
		for k := x.RowPtr[i]; k < len(x.Val); k++ {
			x.Val[k] /= math.Sqrt(size)
		}
		x.RowPtr = append(x.RowPtr, len(x.Val))
	}
	return x, y
}

// TestTrialsLeaveOut: for many sparse rows, dual-cg brackets the leave-one-out errors and effective dimensions of dual,
// with and without an intercept and weights, for several targets. The brackets are narrow unless γ is small.
func TestTrialsLeaveOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(44, 4))
	const n, d = 640, 900
	x, y := words(rng, n, d)
	targets, weights := make([]float64, 0, 2*n), make([]float64, n)
	for i := range n {
		targets, weights[i] = append(targets, y[i], rng.NormFloat64()), 0.5+rng.Float64()
	}
	gammas := []float64{0.03, 1, 30}
	for _, weighted := range []bool{false, true} {
		for _, intercept := range []bool{false, true} {
			src := must(dataset.FromCSR(x, 2, targets))(t)
			if weighted {
				src = must(dataset.Weigh(src, must(dataset.FromDense(n, 1, 0, weights, nil))(t)))(t)
			}
			scores, fits := map[ridge.Method][][]ridge.Interval{}, map[ridge.Method][]*ridge.Solution{}
			for _, m := range []ridge.Method{ridge.Dual, ridge.DualCG} {
				f := must(
					ridge.Factorize(
						t.Context(),
						src,
						gammas,
						ridge.ExactOptions{Method: m, LeaveOneOut: true, Intercept: intercept},
					),
				)(
					t,
				)
				found, errs, err := f.LeaveOneOut(t.Context(), src, gammas, ridge.LeaveOneOutOptions{})
				if err != nil {
					t.Fatalf("%v: %v", m, err)
				}
				if f.Method() != m {
					t.Fatalf("%v ran as %v", m, f.Method())
				}
				scores[m], fits[m] = errs.Bounds, found
			}
			for i, g := range gammas {
				for j := range 2 {
					a, b := scores[ridge.Dual][i][j], scores[ridge.DualCG][i][j]
					if !(b.Lo <= a.Hi && a.Lo <= b.Hi) || !(g < 1 || b.Hi <= 1.02*b.Lo) {
						t.Errorf(
							"weighted %v, intercept %v, γ = %v, target %d: %v by dual-cg, %v by dual",
							weighted,
							intercept,
							g,
							j,
							b,
							a,
						)
					}
				}
				a, b := fits[ridge.Dual][i].EffectiveDimension, fits[ridge.DualCG][i].EffectiveDimension
				if !(b.Lo <= a.Hi && a.Lo <= b.Hi && b.Lo <= b.Hi) || !(g < 1 || b.Hi-b.Lo < 0.2*b.Hi) {
					t.Errorf("γ = %v: effective dimension %v by dual-cg, %v by dual", g, b, a)
				}
			}
		}
	}
}

// TestTrialsChoose: the choice of γ for sparse rows that are too costly to factor is proved, and it is the choice of
// dual.
func TestTrialsChoose(t *testing.T) {
	rng := rand.New(rand.NewPCG(44, 5))
	x, y := words(rng, 640, 900)
	src := must(dataset.FromCSR(x, 1, y))(t)
	candidates := []float64{0.3, 1, 3, 10, 30, 100}
	choice := map[ridge.Method]*fdridge.Result{}
	for _, m := range []ridge.Method{ridge.Dual, ridge.DualCG} {
		choice[m] = must(
			fdridge.Fit(t.Context(), src, fdridge.Options{Method: m, Candidates: candidates, Select: choose.LOO}),
		)(
			t,
		)
	}
	a, b := choice[ridge.Dual].Choice, choice[ridge.DualCG].Choice
	if a.Gamma() != b.Gamma() || !b.Certain || !(b.Score.Hi <= 1.01*b.Score.Lo) {
		t.Errorf(
			"γ = %v with %v by dual-cg (certain: %v), %v with %v by dual",
			b.Gamma(),
			b.Score,
			b.Certain,
			a.Gamma(),
			a.Score,
		)
	}
	if e := choice[ridge.DualCG].Best().WorstError(); !(e <= ridge.DefaultTol) {
		t.Errorf("relative error %v", e)
	}
}

// TestTrialsRule: leave-one-out errors of sparse rows that are too costly to factor are computed by dual-cg, up to
// plan.MaxTrialRows rows. If the number of rows is unknown and decides, the rows are counted.
func TestTrialsRule(t *testing.T) {
	p := plan.Problem{
		Rows:        7770,
		Dim:         8315,
		Targets:     1,
		Grid:        50,
		LeaveOneOut: true,
		Size:        256,
		MaxBytes:    ridge.DefaultMaxBytes,
		Sparse:      true,
	}
	if got := plan.Choose(p); got.Method != ridge.DualCG || got.Reason.Rule != reason.SparseLeverages {
		t.Errorf("%v", got)
	}
	for what, change := range map[string]func(*plan.Problem){
		"dense":     func(p *plan.Problem) { p.Sparse = false },
		"many rows": func(p *plan.Problem) { p.Rows = plan.MaxTrialRows + 1 },
		"gcv":       func(p *plan.Problem) { p.LeaveOneOut = false },
	} {
		other := p
		change(&other)
		if got := plan.Choose(other).Method; !got.Iterates() {
			t.Errorf("%s: %v", what, got)
		}
	}
	p.Sparse, p.Rows = false, -1
	if !plan.DependsOnRows(p) {
		t.Error("an unknown number of rows is not counted")
	}
	p.Dim = 54
	if plan.DependsOnRows(p) {
		t.Error("the rows of few features are counted")
	}
}
