package ridge_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// These tests are for false certificates that an outside search found. Some used the means at the end of the stream to
// bound how far centring had moved rows. Others ignored squares that underflow.

// outlier returns n rows of one feature, N(0, 1). The first row is far away and has almost no weight.
func outlier(n int, far, weight float64) testkit.Table {
	r := rand.New(rand.NewPCG(15, 1))
	var p testkit.Table
	for i := range n {
		x, w := r.NormFloat64(), 1.0
		if i == 0 {
			x, w = far, weight
		}
		p.X, p.Y, p.W = append(p.X, []float64{x}), append(p.Y, []float64{0.5*x + r.NormFloat64()}), append(p.W, w)
	}
	return p
}

// TestFirstRowFar: Cholesky and QR count what centring by way of a first row far away
// does to the effective dimension.
func TestFirstRowFar(t *testing.T) {
	ageing := testkit.Table{}
	r := rand.New(rand.NewPCG(15, 2))
	for i := range 400 {
		level := 0.0
		if i < 40 {
			level = 3e4
		}
		x := level + r.NormFloat64()
		ageing.X, ageing.Y, ageing.W = append(ageing.X, []float64{x}), append(ageing.Y, []float64{x + r.NormFloat64()}),
			append(ageing.W, math.Pow(0.9, float64(399-i)))
	}
	for name, c := range map[string]struct {
		p     testkit.Table
		gamma float64
	}{
		"tiny weight":  {outlier(50, 1e6, 1e-30), 20},
		"wild weights": {outlier(50, 1e12, 1e-60), 20},
		"forgetting":   {ageing, 3},
	} {
		for _, block := range []int{1, 7, 0} { // in one of its own, the first row is the origin
			c.p.Block = block
			farAway(t, fmt.Sprintf("%s, blocks of %d", name, block), c.p, c.gamma)
		}
	}
}

func farAway(t *testing.T, name string, p testkit.Table, gamma float64) {
	truth := p.Truth(true)
	for _, factor := range []ridge.Method{ridge.Cholesky, ridge.QR, ridge.Tridiagonal} {
		fits := testkit.Must(
			ridge.SolveExact(t.Context(), p, []float64{gamma}, ridge.ExactOptions{Method: factor, Intercept: true}),
		)(
			t,
		)
		t.Run(name+" "+factor.String(), func(t *testing.T) { testkit.Certificate(t, truth, fits[0]) })
	}
	sum := testkit.Must(ridge.Summarize(t.Context(), p, ridge.SummaryConfig{Size: 1, Intercept: true}, nil))(t)
	t.Run(name+" one-shot", func(t *testing.T) { testkit.Certificate(t, truth, testkit.Must(sum.Fit(gamma))(t)) })
}

// TestSparseFirstRowFar: the same for sparse rows, which a pass reads from where they
// are and a summary from the first row.
func TestSparseFirstRowFar(t *testing.T) {
	const gamma = 1e12
	for _, block := range []int{1, 7, 0} {
		p := outlier(500, 1e7, 1e-30)
		p.Sparse, p.Block = true, block
		sum := testkit.Must(ridge.Summarize(t.Context(), p, ridge.SummaryConfig{Size: 1, Intercept: true}, nil))(t)
		truth := p.Truth(true)
		testkit.Certificate(t, truth, testkit.Must(sum.Fit(gamma))(t))
		f, err := ridge.Solve(t.Context(), p, sum, gamma, ridge.SolveOptions{Tol: 1e-6})
		if short, ok := errors.AsType[*ridge.NotConvergedError](err); ok {
			f, err = short.Solutions[0], nil
		}
		testkit.Check(t, err)
		testkit.Certificate(t, truth, f)
	}
}

// TestMergeDrifted: a stream that began far away and has forgotten it, merged into a
// summary of one row.
func TestMergeDrifted(t *testing.T) {
	for _, level := range []float64{1e4, 1e7} {
		const blocks, rows, gamma = 100, 16, 3
		r := rand.New(rand.NewPCG(15, 3))
		cfg := ridge.SummaryConfig{Dim: 1, Size: 1, Intercept: true}
		tiny, drifted := testkit.Must(ridge.NewSummary(cfg))(t), testkit.Must(ridge.NewSummary(cfg))(t)
		var p testkit.Table
		row := func(at float64) ([]float64, []float64) {
			x := at + r.NormFloat64()
			return []float64{x}, []float64{x - at + r.NormFloat64()}
		}
		x, y := row(0)
		testkit.Check(t, tiny.Append(mat.NewDense(1, 1, x), mat.NewDense(1, 1, y), nil))
		p.X, p.Y, p.W = append(p.X, x), append(p.Y, y), append(p.W, 1)
		for k := range blocks {
			at := 0.0
			if k < blocks/10 {
				at = level
			}
			var xs, ys []float64
			for range rows {
				x, y := row(at)
				xs, ys = append(xs, x...), append(ys, y...)
				p.X, p.Y, p.W = append(p.X, x), append(p.Y, y), append(p.W, math.Ldexp(1, -(blocks-k)))
			}
			testkit.Check(t, drifted.Append(mat.NewDense(rows, 1, xs), mat.NewDense(rows, 1, ys), nil))
			testkit.Check(t, drifted.Decay(0.5))
		}
		testkit.Check(t, tiny.Merge(drifted))
		truth := p.Truth(true)
		truth.N = int(tiny.Rows())
		testkit.Certificate(t, truth, testkit.Must(tiny.Fit(gamma))(t))
		s := testkit.Must(truth.Solve(gamma))(t)
		for _, at := range []float64{0, 0.3, -2} {
			v := testkit.Must(tiny.PredictInterval(gamma, []float64{at}))(t)[0]
			want := refbig.Float(at)
			want.Mul(want, s.Coef[0][0]).Add(want, s.Intercept[0])
			if want.Cmp(refbig.Float(v.Lo)) < 0 || want.Cmp(refbig.Float(v.Hi)) > 0 {
				t.Errorf("level %g: %.17g is not in [%.17g, %.17g]", level, want, v.Lo, v.Hi)
			}
		}
	}
}

// TestNarrowByFirstRowFar: a fit of the rows of a summary narrows the predictions of the summary. This holds even if
// only one of them used a far first row as the origin of its means.
func TestNarrowByFirstRowFar(t *testing.T) {
	one := outlier(20, 1e13, 1e-30)
	each := one
	each.Block = 1
	truth := testkit.Must(one.Truth(true).Solve(2))(t)
	for _, p := range [][2]testkit.Table{{one, each}, {each, one}} {
		sum := testkit.Must(ridge.Summarize(t.Context(), p[0], ridge.SummaryConfig{Size: 1, Intercept: true}, nil))(t)
		predictor := testkit.Must(sum.Predictor(2))(t)
		testkit.Check(
			t,
			predictor.Narrow(
				testkit.Must(ridge.SolveExact(t.Context(), p[1], []float64{2}, ridge.ExactOptions{Intercept: true}))(t)[0],
			),
		)
		v := make([]ridge.Interval, 1)
		testkit.Check(t, predictor.Predict(v, dataset.Block{N: 1, X: []float64{0.5}}))
		want := refbig.Float(0.5)
		want.Mul(want, truth.Coef[0][0]).Add(want, truth.Intercept[0])
		testkit.Inside(t, "prediction", v[0], want, refbig.Float(1))
	}
}

// TestNarrowByLostProducts: where a first row far away has rounded the features of all
// others to one number, c is next to nothing in the summary. Passes, which read the rows
// again, measure what it is, and their fits are of the summary's rows all the same.
func TestNarrowByLostProducts(t *testing.T) {
	const far, gamma = 1e17, 1e9
	p := testkit.Table{X: [][]float64{{far}}, Y: [][]float64{{1}}, W: []float64{1e-40}}
	r := rand.New(rand.NewPCG(15, 4))
	for range 40 {
		x := r.NormFloat64()
		p.X, p.Y, p.W = append(p.X, []float64{x}), append(p.Y, []float64{x + 0.1*r.NormFloat64()}), append(p.W, 1)
	}
	truth := testkit.Must(p.Truth(true).Solve(gamma))(t)
	p.Block = 1 // the first row is the origin
	sum := testkit.Must(ridge.Summarize(t.Context(), p, ridge.SummaryConfig{Size: 1, Intercept: true}, nil))(t)
	for _, method := range []ridge.Method{ridge.CG, ridge.Newton, ridge.Galerkin} {
		f, err := ridge.Solve(t.Context(), p, sum, gamma, ridge.SolveOptions{Method: method, MaxPasses: 2})
		if short, ok := errors.AsType[*ridge.NotConvergedError](err); ok {
			f, err = short.Solutions[0], nil
		}
		testkit.Check(t, err)
		if v := f.Targets[0].Objective; !(f.Targets[0].TSS.Lo-2*v.Hi > 1e-7) {
			t.Errorf("%v: passes that prove nothing of c: ‖b‖² is in %v, f* in %v", method, f.Targets[0].TSS, v)
		}
		predictor := testkit.Must(sum.Predictor(gamma))(t)
		testkit.Check(t, predictor.Narrow(f))
		v := make([]ridge.Interval, 1)
		testkit.Check(t, predictor.Predict(v, dataset.Block{N: 1, X: []float64{0.5}}))
		want := refbig.Float(0.5)
		want.Mul(want, truth.Coef[0][0]).Add(want, truth.Intercept[0])
		testkit.Inside(t, "prediction", v[0], want, refbig.Float(1))
	}
}

// TestDimensionOfTinyShrinkage: a shrinkage that is tiny beside the round-off of ‖A‖²_F makes no NaN of the
// effective dimension. All terms of the trace, divided by such a shrinkage, are infinite.
func TestDimensionOfTinyShrinkage(t *testing.T) {
	const gamma = 0x1p200
	r := rand.New(rand.NewPCG(31, 6))
	cfg := ridge.SummaryConfig{Size: 2, ShrinkRows: 1, Store: fd.StoreRows}
	for range 20 {
		var both testkit.Table
		part := func(n, exponent int) *ridge.Summary {
			var p testkit.Table
			for range n {
				row := make([]float64, 5)
				for j := range row {
					row[j] = math.Ldexp(r.NormFloat64(), exponent)
				}
				p.X, p.Y = append(p.X, row), append(p.Y, []float64{1})
			}
			both.X, both.Y = append(both.X, p.X...), append(both.Y, p.Y...)
			return testkit.Must(ridge.Summarize(t.Context(), p, cfg, nil))(t)
		}
		sum := part(2, 110)
		testkit.Check(t, sum.Merge(part(4, -500))) // has shrunk
		if eta := testkit.Must(sum.Spectrum())(t).Bound.Shrinkage; !(eta > 0) || !(eta < 0x1p-900) {
			t.Fatalf("η is %g", eta)
		}
		v := testkit.Must(sum.Fit(gamma))(t).EffectiveDimension
		if !(v.Lo <= v.Hi) {
			t.Fatalf("the effective dimension is in %v", v)
		}
		testkit.Inside(
			t,
			"effective dimension",
			v,
			testkit.Must(both.Truth(false).Solve(gamma))(t).EffectiveDimension,
			refbig.Float(1),
		)
	}
}

// TestInterceptBound: a target that was far away at first leaves the intercept in doubt
// where the weights are in none that counts, for the features have no mean.
func TestInterceptBound(t *testing.T) {
	p := testkit.Table{Block: 1, X: [][]float64{{0}}, Y: [][]float64{{1e13}}, W: []float64{1e-30}}
	for i := range 40 {
		p.X, p.Y, p.W = append(p.X, []float64{float64(1 - 2*(i%2))}), append(p.Y, []float64{float64(i) / 7}), append(p.W, 1)
	}
	truth := p.Truth(true)
	sum := testkit.Must(ridge.Summarize(t.Context(), p, ridge.SummaryConfig{Size: 1, Intercept: true}, nil))(t)
	f := testkit.Must(sum.Fit(2))(t)
	testkit.Certificate(t, truth, f)
	testkit.Certificate(
		t,
		truth,
		testkit.Must(ridge.SolveExact(t.Context(), p, []float64{2}, ridge.ExactOptions{Intercept: true}))(t)[0],
	)
	if v := f.Targets[0].InterceptBound; !(v > 1e-4 && v < 1) {
		t.Errorf("the intercept is off by %g at most", v)
	}
}

// TestLargeScales: where squares of squares overflow, brackets are wide and not NaN.
func TestLargeScales(t *testing.T) {
	const large = 0x1p119
	p := testkit.Table{
		X: [][]float64{{large, 0.3 * large}, {0.9 * large, -0.4 * large}, {0.1 * large, 0.3 * large}},
		Y: [][]float64{{0.7 * large}, {0.5 * large}, {-0.4 * large}},
	}
	truth := p.Truth(false)
	for size := 1; size <= 2; size++ {
		sum := testkit.Must(ridge.Summarize(t.Context(), p, ridge.SummaryConfig{Size: size}, nil))(t)
		for _, gamma := range []float64{1e-70, 1e-60, 1e-30} {
			testkit.Certificate(t, truth, testkit.Must(sum.FitFD(gamma))(t))
			for _, method := range []ridge.Method{ridge.CG, ridge.Newton, ridge.Galerkin} {
				for _, start := range []*mat.Dense{nil, mat.NewDense(1, 2, []float64{1e60, -1e60})} {
					f, err := ridge.Solve(
						t.Context(),
						p,
						sum,
						gamma,
						ridge.SolveOptions{Method: method, MaxPasses: 3, Start: start},
					)
					if short, ok := errors.AsType[*ridge.NotConvergedError](err); ok {
						f, err = short.Solutions[0], nil
					}
					testkit.Check(t, err)
					testkit.Certificate(t, truth, f)
				}
			}
		}
	}
}

// TestSecondOrder: the square of what rounding does is counted, where it is all there is.
func TestSecondOrder(t *testing.T) {
	x := testkit.Table{X: [][]float64{{1e18}, {20}, {-20}}, Y: [][]float64{{1}, {1}, {2}}, W: []float64{1e-60, 1, 1}}
	y := testkit.Table{X: [][]float64{{1}, {1}, {2}}, Y: [][]float64{{1e18}, {20}, {-20}}, W: []float64{1e-60, 1, 1}}
	x1, y1 := x, y
	x1.Block, y1.Block = 1, 1
	for name, p := range map[string]testkit.Table{
		"features":                  x,
		"target":                    y,
		"features in blocks of one": x1,
		"target in blocks of one":   y1,
	} {
		sum := testkit.Must(ridge.Summarize(t.Context(), p, ridge.SummaryConfig{Size: 1, Intercept: true}, nil))(t)
		t.Run(name, func(t *testing.T) { testkit.Certificate(t, p.Truth(true), testkit.Must(sum.Fit(800))(t)) })
		for _, factor := range []ridge.Method{ridge.Cholesky, ridge.QR, ridge.Tridiagonal} {
			f := testkit.Must(ridge.SolveExact(
				t.Context(), p, []float64{800}, ridge.ExactOptions{Method: factor, Intercept: true},
			))(t)[0]
			t.Run(name+" "+factor.String(), func(t *testing.T) { testkit.Certificate(t, p.Truth(true), f) })
		}
	}
}

// TestUnderflow: squares that underflow to zero are not taken for zero, and what is zero
// is certified to be.
func TestUnderflow(t *testing.T) {
	tiny := testkit.Table{X: [][]float64{{1e-170}, {1e-170}, {1e-170}}, Y: [][]float64{{1e30}, {1}, {-1e30}}}
	target := testkit.Table{X: [][]float64{{1}, {2}, {3}}, Y: [][]float64{{1e-170}, {0}, {-1e-170}}}
	weights := testkit.Table{
		X: [][]float64{{1e-20}, {2e-20}, {3e-20}},
		Y: [][]float64{{1}, {1}, {1}},
		W: []float64{1e-305, 1e-305, 1e-305},
	}
	for name, p := range map[string]testkit.Table{"features": tiny, "target": target, "weights": weights} {
		sum := testkit.Must(ridge.Summarize(t.Context(), p, ridge.SummaryConfig{Size: 1}, nil))(t)
		var scale *ridge.ScaleError
		if _, err := sum.Fit(1e-72); !errors.As(err, &scale) {
			t.Errorf("%s: Fit: %v", name, err)
		}
		if _, err := ridge.Solve(t.Context(), p, sum, 1e-72, ridge.SolveOptions{}); !errors.As(err, &scale) {
			t.Errorf("%s: Solve: %v", name, err)
		}
		again := new(ridge.Summary)
		testkit.Check(t, again.UnmarshalBinary(testkit.Marshal(t, sum)))
		if _, err := again.Fit(1e-72); !errors.As(err, &scale) {
			t.Errorf("%s: Fit of what was written: %v", name, err)
		}
		f, err := ridge.SolveExact(t.Context(), p, []float64{1e-72}, ridge.ExactOptions{})
		testkit.Check(t, err)
		testkit.Certificate(t, p.Truth(false), f[0])
	}
	zero := testkit.Table{X: [][]float64{{0}, {0}, {5}}, Y: [][]float64{{1}, {0}, {3}}, W: []float64{1, 2, 0}}
	sum := testkit.Must(ridge.Summarize(t.Context(), zero, ridge.SummaryConfig{Size: 1}, nil))(t)
	f := testkit.Must(sum.Fit(1))(t)
	if v := f.Targets[0].ErrorBound; v != 0 {
		t.Errorf("rows of zeros: the error is at most %g", v)
	}
}

// TestDecayToNothing: a decay that leaves no weight is refused, and nothing is changed.
func TestDecayToNothing(t *testing.T) {
	sum := testkit.Must(
		ridge.Summarize(t.Context(), outlier(20, 1, 1), ridge.SummaryConfig{Size: 1, Intercept: true}, nil),
	)(t)
	for range 1200 {
		before := testkit.Marshal(t, sum)
		err := sum.Decay(0.5)
		if err == nil {
			continue
		}
		if scale, ok := errors.AsType[*ridge.ScaleError](err); !ok || scale.What != "Σw" {
			t.Errorf("Decay: %v", err)
		}
		if string(testkit.Marshal(t, sum)) != string(before) {
			t.Error("a decay that is refused changes the summary")
		}
		return
	}
	t.Error("1200 halvings are accepted")
}

// TestTinyWeights: weights whose sum has no reciprocal are taken, with an intercept too.
func TestTinyWeights(t *testing.T) {
	p := outlier(12, 1, 1)
	for i := range p.W {
		p.W[i] = 1e-310
	}
	sum := testkit.Must(ridge.Summarize(t.Context(), p, ridge.SummaryConfig{Size: 1, Intercept: true}, nil))(t)
	var scale *ridge.ScaleError
	if _, err := sum.Fit(1e-60); !errors.As(err, &scale) {
		t.Errorf("Fit: %v", err)
	}
	more := outlier(30, 2, 1)
	testkit.Check(t, sum.Append(mat.NewDense(30, 1, column(more.X)), mat.NewDense(30, 1, column(more.Y)), more.W))
	all := testkit.Table{X: append(p.X, more.X...), Y: append(p.Y, more.Y...), W: append(p.W, more.W...)}
	testkit.Certificate(t, all.Truth(true), testkit.Must(sum.Fit(2))(t))
}

func column(x [][]float64) []float64 {
	var out []float64
	for _, row := range x {
		out = append(out, row...)
	}
	return out
}

// TestHeavyFarWeights: a first row and weights whose products would overflow are refused
// before anything is changed.
func TestHeavyFarWeights(t *testing.T) {
	cfg := ridge.SummaryConfig{Dim: 1, Size: 1, Intercept: true}
	sum := testkit.Must(ridge.NewSummary(cfg))(t)
	testkit.Check(
		t, sum.Append(mat.NewDense(1, 1, []float64{0x1p498}), mat.NewDense(1, 1, []float64{1}), []float64{0x1p-300}),
	)
	before := testkit.Marshal(t, sum)
	one := mat.NewDense(1, 1, []float64{1})
	if err := sum.Append(one, one, []float64{0x1p400}); err == nil || string(testkit.Marshal(t, sum)) != string(before) {
		t.Errorf("Append: %v", err)
	}
	heavy := testkit.Must(ridge.NewSummary(cfg))(t)
	testkit.Check(t, heavy.Append(one, one, []float64{0x1p400}))
	if err := sum.Merge(heavy); err == nil || string(testkit.Marshal(t, sum)) != string(before) {
		t.Errorf("Merge: %v", err)
	}
}

// TestEachTargetAtTinyGamma: at a tiny γ the coefficients of FitEach are only round-off, which is not orthogonal to
// the rows of the sketch. The brackets of the residual must contain the residual of these coefficients.
func TestEachTargetAtTinyGamma(t *testing.T) {
	const n, d = 7, 8
	var p testkit.Table
	for i := range n {
		row := make([]float64, d)
		for j := range row {
			row[j] = 1.6102939894165265 * float64(1-2*(i>>(j%4)&1))
		}
		p.X, p.Y = append(p.X, row), append(p.Y, []float64{row[0] * float64(1-i/3*2)})
	}
	for _, store := range []fd.Storage{fd.StoreRows, fd.StoreScatter} {
		sum := testkit.Must(ridge.NewSummary(ridge.SummaryConfig{Dim: d, Size: 6, Store: store}))(t)
		x, y := mat.NewDense(n, d, slices.Concat(p.X...)), mat.NewDense(n, 1, slices.Concat(p.Y...))
		if err := sum.Append(x, y, nil); err != nil {
			t.Fatal(err)
		}
		for _, gamma := range []float64{6e-73, 1e-50, 1e-20, 1} {
			f := testkit.Must(sum.FitEach([]float64{gamma}))(t).Targets[0]
			rss, _ := p.Truth(false).RSS(0, f.Coef).Float64()
			if !(f.RSS.Lo <= rss*(1+1e-15) && rss*(1-1e-15) <= f.RSS.Hi) {
				t.Errorf("store %v, γ = %v: the residual is %v, not in %v", store, gamma, rss, f.RSS)
			}
		}
	}
}
