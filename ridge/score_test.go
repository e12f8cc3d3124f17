package ridge_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
)

// TestScore: hold-out scores are those of predictions one by one.
func TestScore(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	train, test := problem(r, "gaussian", 60, 5, 2, 1), problem(r, "gaussian", 600, 5, 2, 1)
	sum := summarize(t, train, ridge.SummaryConfig{Size: 5, Intercept: true})
	fits := must(sum.Path([]float64{0.1, 10, 1000}))(t)
	for i := range test.x {
		test.w = append(test.w, float64(i%3))
	}
	for _, sparse := range []bool{false, true} {
		test.sparse = sparse
		h := must(ridge.Score(context.Background(), test, fits))(t)
		if h.Rows != 600 || len(h.RSS) != 3 || len(h.TSS) != 2 {
			t.Fatalf("%+v", h)
		}
		for j := range 2 {
			mean, tss := 0.0, 0.0
			total := 0.0
			for i, y := range test.y {
				mean += test.w[i] * y[j]
				total += test.w[i]
			}
			mean /= total
			for i, y := range test.y {
				tss += test.w[i] * (y[j] - mean) * (y[j] - mean)
			}
			if !(math.Abs(h.TSS[j]-tss) <= 1e-10*tss) {
				t.Errorf("TSS %g, want %g", h.TSS[j], tss)
			}
			for i, f := range fits {
				rss, yhat := 0.0, make([]float64, 2)
				for k, x := range test.x {
					if err := f.PredictRow(yhat, x); err != nil {
						t.Fatal(err)
					}
					rss += test.w[k] * (yhat[j] - test.y[k][j]) * (yhat[j] - test.y[k][j])
				}
				if !(math.Abs(h.RSS[i][j]-rss) <= 1e-9*rss) || !(math.Abs(h.R2[i][j]-(1-rss/tss)) <= 1e-9) {
					t.Errorf("γ = %g: RSS %g, R² %g, want %g and %g", f.Gamma, h.RSS[i][j], h.R2[i][j], rss, 1-rss/tss)
				}
			}
		}
	}
}

func TestScoreRefuses(t *testing.T) {
	s := problem(rand.New(rand.NewPCG(1, 1)), "gaussian", 20, 3, 1, 1)
	f := must(summarize(t, s, ridge.SummaryConfig{Size: 2}).Fit(1))(t)
	ctx := context.Background()
	if _, err := ridge.Score(ctx, problem(rand.New(rand.NewPCG(1, 1)), "gaussian", 20, 4, 1, 1), []*ridge.Solution{f}); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("four features: %v", err)
	}
	if _, err := ridge.Score(ctx, empty{3, 1}, []*ridge.Solution{f}); !errors.Is(err, ridge.ErrEmpty) {
		t.Errorf("no rows: %v", err)
	}
	huge := table{x: [][]float64{{1, 1, 1}}, y: [][]float64{{1e200}}}
	var e *fd.RangeError
	if _, err := ridge.Score(ctx, huge, []*ridge.Solution{f}); !errors.As(err, &e) {
		t.Errorf("1e200: %v", err)
	}
	constant := table{x: s.x[:2], y: [][]float64{{3}, {3}}}
	if h := must(ridge.Score(ctx, constant, []*ridge.Solution{f}))(t); !math.IsNaN(h.R2[0][0]) {
		t.Errorf("R² of a constant: %v", h.R2)
	}
}
