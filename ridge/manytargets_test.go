package ridge_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// TestManyTargets: sums of many targets, which are added in larger groups, and the solutions from them are within
// their bounds of the exact ones. More rows replace what is known.
func TestManyTargets(t *testing.T) {
	const n, d, targets = 300, 5, roundoff.ManyTargets + 70
	r := rand.New(rand.NewPCG(1, 4))
	x, y := make([]float64, n*d), make([]float64, n*targets)
	for i := range x {
		x[i] = 7 + r.NormFloat64()
	}
	for i := range y {
		y[i] = x[i/targets*d]*float64(i%3) + r.NormFloat64()
	}
	gammas := make([]float64, targets)
	for j := range gammas {
		gammas[j] = math.Pow(10, float64(j%5)-2)
	}
	for _, intercept := range []bool{true, false} {
		sum := testkit.Must(ridge.NewSummary(ridge.SummaryConfig{Dim: d, Targets: targets, Size: d, Intercept: intercept}))(t)
		if err := sum.AppendBlock(dataset.Block{N: n, X: x, Y: y}); err != nil {
			t.Fatal(err)
		}
		s := testkit.Must(sum.FitEach(gammas))(t)
		for _, j := range []int{0, 63, 64, 65, 127, 128, 511, 512, targets - 1} {
			rows, own := make([][]float64, n), make([][]float64, n)
			for i := range rows {
				rows[i], own[i] = x[i*d:(i+1)*d], y[i*targets+j:i*targets+j+1]
			}
			want, o := testkit.Must(refbig.New(rows, own, nil, intercept).Solve(gammas[j]))(t), &s.Targets[j]
			if away := refbig.Distance(o.Coef, want.Coef[0]); !(away <= o.ErrorBound && o.RelativeErrorBound <= 1e-9) {
				t.Errorf("target %d: the error is %v, the bound %v", j, away, o.ErrorBound)
			}
			rss, _ := want.RSS[0].Float64()
			if !(o.RSS.Lo <= rss*(1+1e-9) && o.RSS.Hi >= rss*(1-1e-9) && o.RSS.Hi-o.RSS.Lo <= 1e-6*rss) {
				t.Errorf("target %d: RSS is %v, not in %v", j, rss, o.RSS)
			}
		}
		if err := sum.AppendBlock(dataset.Block{N: 1, X: x[:d], Y: y[:targets]}); err != nil {
			t.Fatal(err)
		}
		again := testkit.Must(sum.FitEach(gammas))(t)
		if again.Rows != n+1 || again.Targets[0].Coef[0] == s.Targets[0].Coef[0] {
			t.Errorf("after another row the solution of %d rows is the old one", again.Rows)
		}
		if _, err := ridge.SolveEach(
			t.Context(), testkit.Must(dataset.FromDense(n, d, targets, x, y))(t), sum, gammas, ridge.SolveOptions{},
		); err == nil {
			t.Error("rows of another number were accepted")
		}
	}
}
