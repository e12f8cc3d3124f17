package ridge_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/refbig"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/ridgetest"
)

// predict is the prediction of a solution for a row, in 512-bit arithmetic.
func predict(s *refbig.Solution, j int, row []float64) *big.Float {
	y := new(big.Float).Set(s.Intercept[j])
	for k, v := range row {
		y.Add(y, new(big.Float).Mul(refbig.Float(v), s.Coef[j][k]))
	}
	return y
}

// TestPredictIntervals: the exact solution's prediction is within the interval, from
// the sketch alone and narrowed by refined and direct fits, for rows that were fitted
// and others, dense and sparse.
func TestPredictIntervals(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		cases, worst := 0, 0.0
		rapid.Check(t, func(t *rapid.T) {
			p, gammas := drawWide(t, be)
			r := rand.New(rand.NewPCG(uint64(cases), 3))
			rows := table{x: p.table.x}
			rows.x = append([][]float64{}, rows.x...) // a copy
			for range 5 {
				x := normals(r, p.ref.D)
				for k := range x {
					x[k] = x[k]*math.Exp2(10*r.NormFloat64()) + rows.x[0][k]*float64(r.IntN(2))
				}
				rows.x = append(rows.x, x)
			}
			gamma := gammas[0]
			want, err := p.ref.Solve(gamma)
			if err != nil {
				t.Skip("singular")
			}
			// Where nothing was shrunk the sketch's intervals are round-off alone.
			bound, oneShot := must(p.sum.Sketch().Spectrum())(t).Bound, must(p.sum.Fit(gamma))(t)
			lossless := 8*bound.Shrinkage < bound.RoundOff && 8*oneShot.Certificate.Shrinkage < gamma
			hold := func(name string, predictor *ridge.Predictor) (widths []float64) {
				b := dataset.Block{N: len(rows.x), X: flat(rows.x)}
				if p.table.sparse {
					b.X, b.Sparse = nil, compress(rows.x)
				}
				dst := make([]ridge.Interval, b.N*p.ref.T)
				if err := predictor.Predict(dst, b); err != nil {
					t.Fatal(err)
				}
				for i, row := range rows.x {
					for j := range p.ref.T {
						v, y := dst[i*p.ref.T+j], predict(want, j, row)
						ridgetest.Inside(t, name, v, y, y)
						at, _ := y.Float64()
						if half := (v.Hi - v.Lo) / 2; lossless && half > 0 && name == "from the sketch" {
							worst = math.Max(worst, math.Abs(at-v.Mid())/half)
						}
						widths = append(widths, v.Hi-v.Lo)
						cases++
					}
				}
				return widths
			}
			predictor := must(p.sum.Predictor(gamma))(t)
			alone := hold("from the sketch", predictor)
			one := must(p.sum.PredictInterval(gamma, rows.x[0]))(t)
			for j, v := range one {
				ridgetest.Inside(t, "one row", v, predict(want, j, rows.x[0]), predict(want, j, rows.x[0]))
			}
			narrow := func(name string, f *ridge.Fit) {
				if err := predictor.Narrow(f); err != nil {
					t.Fatal(err)
				}
				for i, w := range hold(name, predictor) {
					if !(w <= alone[i]*(1+1e-9)) {
						t.Errorf("%s: narrowed from %g to %g", name, alone[i], w)
					}
				}
			}
			narrow("one-shot", oneShot)
			f, err := ridge.Solve(context.Background(), p.table, p.sum, gamma, ridge.SolveOptions{Tol: rapid.SampledFrom([]float64{1e-1, 1e-6, 1e-12}).Draw(t, "tol"), MaxPasses: 50})
			var short *ridge.NotConvergedError
			if errors.As(err, &short) {
				f = short.Fits[0]
			} else if err != nil {
				t.Fatal(err)
			}
			narrow("refined", f)
			if fits, err := ridge.Exact(context.Background(), p.table, []float64{gamma}, ridge.ExactOptions{Factor: ridge.QR, Intercept: p.ref.Intercept, Backend: be}); err == nil {
				narrow("exact", fits[0])
			}
		})
		t.Logf("%d cases; of intervals that are round-off alone the worst error is %.3g of the half-width", cases, worst)
		if !(worst <= 0.5) {
			t.Errorf("round-off reached %.3g of what is allowed for", worst)
		}
	})
}

// TestPredictIntervalRealData: how wide the intervals are on California housing.
func TestPredictIntervalRealData(t *testing.T) {
	src := fourier(t, 4000, 256)
	sum := summarize(t, src, ridge.SummaryConfig{Size: 64, Intercept: true})
	for _, gamma := range []float64{1, 10, 100, 1000} {
		exact := must(ridge.Exact(context.Background(), src, []float64{gamma}, ridge.ExactOptions{Intercept: true}))(t)[0]
		refined := must(ridge.Solve(context.Background(), src, sum, gamma, ridge.SolveOptions{Tol: 1e-3}))(t)
		predictor := must(sum.Predictor(gamma))(t)
		mean := func() (width float64) {
			n, yhat := 0, make([]float64, 1)
			for b, err := range src.Blocks(context.Background()) {
				if err != nil {
					t.Fatal(err)
				}
				dst := make([]ridge.Interval, b.N)
				if err := predictor.Predict(dst, b); err != nil {
					t.Fatal(err)
				}
				for i, v := range dst {
					if err := exact.Predict(yhat, b.X[i*256:(i+1)*256]); err != nil {
						t.Fatal(err)
					}
					if !(v.Lo <= yhat[0]+1e-9) || !(v.Hi >= yhat[0]-1e-9) {
						t.Fatalf("γ = %g: %g outside of %v", gamma, yhat[0], v)
					}
					width += v.Hi - v.Lo
					n++
				}
			}
			return width / float64(n)
		}
		alone := mean()
		if err := predictor.Narrow(refined); err != nil {
			t.Fatal(err)
		}
		t.Logf("γ %-5g mean width %.3g from the sketch, %.3g with a fit refined to 1e-3 in %d passes (targets have standard deviation %.3g)",
			gamma, alone, mean(), refined.Passes, math.Sqrt(refined.TSS[0]/4000))
	}
}

func TestPredictorRefuses(t *testing.T) {
	s := problem(rand.New(rand.NewPCG(1, 1)), "gaussian", 20, 3, 1, 1)
	sum := summarize(t, s, ridge.SummaryConfig{Size: 2, Intercept: true})
	var e *ridge.GammaError
	if _, err := sum.Predictor(0); !errors.As(err, &e) {
		t.Errorf("γ = 0: %v", err)
	}
	none := must(ridge.NewSummary(ridge.SummaryConfig{Dim: 3, Size: 2}))(t)
	if _, err := none.PredictInterval(1, s.x[0]); !errors.Is(err, ridge.ErrEmpty) {
		t.Errorf("of nothing: %v", err)
	}
	if _, err := sum.PredictInterval(1, s.x[0][1:]); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("short row: %v", err)
	}
	p := must(sum.Predictor(1))(t)
	if err := p.Predict(make([]ridge.Interval, 1), dataset.Block{N: 2, X: flat(s.x[:2])}); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("short dst: %v", err)
	}
	if err := p.Predict(make([]ridge.Interval, 1), dataset.Block{N: 1, Sparse: compress([][]float64{{1, 2}})}); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("narrow sparse row: %v", err)
	}
	var bad *fd.NonFiniteError
	x := flat(s.x[:2])
	x[4] = math.NaN()
	if err := p.Predict(make([]ridge.Interval, 2), dataset.Block{N: 2, X: x}); !errors.As(err, &bad) || bad.Row != 1 || bad.Col != 1 {
		t.Errorf("NaN: %v", err)
	}
	var big *fd.RangeError
	if err := p.Predict(make([]ridge.Interval, 1), dataset.Block{N: 1, X: []float64{1e153, 0, 0}}); !errors.As(err, &big) {
		t.Errorf("1e153: %v", err)
	}
	for name, f := range map[string]*ridge.Fit{
		"other γ":      must(sum.Fit(2))(t),
		"other shape":  must(summarize(t, problem(rand.New(rand.NewPCG(1, 1)), "gaussian", 20, 4, 1, 1), ridge.SummaryConfig{Size: 2}).Fit(1))(t),
		"no bound":     {Gamma: 1, Coef: must(sum.Fit(1))(t).Coef},
		"no objective": {Gamma: 1, Coef: must(sum.Fit(1))(t).Coef, Certificate: ridge.Certificate{ErrorBound: []float64{1}}},
	} {
		if err := p.Narrow(f); !errors.Is(err, ridge.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
