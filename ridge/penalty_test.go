package ridge_test

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

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
			d := testkit.DrawProblem(t, be)
			p := drawPenalty(t, len(d.Table.X[0]))
			scaled := testkit.ScaledTable(d.Table, p)
			ref := refbig.New(scaled.X, scaled.Y, scaled.W, d.Sum.Config().Intercept)
			gamma := testkit.ScaleOf(ref) * math.Pow(10, rapid.Float64Range(-7, 2).Draw(t, "log γ of scaled"))
			view := testkit.Must(d.Sum.Penalize(p))(t)
			if !slices.Equal(view.Penalty(), p) || d.Sum.Penalty() != nil {
				t.Fatalf("the penalty is %v and %v, want %v and none", view.Penalty(), d.Sum.Penalty(), p)
			}
			robust, plain := testkit.Must(view.Fit(gamma))(t), testkit.Must(view.FitFD(gamma))(t)
			testkit.Certificate(t, ref, robust)
			testkit.Certificate(t, ref, plain)
			method := rapid.SampledFrom(testkit.Methods).Draw(t, "method")
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
				testkit.Certificate(t, ref, f)
			}
			predicted(t, view, ref, scaled, gamma, f)
		})
	})
}

// predicted holds predictions for the rows of s to the exact ones.
func predicted(t *rapid.T, sum *ridge.Summary, ref *refbig.Problem, s testkit.Table, gamma float64, f *ridge.Solution) {
	truth, err := ref.Solve(gamma)
	if err != nil {
		t.Fatal(err)
	}
	pr := testkit.Must(sum.Predictor(gamma))(t)
	if f != nil {
		if err := pr.Narrow(f); err != nil {
			t.Fatal(err)
		}
	}
	k := len(s.Y[0])
	got := make([]ridge.Interval, k)
	for _, row := range s.X[:min(len(s.X), 5)] {
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

// TestPenalizeLossless: where nothing is lost η is 0 in penalised columns, too, and a sketch of few
// rows is looser by 1/min p and by no more.
func TestPenalizeLossless(t *testing.T) {
	s := testkit.PenalisedProblem(100, 8)
	p := []float64{0.25, 1, 1, 4, 16, 1, 1, 1}
	whole := testkit.Must(testkit.Summarize(t, s, ridge.SummaryConfig{Size: 8, Store: fd.StoreScatter}).Penalize(p))(t)
	if b := testkit.Must(whole.Spectrum())(t).Bound; b.Shrinkage != 0 || !(b.RoundOff <= 1e-10*b.Frobenius2) {
		t.Errorf("of AᵀA: %+v", b)
	}
	few := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 3, Store: fd.StoreRows})
	before, after := testkit.Must(few.Spectrum())(t).Bound, testkit.Must(
		testkit.Must(few.Penalize(p))(t).Spectrum(),
	)(t).Bound
	if !(math.Abs(after.Shrinkage-4*before.Shrinkage) <= 1e-12*after.Shrinkage) {
		t.Errorf("η is %v, of %v before and a least penalty of ¼", after.Shrinkage, before.Shrinkage)
	}
}

// TestPenalizeTwice: penalties multiply.
func TestPenalizeTwice(t *testing.T) {
	s := testkit.PenalisedProblem(80, 4)
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 4, Intercept: true})
	p, q := []float64{4, 1, 0.25, 16}, []float64{0.5, 2, 8, 1}
	twice := testkit.Must(testkit.Must(sum.Penalize(p))(t).Penalize(q))(t)
	both := []float64{2, 2, 2, 16}
	if !slices.Equal(twice.Penalty(), both) {
		t.Errorf("the penalty is %v", twice.Penalty())
	}
	a, b := testkit.Must(twice.Fit(3))(t).Targets[0], testkit.Must(
		testkit.Must(sum.Penalize(both))(t).Fit(3),
	)(t).Targets[0]
	for j := range a.Coef {
		if !(math.Abs(a.Coef[j]-b.Coef[j]) <= a.ErrorBound+b.ErrorBound) {
			t.Errorf("weight %d is %v at once and %v in turn", j, b.Coef[j], a.Coef[j])
		}
	}
}

// TestPenalizedIsView: a view is read, not written, and what it is of stays as it is.
func TestPenalizedIsView(t *testing.T) {
	s := testkit.PenalisedProblem(60, 4)
	cfg := ridge.SummaryConfig{Size: 3, Intercept: true, Lanes: 2, LaneRows: 8}
	sum := testkit.Summarize(t, s, cfg)
	before := testkit.Must(sum.MarshalBinary())(t)
	view := testkit.Must(sum.Penalize([]float64{1, 2, 3, 4}))(t)
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
	if after := testkit.Must(sum.MarshalBinary())(t); !slices.Equal(before, after) {
		t.Error("the summary is another after a view of it")
	}
	if err := view.UnmarshalBinary(before); err != nil || view.Penalty() != nil {
		t.Errorf("a summary that was read in the place of a view is penalised by %v, %v", view.Penalty(), err)
	}
	if err := view.Decay(0.5); err != nil {
		t.Error(err)
	}
}
