package ridge_test

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/ridgetest"
)

// drawWide is drawProblem with summaries merged of up to three parts and γ that
// are tiny and huge too.
func drawWide(t *rapid.T, be engine.Backend) (d drawn, gammas []float64) {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 6))
	kind := rapid.SampledFrom(kinds).Draw(t, "kind")
	if kind == "tiny" {
		kind = "decaying"
	}
	n, dim := rapid.IntRange(1, 50).Draw(t, "n"), rapid.IntRange(1, 12).Draw(t, "d")
	s := problem(
		r,
		kind,
		n,
		dim,
		rapid.IntRange(1, 3).Draw(t, "t"),
		rapid.SampledFrom([]float64{0, 1, 100}).Draw(t, "noise"),
	)
	s.block = rapid.IntRange(1, 30).Draw(t, "block")
	s.sparse = rapid.Bool().Draw(t, "sparse")
	intercept := rapid.Bool().Draw(t, "intercept")
	cfg := ridge.SummaryConfig{
		Size: rapid.IntRange(1, 13).Draw(t, "m"), ShrinkRows: rapid.IntRange(1, 9).Draw(t, "p"), Intercept: intercept, Store: drawStore(t), Backend: be,
	}
	if rapid.Bool().Draw(t, "weighted") {
		for range n {
			s.w = append(s.w, float64(r.IntN(4))/2)
		}
		someWeight(s.w)
	}
	part := rapid.IntRange(1, n).Draw(t, "part")
	for lo := 0; lo < n; lo += (n + part - 1) / part {
		p := s
		p.x, p.y = s.x[lo:min(n, lo+(n+part-1)/part)], s.y[lo:min(n, lo+(n+part-1)/part)]
		if s.w != nil {
			p.w = s.w[lo:min(n, lo+(n+part-1)/part)]
		}
		sum := summarize(t, p, cfg)
		if d.sum == nil {
			d.sum = sum
		} else if err := d.sum.Merge(sum); err != nil {
			t.Fatal(err)
		}
	}
	d.table, d.ref = s, refbig.New(s.x, s.y, s.w, intercept)
	for range 4 {
		gammas = append(gammas, scaleOf(d.ref)*math.Pow(10, rapid.Float64Range(-13, 5).Draw(t, "log γ")))
	}
	return d, gammas
}

// someWeight gives the first row weight where none has any: TestNoWeight is about that.
func someWeight(w []float64) {
	if len(w) > 0 && !slices.ContainsFunc(w, func(v float64) bool { return v > 0 }) {
		w[0] = 1
	}
}

// TestPath: a path is the fits for its γ one by one, and its certificates hold
// against 512-bit arithmetic.
func TestPath(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		cases := 0
		rapid.Check(t, func(t *rapid.T) {
			p, gammas := drawWide(t, be)
			for i, f := range must(p.sum.Path(gammas))(t) {
				ridgetest.Certificate(t, p.ref, f)
				one := must(p.sum.Fit(gammas[i]))(t)
				samePathPoint(t, one, f)
				cases++
			}
		})
		t.Logf("%d cases", cases)
	})
}

// samePathPoint compares to round-off, which is relative to (σ₁²+γ)/γ: the fits'
// own certificates know how much that is.
func samePathPoint(t rapid.TB, a, b *ridge.Solution) {
	t.Helper()
	if a.Gamma != b.Gamma || a.Method != b.Method || a.Passes != b.Passes || a.Rows != b.Rows || a.Status != b.Status ||
		len(a.Targets) != len(b.Targets) {
		t.Fatalf("%+v is not %+v", a, b)
	}
	for j, ca := range a.Targets {
		cb := b.Targets[j]
		if ca.ComputedTSS != cb.ComputedTSS {
			t.Fatalf("%+v is not %+v", a, b)
		}
		x, y := ca.Coef, cb.Coef
		diff := make([]float64, len(x))
		for k := range x {
			diff[k] = x[k] - y[k]
		}
		tol := 1e-12 * norm(x)
		if !(norm(diff) <= tol) {
			t.Errorf("γ = %g: weights differ by %g of %g", a.Gamma, norm(diff), norm(x))
		}
		if !(math.Abs(ca.ErrorBound-cb.ErrorBound) <= 0.01*ca.ErrorBound) {
			t.Errorf("γ = %g: error bounds %g and %g", a.Gamma, ca.ErrorBound, cb.ErrorBound)
		}
		for _, v := range [][2]float64{
			{ca.RSS.Lo, cb.RSS.Lo}, {ca.RSS.Hi, cb.RSS.Hi}, {ca.Objective.Lo, cb.Objective.Lo},
		} {
			if v[0] != v[1] && !(math.Abs(v[0]-v[1]) <= 1e-6*(ca.ComputedTSS+v[0])) {
				t.Errorf("γ = %g: the certificates say %g and %g", a.Gamma, v[0], v[1])
			}
		}
	}
}

func TestPathRefuses(t *testing.T) {
	s := problem(rand.New(rand.NewPCG(1, 1)), "gaussian", 20, 3, 1, 1)
	sum := summarize(t, s, ridge.SummaryConfig{Size: 2})
	for _, gamma := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		var e *ridge.GammaError
		if _, err := sum.Path([]float64{1, gamma}); !errors.As(err, &e) {
			t.Errorf("γ = %v: %v", gamma, err)
		}
	}
	none := must(ridge.NewSummary(ridge.SummaryConfig{Dim: 3, Size: 2}))(t)
	if _, err := none.Path([]float64{1}); !errors.Is(err, ridge.ErrEmpty) {
		t.Errorf("path of nothing: %v", err)
	}
	if fits := must(sum.Path(nil))(t); len(fits) != 0 {
		t.Errorf("%d fits for no γ", len(fits))
	}
}

func TestGrid(t *testing.T) {
	s := problem(rand.New(rand.NewPCG(1, 1)), "gaussian", 20, 4, 1, 1)
	sum := summarize(t, s, ridge.SummaryConfig{Size: 2})
	mean := math.Pow(norm(flat(s.x)), 2) / 4
	g := choose.Grid(sum, 7)
	for i, v := range g {
		if want := mean * math.Pow(10, float64(i-3)); !(math.Abs(v-want) <= 1e-12*want) {
			t.Errorf("γ[%d] = %g, want %g", i, v, want)
		}
	}
	if one := choose.Grid(sum, 1); len(one) != 1 || !(math.Abs(one[0]-mean) <= 1e-12*mean) {
		t.Errorf("grid of one %v, mean eigenvalue %g", one, mean)
	}
	if got := len(choose.Grid(sum, 0)) + len(choose.Grid(sum, -3)); got != 0 {
		t.Errorf("%d γ in grids of none", got)
	}
	zero := must(ridge.NewSummary(ridge.SummaryConfig{Dim: 3, Size: 2}))(t)
	if g := choose.Grid(zero, 1); g[0] != 1 {
		t.Errorf("grid of no rows: %v", g)
	}
	if d := must(sum.Path(g))(t); !(d[6].EffectiveDimension.Hi <= 4e-3) {
		t.Errorf("effective dimension at the upper end %v", d[6].EffectiveDimension)
	}
}

// housing is California housing, standardised: 20,640 rows of 8 features.
func housing(t *testing.T) dataset.Source {
	t.Helper()
	file := must(os.Open("../testdata/cal_housing.csv.gz"))(t)
	defer file.Close()
	records := must(csv.NewReader(must(gzip.NewReader(file))(t)).ReadAll())(t)
	var x, y []float64
	for _, record := range records {
		for j, field := range record {
			v := must(strconv.ParseFloat(field, 64))(t)
			if j < 8 {
				x = append(x, v)
			} else {
				y = append(y, v/1e5)
			}
		}
	}
	src := must(dataset.FromDense(len(y), 8, 1, x, y))(t)
	scaled, _, err := dataset.Standardize(context.Background(), src)
	if err != nil {
		t.Fatal(err)
	}
	return scaled
}

// fourier is the first rows of California housing through random Fourier features.
func fourier(t *testing.T, rows, components int) dataset.Source {
	t.Helper()
	src := must(dataset.Rows(housing(t), 0, int64(rows)))(t)
	var x, y []float64
	for b, err := range must(dataset.Fourier{Components: components, Gamma: 0.2, Seed: 1}.Apply(src, nil))(t).Blocks(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		x, y = append(x, b.X...), append(y, b.Y...)
	}
	return must(dataset.FromDense(rows, components, 1, x, y))(t)
}

// TestPathRealData: how tight the brackets of a one-pass path are.
func TestPathRealData(t *testing.T) {
	src := fourier(t, 4000, 256)
	sum := summarize(t, src, ridge.SummaryConfig{Size: 64, Intercept: true})
	gammas := choose.Grid(sum, 13)
	exact := must(ridge.SolveExact(context.Background(), src, gammas, ridge.ExactOptions{Intercept: true}))(t)
	for i, f := range must(sum.Path(gammas))(t) {
		c, e := f.Targets[0], exact[i].Targets[0]
		t.Logf(
			"γ %-9.3g η/γ %-9.3g error ≤ %-9.3g df %.1f of [%.1f, %.1f]  GCV %.5g of [%.5g, %.5g]",
			f.Gamma,
			f.Shrinkage/f.Gamma,
			c.RelativeErrorBound,
			exact[i].EffectiveDimension.Mid(),
			f.EffectiveDimension.Lo,
			f.EffectiveDimension.Hi,
			e.GCV.Mid(),
			c.GCV.Lo,
			c.GCV.Hi,
		)
		for what, v := range map[string][2]ridge.Interval{
			"effective dimension": {f.EffectiveDimension, exact[i].EffectiveDimension}, "GCV": {c.GCV, e.GCV}, "objective": {c.Objective, e.Objective},
		} {
			if !(v[0].Lo <= v[1].Hi) || !(v[0].Hi >= v[1].Lo) {
				t.Errorf("γ = %g: %s %v, exactly %v", f.Gamma, what, v[0], v[1])
			}
		}
	}
}
