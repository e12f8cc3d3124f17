package ridge_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
)

// The tests of this file go through the table of wrong and odd input, row by row.

// A badCall is one that a summary of badDim features and two targets must refuse.
type badCall struct {
	row, name string
	call      func(s *ridge.Summary) error
	ok        func(err error) bool
}

const badDim = 3

var badConfig = ridge.SummaryConfig{Dim: badDim, Targets: 2, Size: 2, ShrinkRows: 2}

func isShape(err error) bool { return errors.Is(err, ridge.ErrShape) }

func isRange(err error) bool { var e *fd.RangeError; return errors.As(err, &e) }

func isGamma(err error) bool { var e *ridge.GammaError; return errors.As(err, &e) }

func isFormat(err error) bool { var e *fd.FormatError; return errors.As(err, &e) }

// nonFinite recognises the error that names a row and a column of a call.
func nonFinite(row, col int) func(error) bool {
	return func(err error) bool {
		var e *fd.NonFiniteError
		return errors.As(err, &e) && e.Row == row && e.Col == col
	}
}

func badCalls(t *testing.T, cfg ridge.SummaryConfig) []badCall {
	const n = 7
	ones := func(cols int) *mat.Dense {
		x := mat.NewDense(n, cols, nil)
		x.Apply(func(int, int, float64) float64 { return 1 }, x)
		return x
	}
	with := func(cols, i, j int, v float64) *mat.Dense {
		x := ones(cols)
		x.Set(i, j, v)
		return x
	}
	weight := func(v float64) []float64 { return []float64{1, 0, v, 1, 1, 1, 1} }
	sparse := func(val float64, columns ...int32) dataset.Block {
		b := sparseRow(badDim, 1, []int{0, len(columns)}, columns...)
		for i := range b.Sparse.Val {
			b.Sparse.Val[i] = val
		}
		return b
	}
	dense := func(change func(b *dataset.Block)) func(s *ridge.Summary) error {
		b := dataset.Block{N: n, X: ones(badDim).RawMatrix().Data, Y: ones(2).RawMatrix().Data}
		change(&b)
		return func(s *ridge.Summary) error { return s.AppendBlock(b) }
	}
	other := func(change func(c *ridge.SummaryConfig)) *ridge.Summary {
		c := cfg
		change(&c)
		return testkit.Must(ridge.NewSummary(c))(t)
	}
	filled := other(func(*ridge.SummaryConfig) {})
	testkit.Check(t, filled.Append(ones(badDim), ones(2), nil))
	message := testkit.Marshal(t, filled)
	flipped := bytes.Clone(message)
	flipped[len(flipped)/3] ^= 8
	large := other(func(*ridge.SummaryConfig) {})
	testkit.Check(t, large.Append(with(badDim, 1, 1, 1.6e150), ones(2), nil))

	calls := []badCall{
		{
			"not finite",
			"a negative weight",
			func(s *ridge.Summary) error { return s.Append(ones(badDim), ones(2), weight(-1e-300)) },
			nonFinite(2, badDim+2),
		},

		{
			"range",
			"1e200 in x",
			func(s *ridge.Summary) error { return s.Append(with(badDim, 5, 1, 1e200), ones(2), nil) },
			isRange,
		},
		{
			"range",
			"1e200 in y",
			func(s *ridge.Summary) error { return s.Append(ones(badDim), with(2, 5, 1, -1e200), nil) },
			isRange,
		},
		{
			"range",
			"1e200 in a sparse row",
			func(s *ridge.Summary) error { return s.AppendBlock(sparse(1e200, 0, 2)) },
			isRange,
		},
		{
			"range",
			"the largest weight",
			func(s *ridge.Summary) error { return s.Append(ones(badDim), ones(2), weight(math.MaxFloat64)) },
			isRange,
		},
		{"range", "1e200, weighted to nothing", func(s *ridge.Summary) error {
			return s.Append(with(badDim, 2, 1, 1e200), ones(2), weight(1e-200))
		}, isRange},
		{"range", "a merge overflows", func(s *ridge.Summary) error {
			if err := s.Append(with(badDim, 1, 1, 1.6e150), ones(2), nil); err != nil {
				return fmt.Errorf("1.6e150 alone: %w", errors.New(err.Error()))
			}
			before := testkit.Marshal(t, s)
			err := s.Merge(large)
			if !bytes.Equal(before, testkit.Marshal(t, s)) {
				t.Error("a merge that overflows changed the receiver")
			}
			return err
		}, isRange},

		{"shapes", "a merge with nothing", func(s *ridge.Summary) error { return s.Merge(nil) }, isShape},
		{
			"shapes",
			"a merge with the zero value",
			func(s *ridge.Summary) error { return s.Merge(new(ridge.Summary)) },
			isShape,
		},
		{
			"shapes",
			"more targets than rows",
			func(s *ridge.Summary) error { return s.Append(mat.NewDense(n-1, badDim, nil), ones(2), nil) },
			isShape,
		},
		{
			"shapes",
			"another d",
			func(s *ridge.Summary) error { return s.Append(ones(badDim+1), ones(2), nil) },
			isShape,
		},
		{"shapes", "another t", func(s *ridge.Summary) error { return s.Append(ones(badDim), ones(1), nil) }, isShape},
		{
			"shapes",
			"empty matrices",
			func(s *ridge.Summary) error { return s.Append(&mat.Dense{}, &mat.Dense{}, nil) },
			isShape,
		},
		{
			"shapes",
			"too few weights",
			func(s *ridge.Summary) error { return s.Append(ones(badDim), ones(2), weight(1)[1:]) },
			isShape,
		},
		{"shapes", "a block that is short of x", dense(func(b *dataset.Block) { b.X = b.X[1:] }), isShape},
		{"shapes", "a block with too much x", dense(func(b *dataset.Block) { b.X = append(b.X, 1) }), isShape},
		{"shapes", "a block short of y", dense(func(b *dataset.Block) { b.Y = nil }), isShape},
		{"shapes", "a block short of weights", dense(func(b *dataset.Block) { b.W = make([]float64, n+1) }), isShape},
		{"shapes", "a block of -1 rows", dense(func(b *dataset.Block) { b.N = -1 }), isShape},
		{"shapes", "a block of too many rows", dense(func(b *dataset.Block) { b.N = math.MaxInt }), isShape},
		{"shapes", "sparse index d", func(s *ridge.Summary) error { return s.AppendBlock(sparse(1, badDim)) }, isShape},
		{"shapes", "sparse index -1", func(s *ridge.Summary) error { return s.AppendBlock(sparse(1, -1)) }, isShape},
		{
			"shapes",
			"a sparse index twice",
			func(s *ridge.Summary) error { return s.AppendBlock(sparse(1, 1, 1)) },
			isShape,
		},
		{
			"shapes",
			"sparse indices out of order",
			func(s *ridge.Summary) error { return s.AppendBlock(sparse(1, 2, 1)) },
			isShape,
		},
		{
			"shapes",
			"row pointers beyond the entries",
			func(s *ridge.Summary) error { return s.AppendBlock(sparseRow(badDim, 1, []int{0, 7}, 1)) },
			isShape,
		},
		{
			"shapes",
			"row pointers that fall",
			func(s *ridge.Summary) error { return s.AppendBlock(sparseRow(badDim, 2, []int{0, 1, 0}, 1)) },
			isShape,
		},
		{
			"shapes",
			"sparse rows of another d",
			func(s *ridge.Summary) error { return s.AppendBlock(sparseRow(badDim+1, 1, []int{0, 1}, 1)) },
			isShape,
		},
		{"shapes", "sparse rows, another number", func(s *ridge.Summary) error {
			b := sparseRow(badDim, 2, []int{0, 1, 1}, 1)
			b.N = 1
			b.Y = b.Y[:2]
			return s.AppendBlock(b)
		}, isShape},
		{"shapes", "merged with itself", func(s *ridge.Summary) error { return s.Merge(s) }, isShape},
		{"shapes", "merged with another d", func(s *ridge.Summary) error {
			return s.Merge(other(func(c *ridge.SummaryConfig) { c.Dim++ }))
		}, isShape},
		{"shapes", "merged with another m", func(s *ridge.Summary) error {
			return s.Merge(other(func(c *ridge.SummaryConfig) { c.Size++ }))
		}, isShape},
		{"shapes", "merged with another t", func(s *ridge.Summary) error {
			return s.Merge(other(func(c *ridge.SummaryConfig) { c.Targets++ }))
		}, isShape},
		{"shapes", "merged with an intercept or without", func(s *ridge.Summary) error {
			return s.Merge(other(func(c *ridge.SummaryConfig) { c.Intercept = !c.Intercept }))
		}, isShape},

		{"wire", "nothing", func(s *ridge.Summary) error { return s.UnmarshalBinary(nil) }, isFormat},
		{"wire", "cut", func(s *ridge.Summary) error { return s.UnmarshalBinary(message[:len(message)-1]) }, isFormat},
		{"wire", "a bit", func(s *ridge.Summary) error { return s.UnmarshalBinary(flipped) }, isFormat},
		{
			"wire",
			"a cut stream",
			func(s *ridge.Summary) error { _, err := s.ReadFrom(bytes.NewReader(message[:50])); return err },
			isFormat,
		},
		{
			"wire",
			"another stream",
			func(s *ridge.Summary) error { _, err := s.ReadFrom(strings.NewReader("1 1:2\n")); return err },
			isFormat,
		},
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		named := func(what string, call func(s *ridge.Summary) error, ok func(error) bool) {
			calls = append(calls, badCall{"not finite", fmt.Sprint(v, " ", what), call, ok})
		}
		named(
			"in x",
			func(s *ridge.Summary) error { return s.Append(with(badDim, 5, 1, v), ones(2), nil) },
			nonFinite(5, 1),
		)
		named(
			"in y",
			func(s *ridge.Summary) error { return s.Append(ones(badDim), with(2, 6, 1, v), nil) },
			nonFinite(6, badDim+1),
		)
		named(
			"as a weight",
			func(s *ridge.Summary) error { return s.Append(ones(badDim), ones(2), weight(v)) },
			nonFinite(2, badDim+2),
		)
		named(
			"in a sparse row",
			func(s *ridge.Summary) error { return s.AppendBlock(sparse(v, 0, 2)) },
			nonFinite(0, 0),
		)
		named(
			"in a row of weight zero",
			func(s *ridge.Summary) error { return s.Append(with(badDim, 1, 1, v), ones(2), weight(1)) },
			nonFinite(1, 1),
		)
		named("in a late block", func(s *ridge.Summary) error {
			const n = 5000 // more rows than are staged at once
			x := mat.NewDense(n, badDim, nil)
			x.Set(n-1, 2, v)
			return s.Append(x, mat.NewDense(n, 2, nil), nil)
		}, nonFinite(4999, 2))
		named(
			"as decay",
			func(s *ridge.Summary) error { return s.Decay(v) },
			func(err error) bool { return err != nil },
		)
	}
	for _, gamma := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		for what, call := range map[string]func(s *ridge.Summary) error{
			"Fit":       func(s *ridge.Summary) error { _, err := s.Fit(gamma); return err },
			"FitFD":     func(s *ridge.Summary) error { _, err := s.FitFD(gamma); return err },
			"Path":      func(s *ridge.Summary) error { _, err := s.Path([]float64{1, gamma}); return err },
			"Predictor": func(s *ridge.Summary) error { _, err := s.Predictor(gamma); return err },
			"PredictInterval": func(s *ridge.Summary) error {
				_, err := s.PredictInterval(gamma, make([]float64, badDim))
				return err
			},
			"Plan": func(s *ridge.Summary) error {
				_, err := plan.New(s, plan.Config{Gammas: []float64{gamma}})
				return err
			},
			"PredictedPasses": func(s *ridge.Summary) error {
				_, err := plan.PredictedPasses(s, gamma, 1e-8, ridge.CG)
				return err
			},
			"Solve": func(s *ridge.Summary) error {
				_, err := ridge.Solve(
					context.Background(), testkit.Table{X: [][]float64{{1, 2, 3}}, Y: [][]float64{{1, 2}}}, s, gamma,
					ridge.SolveOptions{},
				)
				return err
			},
		} {
			calls = append(calls, badCall{"γ", fmt.Sprint(what, " ", gamma), call, isGamma})
		}
	}
	return calls
}

// TestBadInput: each call that must be refused returns the promised error and does not change a bit of the receiver.
// The receiver has an intercept or none, and is empty, has one row, or has shrunk.
func TestBadInput(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		cfg := badConfig
		cfg.Intercept = intercept
		calls := badCalls(t, cfg)
		for _, rows := range []int{0, 1, 40} {
			p := testkit.Problem(rand.New(rand.NewPCG(1, 1)), "gaussian", 40, badDim, 2, 1)
			for _, c := range calls {
				s := testkit.Must(ridge.NewSummary(cfg))(t)
				s.Meta = []byte("the caller's")
				if rows > 0 {
					testkit.Check(
						t,
						s.Append(
							mat.NewDense(rows, badDim, testkit.Flat(p.X[:rows])),
							mat.NewDense(rows, 2, testkit.Flat(p.Y[:rows])),
							nil,
						),
					)
				}
				before := testkit.Marshal(t, s)
				if err := c.call(s); err == nil || !c.ok(err) && !(rows == 0 && errors.Is(err, ridge.ErrEmpty)) {
					t.Errorf("%s: %s: %v", c.row, c.name, err)
				}
				if c.name != "a merge overflows" && !bytes.Equal(before, testkit.Marshal(t, s)) {
					t.Errorf("%s: %s: after %d rows the refused call changed the summary", c.row, c.name, rows)
				}
			}
		}
	}
}

// TestBadConfig: a summary that cannot be is refused by the constructor.
func TestBadConfig(t *testing.T) {
	const huge = math.MaxInt
	for _, cfg := range []ridge.SummaryConfig{
		{Dim: huge, Size: huge}, {Dim: huge / 8, Size: 9}, {Dim: 2, Size: 2, ShrinkRows: huge},
		{Dim: 3, Size: 2, Targets: huge}, {Dim: 3, Size: 2, Targets: huge / 4}, {Dim: huge / 64, Size: 1, Targets: 65},
	} {
		if s, err := ridge.NewSummary(cfg); !errors.Is(err, fd.ErrSize) || s != nil {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	for _, cfg := range []ridge.SummaryConfig{
		{}, {Dim: 3}, {Size: 3}, {Dim: -1, Size: 2}, {Dim: 2, Size: -1}, {Dim: 3, Size: 2, ShrinkRows: -1},
		{Dim: 3, Size: 2, Targets: -1}, {Dim: 3, Size: 2, Shrink: 9},
	} {
		if s, err := ridge.NewSummary(cfg); !errors.Is(err, ridge.ErrInput) || s != nil {
			t.Errorf("%+v is accepted", cfg)
		}
	}
}

// oddInput are rows that nobody expects, and that are fitted all the same.
var oddInput = map[string]func(i, j int) float64{
	"zero matrix":      func(i, j int) float64 { return 0 },
	"zero rows":        func(i, j int) float64 { return float64(i%3) * math.Sin(float64(i+5*j)) },
	"constant columns": func(i, j int) float64 { return float64(j) + 0.1 },
	"a zero column":    func(i, j int) float64 { return float64(j) * math.Sin(float64(i+5*j)) },
	"least denormal":   func(i, j int) float64 { return 5e-324 },
	"denormals":        func(i, j int) float64 { return 1e-310 * math.Sin(float64(7*i+j)) },
	"rank one":         func(i, j int) float64 { return float64(i+1) * float64(j+1) },
	"repeated σ":       func(i, j int) float64 { return map[bool]float64{true: 2}[i%4 == j] },
	"duplicated rows":  func(i, j int) float64 { return math.Sin(float64(3*(i/4) + j)) },
	"near the limit":   func(i, j int) float64 { return 1e147 * math.Sin(float64(i+9*j)) },
	"far from zero":    func(i, j int) float64 { return 1e9 + math.Sin(float64(i+9*j)) },
}

// TestOddInput: one-shot, refined and exact solutions of odd rows, whatever their
// shape: one row, n < m, n < d, d = 1, m ≥ d. Nothing that is not a number comes out,
// and every solver lies within the bounds of every other. A solver may say that it
// cannot certify, by a typed error with fits that are numbers.
func TestOddInput(t *testing.T) {
	ctx := context.Background()
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for name, f := range oddInput {
			for _, shape := range []struct{ n, d, m int }{
				{1, 1, 1}, {1, 4, 2}, {3, 5, 4}, {3, 5, 2}, {30, 1, 3}, {30, 4, 9}, {30, 4, 2},
			} {
				for _, intercept := range []bool{false, true} {
					src := testkit.Table{}
					for i := range shape.n {
						row := make([]float64, shape.d)
						for j := range row {
							row[j] = f(i, j)
						}
						src.X, src.Y = append(src.X, row), append(src.Y, []float64{math.Cos(float64(3 * i))})
					}
					what := fmt.Sprintf("%s, %+v, intercept %v", name, shape, intercept)
					sum := testkit.Summarize(
						t,
						src,
						ridge.SummaryConfig{Size: shape.m, ShrinkRows: 2, Intercept: intercept, Backend: be},
					)
					gamma := choose.Grid(sum, 1)[0]
					if !(gamma > 0 && gamma <= math.MaxFloat64) {
						t.Fatalf("%s: γ = %v of the grid", what, gamma)
					}
					_, refused := sum.Fit(gamma)
					var scale *ridge.ScaleError
					if errors.As(refused, &scale) {
						if _, err := ridge.Solve(ctx, src, sum, gamma, ridge.SolveOptions{}); !errors.As(err, &scale) {
							t.Errorf("%s: one-shot fits say %v, Solve %v", what, refused, err)
						}
						continue
					}
					fits := []*ridge.Solution{testkit.Must(sum.Fit(gamma))(t), testkit.Must(sum.FitFD(gamma))(t)}
					for _, factor := range []ridge.Method{ridge.Cholesky, ridge.QR, ridge.Tridiagonal} {
						exact, err := ridge.SolveExact(
							ctx,
							src,
							[]float64{gamma},
							ridge.ExactOptions{Method: factor, Intercept: intercept, Backend: be},
						)
						var singular *ridge.SingularError
						if err != nil && !errors.As(err, &singular) {
							t.Errorf("%s: %v: %v", what, factor, err)
						}
						fits = append(fits, exact...)
					}
					for _, method := range []ridge.Method{ridge.CG, ridge.Newton} {
						fit, err := ridge.Solve(ctx, src, sum, gamma, ridge.SolveOptions{Method: method, MaxPasses: 60})
						var left *ridge.NotConvergedError
						switch {
						case err == nil:
							fits = append(fits, fit)
						case errors.As(err, &left):
							fits = append(fits, left.Solutions...)
						default:
							t.Errorf("%s: %v: %v", what, method, err)
						}
					}
					within(t, what, fits)
				}
			}
		}
	})
}

// within holds fits of the same rows at the same γ to each other.
func within(t *testing.T, what string, fits []*ridge.Solution) {
	t.Helper()
	for _, f := range fits {
		c := f.Targets[0]
		for _, v := range append(slices.Clone(c.Coef), c.Intercept) {
			if !(math.Abs(v) <= math.MaxFloat64) {
				t.Errorf("%s: %s: a weight is %v", what, f.Method, v)
			}
		}
		for _, v := range []float64{
			c.ErrorBound, f.EffectiveDimension.Lo, f.EffectiveDimension.Hi, c.Objective.Lo, c.Objective.Hi, c.RSS.Lo, c.RSS.Hi,
		} {
			if math.IsNaN(v) {
				t.Errorf("%s: %s: NaN in %+v", what, f.Method, f)
			}
		}
		for _, g := range fits {
			var gap mat.Dense
			gap.Sub(f.Coef(), g.Coef())
			if d, bound := mat.Norm(&gap, 2), c.ErrorBound+g.Targets[0].ErrorBound; !(d <= bound) {
				t.Errorf("%s: %s and %s are %g apart, their bounds allow %g", what, f.Method, g.Method, d, bound)
			}
		}
	}
}
