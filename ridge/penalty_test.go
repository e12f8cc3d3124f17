package ridge_test

import (
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/ridgetest"
)

// scaledTable has the rows of s divided by √p, as a source has them that dataset.Penalty scales.
func scaledTable(s table, p []float64) table {
	s.x = slices.Clone(s.x)
	for i, row := range s.x {
		row = slices.Clone(row)
		for j := range row {
			row[j] /= math.Sqrt(p[j])
		}
		s.x[i] = row
	}
	return s
}

func drawPenalty(t *rapid.T, d int) []float64 {
	decades := rapid.SampledFrom([]float64{0, 1, 8}).Draw(t, "decades")
	out := make([]float64, d)
	for j := range out {
		out[j] = math.Pow(10, decades*rapid.Float64Range(-1, 1).Draw(t, "p"))
	}
	return out
}

// TestPenalizeCertificates: a penalty that is put on a summary made without it is certified against
// 512-bit arithmetic, with and without passes, and so are its predictions.
func TestPenalizeCertificates(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		rapid.Check(t, func(t *rapid.T) {
			d := drawProblem(t, be)
			p := drawPenalty(t, len(d.table.x[0]))
			scaled := scaledTable(d.table, p)
			ref := refbig.New(scaled.x, scaled.y, scaled.w, d.sum.Config().Intercept)
			gamma := scaleOf(ref) * math.Pow(10, rapid.Float64Range(-7, 2).Draw(t, "log γ of scaled"))
			view := must(d.sum.Penalize(p))(t)
			if !slices.Equal(view.Penalty(), p) || d.sum.Penalty() != nil {
				t.Fatalf("the penalty is %v and %v, want %v and none", view.Penalty(), d.sum.Penalty(), p)
			}
			robust, plain := must(view.Fit(gamma))(t), must(view.FitFD(gamma))(t)
			ridgetest.Certificate(t, ref, robust)
			ridgetest.Certificate(t, ref, plain)
			method := rapid.SampledFrom(methods).Draw(t, "method")
			f, err := ridge.Solve(
				context.Background(),
				scaled,
				view,
				gamma,
				ridge.SolveOptions{Method: method, MaxPasses: rapid.IntRange(1, 40).Draw(t, "passes")},
			)
			var short *ridge.NotConvergedError
			if errors.As(err, &short) {
				f = short.Solutions[0]
			} else if err != nil {
				t.Fatal(err)
			}
			if f != nil {
				ridgetest.Certificate(t, ref, f)
			}
			predicted(t, view, ref, scaled, gamma, f)
		})
	})
}

// predicted holds predictions for the rows of s to the exact ones.
func predicted(t *rapid.T, sum *ridge.Summary, ref *refbig.Problem, s table, gamma float64, f *ridge.Solution) {
	truth, err := ref.Solve(gamma)
	if err != nil {
		t.Fatal(err)
	}
	pr := must(sum.Predictor(gamma))(t)
	if f != nil {
		if err := pr.Narrow(f); err != nil {
			t.Fatal(err)
		}
	}
	k := len(s.y[0])
	got := make([]ridge.Interval, k)
	for _, row := range s.x[:min(len(s.x), 5)] {
		if err := pr.Predict(got, dataset.Block{N: 1, X: row}); err != nil {
			t.Fatal(err)
		}
		for j := range k {
			y, _ := truth.Intercept[j].Float64()
			for i, v := range row {
				x, _ := truth.Coef[j][i].Float64()
				y += x * v
			}
			if slack := 1e-9 * (math.Abs(y) + got[j].Hi - got[j].Lo); !(y >= got[j].Lo-slack && y <= got[j].Hi+slack) {
				t.Fatalf("the exact prediction is %v, proved was %v", y, got[j])
			}
		}
	}
}

// penalisedProblem returns n rows of d columns. Only the first quarter of the columns matters to the targets.
func penalisedProblem(n, d int) table {
	r := rand.New(rand.NewPCG(7, 7))
	s := table{block: 64}
	for range n {
		row := normals(r, d)
		y := r.NormFloat64()
		for _, v := range row[:d/4] {
			y += v
		}
		s.x, s.y = append(s.x, row), append(s.y, []float64{y, 2 * y})
	}
	return s
}

// TestFitPenalty: with a penalty, Fit equals Fit of rows that were divided by its root, with this rounding declared, to
// the bit. This holds for every method. The coefficients belong to the columns as they are.
func TestFitPenalty(t *testing.T) {
	const n, d = 200, 12
	s := penalisedProblem(n, d)
	p := make([]float64, d)
	for j := range p {
		p[j] = math.Pow(10, float64(j%5)-2)
	}
	for _, method := range []ridge.Method{
		ridge.OneShot, ridge.CG, ridge.Galerkin, ridge.Newton, ridge.Cholesky, ridge.QR, ridge.Tridiagonal, ridge.Exact,
	} {
		for _, intercept := range []bool{false, true} {
			opts := fdridge.Options{Gammas: []float64{500, 5000}, Method: method, Size: 6, NoIntercept: !intercept}
			if !method.IsDirect() {
				opts.Summarize = storing(fd.StoreRows)
			}
			opts.Rounding = dataset.PenaltyRounding(p)
			want, err := fdridge.Fit(context.Background(), scaledTable(s, p), opts)
			if err != nil {
				t.Fatal(method, err)
			}
			opts.Penalty, opts.Rounding = p, nil
			got, err := fdridge.Fit(context.Background(), s, opts)
			if err != nil {
				t.Fatal(method, err)
			}
			for i, f := range got.Solutions {
				if !slices.Equal(f.Penalty, p) {
					t.Errorf("%s: the penalty of the solution is %v", method, f.Penalty)
				}
				for j, o := range f.Targets {
					w := want.Solutions[i].Targets[j]
					if !slices.Equal(o.Scaled, w.Coef) || o.Intercept != w.Intercept || o.Certificate != w.Certificate {
						t.Errorf("%s, intercept %v: other weights, or bounds, than of scaled rows", method, intercept)
					}
					for k, x := range o.Coef {
						if x != w.Coef[k]/math.Sqrt(p[k]) {
							t.Errorf("%s: weight %d is %v, want %v/√%v", method, k, x, w.Coef[k], p[k])
						}
					}
				}
				fitted := f.Fitted()
				if fitted.Penalty != nil || !slices.Equal(fitted.Targets[1].Coef, want.Solutions[i].Targets[1].Coef) ||
					fitted.Targets[1].Scaled != nil {
					t.Errorf("%s: Fitted is %+v", method, fitted)
				}
			}
		}
	}
}

// TestFitSummaryPenalty: a penalty on a summary gives the same weights, up to the tolerance, as rows that were scaled
// by the penalty before. This holds for a given γ and for a chosen γ.
func TestFitSummaryPenalty(t *testing.T) {
	const n, d = 300, 16
	s := penalisedProblem(n, d)
	p := make([]float64, d)
	for j := range p {
		p[j] = []float64{0.1, 1, 10}[j%3]
	}
	for _, store := range []fd.Storage{fd.StoreRows, fd.StoreScatter} {
		sum := summarize(t, s, ridge.SummaryConfig{Size: 5, Intercept: true, Store: store})
		for _, opts := range []fdridge.Options{
			{NoIntercept: true, Gammas: []float64{2}, Method: ridge.CG}, {NoIntercept: true, Method: ridge.Galerkin},
			{NoIntercept: true, Candidates: []float64{0.1, 1, 10}},
		} {
			opts.Penalty, opts.Tol = p, 1e-11
			got, err := fdridge.FitSummary(context.Background(), s, sum, opts)
			if err != nil {
				t.Fatal(err)
			}
			opts.Gammas, opts.Candidates, opts.NoIntercept = []float64{got.Best().Gamma}, nil, false
			want, err := fdridge.Fit(context.Background(), s, opts)
			if err != nil {
				t.Fatal(err)
			}
			var off mat.Dense
			off.Sub(got.Best().Coef(), want.Best().Coef())
			if !(mat.Norm(&off, 2) <= 1e-10*mat.Norm(want.Best().Coef(), 2)) {
				t.Errorf("weights are off by %g", mat.Norm(&off, 2))
			}
			if got.Choice != nil && !slices.Equal(got.Choice.Path[0].Penalty, p) {
				t.Error("solutions of the path have no penalty")
			}
		}
		one, err := fdridge.FitSummary(
			context.Background(),
			nil,
			sum,
			fdridge.Options{NoIntercept: true, Gammas: []float64{2}, Penalty: p},
		)
		if err != nil {
			t.Fatal(err)
		}
		view := must(sum.Penalize(p))(t)
		if want := must(view.Fit(2))(t); !slices.Equal(one.Best().Targets[0].Scaled, want.Targets[0].Coef) {
			t.Error("one-shot: another solution than that of the view")
		}
	}
}

// TestPenalizeLossless: where nothing is lost η is 0 in penalised columns, too, and a sketch of few
// rows is looser by 1/min p and by no more.
func TestPenalizeLossless(t *testing.T) {
	s := penalisedProblem(100, 8)
	p := []float64{0.25, 1, 1, 4, 16, 1, 1, 1}
	whole := must(summarize(t, s, ridge.SummaryConfig{Size: 8, Store: fd.StoreScatter}).Penalize(p))(t)
	if b := must(whole.Spectrum())(t).Bound; b.Shrinkage != 0 || !(b.RoundOff <= 1e-10*b.Frobenius2) {
		t.Errorf("of AᵀA: %+v", b)
	}
	few := summarize(t, s, ridge.SummaryConfig{Size: 3, Store: fd.StoreRows})
	before, after := must(few.Spectrum())(t).Bound, must(must(few.Penalize(p))(t).Spectrum())(t).Bound
	if !(math.Abs(after.Shrinkage-4*before.Shrinkage) <= 1e-12*after.Shrinkage) {
		t.Errorf("η is %v, of %v before and a least penalty of ¼", after.Shrinkage, before.Shrinkage)
	}
}

// TestPenalizeTwice: penalties multiply.
func TestPenalizeTwice(t *testing.T) {
	s := penalisedProblem(80, 4)
	sum := summarize(t, s, ridge.SummaryConfig{Size: 4, Intercept: true})
	p, q := []float64{4, 1, 0.25, 16}, []float64{0.5, 2, 8, 1}
	twice := must(must(sum.Penalize(p))(t).Penalize(q))(t)
	both := []float64{2, 2, 2, 16}
	if !slices.Equal(twice.Penalty(), both) {
		t.Errorf("the penalty is %v", twice.Penalty())
	}
	a, b := must(twice.Fit(3))(t).Targets[0], must(must(sum.Penalize(both))(t).Fit(3))(t).Targets[0]
	for j := range a.Coef {
		if !(math.Abs(a.Coef[j]-b.Coef[j]) <= a.ErrorBound+b.ErrorBound) {
			t.Errorf("weight %d is %v at once and %v in turn", j, b.Coef[j], a.Coef[j])
		}
	}
}

// TestPenalizedIsView: a view is read, not written, and what it is of stays as it is.
func TestPenalizedIsView(t *testing.T) {
	s := penalisedProblem(60, 4)
	cfg := ridge.SummaryConfig{Size: 3, Intercept: true, Lanes: 2, LaneRows: 8}
	sum := summarize(t, s, cfg)
	before := must(sum.MarshalBinary())(t)
	view := must(sum.Penalize([]float64{1, 2, 3, 4}))(t)
	for name, err := range map[string]error{
		"append":    view.Append(mat.NewDense(1, 4, nil), mat.NewDense(1, 2, nil), nil),
		"go on":     view.Continue(context.Background(), s, nil),
		"decay":     view.Decay(0.5),
		"merge":     view.Merge(sum),
		"be merged": sum.Merge(view),
		"write": func() error {
			_, err := view.WriteTo(io.Discard)
			return err
		}(),
		"marshal": func() error {
			_, err := view.MarshalBinary()
			return err
		}(),
	} {
		if !errors.Is(err, ridge.ErrInput) {
			t.Errorf("a view can %s: %v", name, err)
		}
	}
	if after := must(sum.MarshalBinary())(t); !slices.Equal(before, after) {
		t.Error("the summary is another after a view of it")
	}
	if err := view.UnmarshalBinary(before); err != nil || view.Penalty() != nil {
		t.Errorf("a summary that was read in the place of a view is penalised by %v, %v", view.Penalty(), err)
	}
	if err := view.Decay(0.5); err != nil {
		t.Error(err)
	}
}

func TestPenaltyRefuses(t *testing.T) {
	s := penalisedProblem(60, 4)
	sum := summarize(t, s, ridge.SummaryConfig{Size: 3})
	for name, p := range map[string][]float64{
		"short": {1}, "zero": {1, 1, 0, 1}, "negative": {1, -1, 1, 1}, "NaN": {1, 1, math.NaN(), 1},
		"infinite":     {math.Inf(1), 1, 1, 1},
		"out of range": {1e-300, 1, 1, 1},
	} {
		if v, err := sum.Penalize(p); v != nil || !errors.Is(err, ridge.ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "out of range" { // rows are in range still
			continue
		}
		if r, err := fdridge.Fit(
			context.Background(), s, fdridge.Options{NoIntercept: true, Gammas: []float64{1}, Penalty: p},
		); (r != nil || !errors.Is(err, ridge.ErrInput)) &&
			name != "zero" { // a column without penalty
			t.Errorf("Fit, %s: %v", name, err)
		}
		if r, err := fdridge.FitSummary(
			context.Background(), s, sum, fdridge.Options{NoIntercept: true, Gammas: []float64{1}, Penalty: p},
		); r != nil ||
			!errors.Is(err, ridge.ErrInput) {
			t.Errorf("FitSummary, %s: %v", name, err)
		}
	}
	if _, err := new(ridge.Summary).Penalize([]float64{1}); !errors.Is(err, ridge.ErrShape) {
		t.Error(err)
	}
	if _, err := must(ridge.NewSummary(ridge.SummaryConfig{Dim: 1, Size: 1}))(t).Penalize([]float64{2}); err != nil {
		t.Errorf("of no rows: %v", err)
	}
	r, err := fdridge.FitSummary(
		context.Background(),
		nil,
		sum,
		fdridge.Options{NoIntercept: true, Gammas: []float64{1}, Penalty: []float64{1, 2, 3, 4}},
	)
	if err != nil {
		t.Fatal(err)
	}
	other := must(sum.Penalize([]float64{4, 3, 2, 1}))(t)
	pr := must(other.Predictor(1))(t)
	if err := pr.Narrow(r.Best()); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("a fit of another penalty narrows predictions: %v", err)
	}
	if _, err := ridge.LeaveOneOut(
		context.Background(), s, other, r.Solutions, ridge.LeaveOneOutOptions{},
	); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("a fit of another penalty has leave-one-out errors: %v", err)
	}
	same := must(sum.Penalize([]float64{1, 2, 3, 4}))(t)
	if err := must(same.Predictor(1))(t).Narrow(r.Best()); err != nil {
		t.Error(err)
	}
}

// TestPenalizedPredictsAlone: the intervals of a fit with a penalty, without a summary, hold for
// columns as they are.
func TestPenalizedPredictsAlone(t *testing.T) {
	s := penalisedProblem(100, 4)
	p := []float64{1e-4, 1, 100, 0.01}
	r, err := fdridge.Fit(
		context.Background(),
		s,
		fdridge.Options{
			NoIntercept: true,
			Gammas:      []float64{5},
			Penalty:     p,
			Method:      ridge.OneShot,
			Size:        2,
			Summarize:   storing(fd.StoreRows),
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	exact, err := fdridge.Fit(
		context.Background(),
		s,
		fdridge.Options{NoIntercept: true, Gammas: []float64{5}, Penalty: p, Method: ridge.Exact},
	)
	if err != nil {
		t.Fatal(err)
	}
	pr := must(r.Best().Predictor())(t)
	got, yhat := make([]ridge.Interval, 2), make([]float64, 2)
	for i := range 4 { // along each column
		row := make([]float64, 4)
		row[i] = 1
		err := errors.Join(pr.Predict(got, dataset.Block{N: 1, X: row}), exact.Best().PredictRow(yhat, row))
		if err != nil {
			t.Fatal(err)
		}
		for j, y := range yhat {
			if !(y >= got[j].Lo && y <= got[j].Hi) {
				t.Errorf("column %d, target %d: %v is not in %v", i, j, y, got[j])
			}
			e := r.Best().Targets[j].ErrorBound
			if !(got[j].Hi-got[j].Lo >= 2*100*e) { // as the weights of the first column may be off
				t.Errorf("column %d, target %d: %v, and ‖ẑ − z*‖ ≤ %v", i, j, got[j], e)
			}
		}
	}
}

// TestFitPenaltyChoosing: if a direct method chooses γ, for many rows or few, the solution and the solutions of the
// path have the penalty exactly once.
func TestFitPenaltyChoosing(t *testing.T) {
	for _, n := range []int{60, 9} {
		const d = 12
		s := penalisedProblem(n, d)
		p := make([]float64, d)
		for j := range p {
			p[j] = float64(1 + 3*j)
		}
		for _, by := range []choose.Criterion{choose.GCV, choose.LOO} {
			opts := fdridge.Options{
				NoIntercept: true,
				Candidates:  []float64{1, 10, 100},
				Select:      by,
				Method:      ridge.Exact,
			}
			want, err := fdridge.Fit(context.Background(), scaledTable(s, p), opts)
			if err != nil {
				t.Fatal(err)
			}
			opts.Penalty = p
			got, err := fdridge.Fit(context.Background(), s, opts)
			if err != nil {
				t.Fatal(err)
			}
			if got.Choice.Index != want.Choice.Index {
				t.Errorf("%d rows: γ %v, want %v", n, got.Choice.Gamma(), want.Choice.Gamma())
			}
			for i, f := range append(slices.Clone(got.Choice.Path), got.Solutions...) {
				w := append(slices.Clone(want.Choice.Path), want.Solutions...)[i]
				for j, o := range f.Targets {
					if n < d && i < len(got.Choice.Path) {
						if o.Coef != nil || o.Scaled != nil {
							t.Errorf("9 rows, by %v, fit %d has coefficients", by, i)
						}
						continue
					}
					if !slices.Equal(o.Scaled, w.Targets[j].Coef) || o.Coef[1] != o.Scaled[1]/2 ||
						!slices.Equal(f.Penalty, p) {
						t.Errorf("%d rows, by %v, fit %d: %v of %v", n, by, i, o.Coef, o.Scaled)
					}
				}
			}
		}
	}
}
