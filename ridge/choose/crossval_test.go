package choose_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// refits cross-validates by K direct solutions in 512-bit arithmetic, folds dealt in
// turn: the mean squared error of each γ and target.
func refits(s testkit.Table, folds int, gammas []float64, intercept bool) (scores [][]*big.Float, ok bool) {
	n, t := len(s.X), len(s.Y[0])
	for range gammas {
		row := make([]*big.Float, t)
		for j := range row {
			row[j] = refbig.Float(0)
		}
		scores = append(scores, row)
	}
	for k := range folds {
		var rest testkit.Table
		for i := range s.X {
			if i%folds != k {
				rest.X, rest.Y, rest.W = append(rest.X, s.X[i]), append(rest.Y, s.Y[i]), append(rest.W, s.W[i])
			}
		}
		p := refbig.New(rest.X, rest.Y, rest.W, intercept)
		for g, gamma := range gammas {
			f, err := p.Solve(gamma)
			if err != nil {
				return nil, false
			}
			for i := k; i < n; i += folds {
				for j := range t {
					r := new(big.Float).Sub(refbig.Float(s.Y[i][j]), testkit.Predict(f, j, s.X[i]))
					scores[g][j].Add(scores[g][j], r.Mul(r.Mul(r, r), refbig.Float(s.W[i])))
				}
			}
		}
	}
	total := 0.0 // of halves: exact
	for _, w := range s.W {
		total += w
	}
	for _, row := range scores {
		for j := range row {
			row[j].Quo(row[j], refbig.Float(total))
		}
	}
	return scores, true
}

// TestCrossValidate: the brackets hold the cross-validation of K direct refits, and
// of the K one-shot fits, in one pass and in two.
func TestCrossValidate(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		cases := 0
		rapid.Check(t, func(t *rapid.T) {
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
			kind := rapid.SampledFrom(testkit.Kinds).Draw(t, "kind")
			if kind == "tiny" {
				kind = "decaying"
			}
			folds := rapid.IntRange(2, 6).Draw(t, "folds")
			n, d := rapid.IntRange(folds, 50).Draw(t, "n"), rapid.IntRange(1, 9).Draw(t, "d")
			s := testkit.Problem(
				r,
				kind,
				n,
				d,
				rapid.IntRange(1, 2).Draw(t, "t"),
				rapid.SampledFrom([]float64{0, 1, 100}).Draw(t, "noise"),
			)
			s.Block, s.Sparse = rapid.IntRange(1, 30).Draw(t, "block"), rapid.Bool().Draw(t, "sparse")
			for range n {
				s.W = append(s.W, 1)
			}
			if rapid.Bool().Draw(t, "weighted") {
				for i := range s.W {
					s.W[i] = float64(1+r.IntN(6)) / 2
				}
			}
			intercept := rapid.Bool().Draw(t, "intercept")
			scale := testkit.ScaleOf(refbig.New(s.X, s.Y, s.W, intercept))
			var gammas []float64
			for range 3 {
				gammas = append(gammas, scale*math.Pow(10, rapid.Float64Range(-11, 4).Draw(t, "log γ")))
			}
			want, ok := refits(s, folds, gammas, intercept)
			if !ok {
				t.Skip("singular")
			}
			cfg := ridge.SummaryConfig{
				Size:       rapid.IntRange(1, 10).Draw(t, "m"),
				ShrinkRows: rapid.IntRange(1, 9).Draw(t, "p"),
				Intercept:  intercept,
				Store:      testkit.DrawStore(t),
				Backend:    be,
			}
			cv := choose.CrossValidation{Folds: folds, Gammas: gammas}
			one := testkit.Must(choose.CrossValidate(context.Background(), s, cfg, cv))(t)
			cv.Exact = true
			two := testkit.Must(choose.CrossValidate(context.Background(), s, cfg, cv))(t)
			fitted := oneShotFolds(t, s, cfg, folds, gammas)
			for i := range gammas {
				for j := range want[i] {
					testkit.Inside(t, "one pass", one.Ridge[i][j], want[i][j], want[i][j])
					testkit.Inside(t, "two passes", two.Ridge[i][j], want[i][j], want[i][j])
					for _, v := range []ridge.Interval{one.Fitted[i][j], two.Fitted[i][j]} {
						// The fits are remade from sketches that may differ in the last bits.
						slack := fitted[i][j] * 1e-6
						if !(v.Lo <= fitted[i][j]+slack) || !(v.Hi >= fitted[i][j]-slack) {
							t.Errorf("γ = %g: one-shot fits score %g, outside of %v", gammas[i], fitted[i][j], v)
						}
					}
					cases++
				}
			}
			if one.Passes != 1 || two.Passes != 2 || one.Summary.Rows() != int64(n) ||
				!slices.Equal(one.Gammas, gammas) {
				t.Errorf("%d and %d passes, %d rows, γ %v", one.Passes, two.Passes, one.Summary.Rows(), one.Gammas)
			}
			testkit.Certificate(t, refbig.New(s.X, s.Y, s.W, intercept), testkit.Must(one.Summary.Fit(gammas[0]))(t))
		})
		t.Logf("%d cases", cases)
	})
}

// oneShotFolds scores one-shot fits to merged summaries, row by row.
func oneShotFolds(t rapid.TB, s testkit.Table, cfg ridge.SummaryConfig, folds int, gammas []float64) [][]float64 {
	t.Helper()
	_, cfg.Dim, cfg.Targets = s.Dims()
	n, targets := len(s.X), len(s.Y[0])
	held, total := make([]*ridge.Summary, folds), 0.0
	for k := range held {
		part := testkit.Table{Block: n, Sparse: s.Sparse}
		for i := k; i < n; i += folds {
			part.X, part.Y, part.W = append(part.X, s.X[i]), append(part.Y, s.Y[i]), append(part.W, s.W[i])
			total += s.W[i]
		}
		held[k] = testkit.Summarize(t, part, cfg)
	}
	scores := make([][]float64, len(gammas))
	for i := range scores {
		scores[i] = make([]float64, targets)
	}
	yhat := make([]float64, targets)
	for k := range held {
		rest := testkit.Must(ridge.NewSummary(cfg))(t)
		for i, h := range held {
			if i != k {
				if err := rest.Merge(h); err != nil {
					t.Fatal(err)
				}
			}
		}
		for g, f := range testkit.Must(rest.Path(gammas))(t) {
			for i := k; i < n; i += folds {
				if err := f.PredictRow(yhat, s.X[i]); err != nil {
					t.Fatal(err)
				}
				for j, v := range yhat {
					scores[g][j] += (v - s.Y[i][j]) * (v - s.Y[i][j]) * s.W[i] / total
				}
			}
		}
	}
	return scores
}

// TestCrossValidateRealData logs the brackets for California housing with one pass and with two. With two passes the
// brackets of fitted errors are nearly points, and each γ that may be best is also possible with one pass.
func TestCrossValidateRealData(t *testing.T) {
	src := testkit.Fourier(t, 4000, 128)
	cfg := ridge.SummaryConfig{Size: 48, Intercept: true}
	one := testkit.Must(choose.CrossValidate(context.Background(), src, cfg, choose.CrossValidation{Seed: 3}))(t)
	two := testkit.Must(
		choose.CrossValidate(context.Background(), src, cfg, choose.CrossValidation{Seed: 3, Exact: true}),
	)(t)
	for i := 0; i < len(one.Gammas); i += 3 {
		t.Logf(
			"γ %-9.3g one pass: fitted [%.4f, %.4f] ridge [%.4f, %.4f]  two: fitted [%.6f, %.6f] ridge [%.4f, %.4f]",
			one.Gammas[i],
			one.Fitted[i][0].Lo,
			one.Fitted[i][0].Hi,
			one.Ridge[i][0].Lo,
			one.Ridge[i][0].Hi,
			two.Fitted[i][0].Lo,
			two.Fitted[i][0].Hi,
			two.Ridge[i][0].Lo,
			two.Ridge[i][0].Hi,
		)
		if !(two.Fitted[i][0].Hi-two.Fitted[i][0].Lo <= 1e-9) {
			t.Errorf("two passes leave %v", two.Fitted[i][0])
		}
	}
	for what, v := range map[string][2]choose.Choice{
		"fitted": {testkit.Must(one.ChooseGamma(true))(t).Choice, testkit.Must(two.ChooseGamma(true))(t).Choice},
		"ridge":  {testkit.Must(one.ChooseGamma(false))(t).Choice, testkit.Must(two.ChooseGamma(false))(t).Choice},
	} {
		t.Logf("%s: one pass γ[%d] of %v; two γ[%d] of %v", what, v[0].Index, v[0].Possible, v[1].Index, v[1].Possible)
		for _, i := range v[1].Possible {
			if !slices.Contains(v[0].Possible, i) && v[1].Certain {
				t.Errorf("%s: γ[%d] is possible after two passes, not after one", what, i)
			}
		}
	}
}

func TestCrossValidateRefuses(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(1, 1)), "gaussian", 4, 3, 1, 1)
	ctx, cfg := context.Background(), ridge.SummaryConfig{Size: 2}
	for _, folds := range []int{-1, 1, 5} {
		_, err := choose.CrossValidate(ctx, s, cfg, choose.CrossValidation{Folds: folds})
		if !errors.Is(err, ridge.ErrShape) {
			t.Errorf("%d folds of 4 rows: %v", folds, err)
		}
	}
	var e *ridge.GammaError
	if _, err := choose.CrossValidate(
		ctx, s, cfg, choose.CrossValidation{Folds: 2, Gammas: []float64{1, -1}},
	); !errors.As(err, &e) {
		t.Errorf("γ = -1: %v", err)
	}
	if _, err := choose.CrossValidate(ctx, s, ridge.SummaryConfig{}, choose.CrossValidation{}); err == nil {
		t.Error("a sketch of no size")
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := choose.CrossValidate(
		cancelled, s, cfg, choose.CrossValidation{Folds: 2},
	); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestCrossValidateProgress: the seed determines the folds, which are the same in both passes. Progress ends at the
// number of rows.
func TestCrossValidateProgress(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(1, 1)), "gaussian", 100, 3, 1, 1)
	ctx, cfg := context.Background(), ridge.SummaryConfig{Size: 3}
	last := map[int]int64{}
	cv := choose.CrossValidation{
		Folds:    4,
		Gammas:   []float64{1},
		Seed:     9,
		Exact:    true,
		Progress: func(pass int, rows int64) { last[pass] = rows },
	}
	hashed := testkit.Must(choose.CrossValidate(ctx, s, cfg, cv))(t)
	if last[1] != 100 || last[2] != 100 || len(last) != 2 {
		t.Errorf("progress %v", last)
	}
	again := testkit.Must(choose.CrossValidate(ctx, s, cfg, cv))(t)
	cv.Seed = 0
	turns := testkit.Must(choose.CrossValidate(ctx, s, cfg, cv))(t)
	if hashed.Fitted[0][0] != again.Fitted[0][0] || hashed.Fitted[0][0] == turns.Fitted[0][0] {
		t.Errorf("seed 9 %v and %v, in turn %v", hashed.Fitted, again.Fitted, turns.Fitted)
	}
}

// TestCrossValidateSummarize: with Summarize, each fold is summarised in a pass of its own, and the scores are the same
// up to round-off and the loss of the sketches.
func TestCrossValidateSummarize(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(8, 9)), "gaussian", 50, 4, 2, 1)
	cfg := ridge.SummaryConfig{Size: 4, Intercept: true}
	opts := choose.CrossValidation{Folds: 3, Gammas: []float64{0.1, 1, 10}, Seed: 5}
	want := testkit.Must(choose.CrossValidate(t.Context(), s, cfg, opts))(t)
	opts.Summarize = ridge.Summarize
	read := int64(0)
	opts.Progress = func(pass int, rows int64) {
		if pass < 1 || pass > 3 {
			t.Errorf("progress of pass %d", pass)
		}
		read = rows
	}
	got := testkit.Must(choose.CrossValidate(t.Context(), s, cfg, opts))(t)
	if got.Passes != 3 || got.Summary.Rows() != 50 || read < 1 || read > 49 {
		t.Errorf("%d passes, %d rows, the last pass read %d", got.Passes, got.Summary.Rows(), read)
	}
	for i := range opts.Gammas {
		for j := range want.Ridge[i] {
			a, b := want.Ridge[i][j], got.Ridge[i][j]
			if !(a.Lo <= b.Hi && b.Lo <= a.Hi) || math.IsInf(b.Hi, 1) {
				t.Errorf("γ = %g, target %d: %v, in one pass %v", opts.Gammas[i], j, b, a)
			}
		}
	}
	opts.Exact = true
	if _, err := choose.CrossValidate(t.Context(), s, cfg, opts); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("Exact with Summarize: %v", err)
	}
}
