package model_test

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/conformal"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// A noisy is a random problem: rows for the fit, held-out rows and new rows.
type noisy struct {
	x, held, fresh    [][]float64
	y, heldY, freshY  [][]float64
	gamma             float64
	intercept, scales bool
}

// newNoisy returns a problem of n rows for the fit, and of h held-out and new rows. Some have large means.
func newNoisy(r *rand.Rand, n, h, d, t int) *noisy {
	p := &noisy{gamma: math.Pow(10, -3+4*r.Float64()), intercept: r.IntN(3) > 0, scales: r.IntN(2) > 0}
	mean, w := math.Pow(10, 6*r.Float64()-3), make([]float64, d)
	for j := range w {
		w[j] = r.NormFloat64()
	}
	draw := func(n int) (x, y [][]float64) {
		for range n {
			row, out := make([]float64, d), make([]float64, t)
			for j := range row {
				row[j] = mean + r.NormFloat64()
			}
			for j := range out {
				out[j] = float64(j) + r.NormFloat64()*math.Abs(row[0]-mean)
				for k := range row {
					out[j] += w[k] * row[k]
				}
			}
			x, y = append(x, row), append(y, out)
		}
		return x, y
	}
	p.x, p.y = draw(n)
	p.held, p.heldY = draw(h)
	p.fresh, p.freshY = draw(h)
	return p
}

func sourceOf(t *testing.T, x, y [][]float64) dataset.Source {
	t.Helper()
	src, err := dataset.FromDense(len(x), len(x[0]), len(y[0]), slices.Concat(x...), slices.Concat(y...))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// fit fits the rows by an exact method, or from a small sketch, and returns the model.
func (p *noisy) fit(t *testing.T, sketched bool) *model.Model {
	t.Helper()
	src := sourceOf(t, p.x, p.y)
	prep := model.Preparation{Inputs: len(p.x[0])}
	if p.scales {
		var err error
		_, prep.Scaling, err = dataset.Standardize(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
	}
	rows, err := prep.Apply(src, nil)
	if err != nil {
		t.Fatal(err)
	}
	var fits []*ridge.Solution
	if sketched {
		cfg := ridge.SummaryConfig{Size: 2, Intercept: p.intercept, Lanes: 1, Store: fd.StoreRows}
		sum, err := ridge.Summarize(t.Context(), rows, cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		f, err := sum.Fit(p.gamma)
		if err != nil {
			t.Fatal(err)
		}
		fits = []*ridge.Solution{f}
	} else {
		o := ridge.ExactOptions{Intercept: p.intercept}
		if p.scales {
			o.Rounding = prep.Scaling.Rounding()
		}
		fits, err = ridge.SolveExact(t.Context(), rows, []float64{p.gamma}, o)
		if err != nil {
			t.Fatal(err)
		}
	}
	m, err := model.New(prep, fits, model.Details{Intercept: p.intercept})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// calibrated stores intervals of coverage in m and returns a predictor with them.
func (p *noisy) calibrated(t *testing.T, m *model.Model, level float64) *model.Predictor {
	t.Helper()
	found, err := m.Calibrate(t.Context(), sourceOf(t, p.held, p.heldY), level)
	if err != nil {
		t.Fatal(err)
	}
	all, err := found.Coverages()
	if err != nil {
		t.Fatal(err)
	}
	m.Fits[0].Coverage = all[0]
	return predictorOf(t, m, model.CoverageIntervals{})
}

func predictorOf(t *testing.T, m *model.Model, by model.Intervals) *model.Predictor {
	t.Helper()
	of, err := m.Predictor(by)
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// hits returns the number of new rows whose first target is in its interval.
func (p *noisy) hits(t *testing.T, of *model.Predictor) float64 {
	t.Helper()
	hits := 0.0
	for one, err := range of.Predict(t.Context(), sourceOf(t, p.fresh, p.freshY)) {
		if err != nil {
			t.Fatal(err)
		}
		if y := p.freshY[one.Row][0]; one.Intervals[0].Lo <= y && y <= one.Intervals[0].Hi {
			hits++
		}
	}
	return hits
}

// exact returns the exact solution of the rows as they are scaled, in 512 bits, and a function that scales a row.
func (p *noisy) exact(t *testing.T, m *model.Model) (*refbig.Solution, func(row []float64) []*big.Float) {
	t.Helper()
	scaled := func(row []float64) []*big.Float {
		out := make([]*big.Float, len(row))
		for j, v := range row {
			out[j] = refbig.Float(v)
			if m.Folded != nil {
				out[j].Sub(out[j], refbig.Float(m.Folded.Mean[j]))
				out[j].Quo(out[j], refbig.Float(m.Folded.Scale[j]))
			}
		}
		return out
	}
	s, err := p.problem(t, m).Solve(p.gamma)
	if err != nil {
		t.Fatal(err)
	}
	return s, scaled
}

// problem returns the problem of the rows as they are scaled, in 512 bits.
func (p *noisy) problem(t *testing.T, m *model.Model) *refbig.Problem {
	t.Helper()
	// refbig takes float64 rows, so that its moments are scaled instead.
	problem := refbig.New(p.x, p.y, nil, p.intercept)
	if m.Folded != nil {
		if !p.intercept {
			t.Fatal("a problem without an intercept cannot be shifted")
		}
		for j := range problem.D {
			for k := range j + 1 { // the element above the diagonal is the same number
				problem.K[j][k].Quo(problem.K[j][k], refbig.Float(m.Folded.Scale[j]))
				problem.K[j][k].Quo(problem.K[j][k], refbig.Float(m.Folded.Scale[k]))
			}
			for i := range problem.C {
				problem.C[i][j].Quo(problem.C[i][j], refbig.Float(m.Folded.Scale[j]))
			}
			problem.MeanX[j] = problem.MeanX[j].Sub(problem.MeanX[j], refbig.Float(m.Folded.Mean[j]))
			problem.MeanX[j].Quo(problem.MeanX[j], refbig.Float(m.Folded.Scale[j]))
		}
	}
	return problem
}

// predictExactly returns the prediction of the exact solution for target j.
func predictExactly(s *refbig.Solution, row []*big.Float, j int) *big.Float {
	out := new(big.Float).Set(s.Intercept[j])
	for k, v := range row {
		out.Add(out, new(big.Float).Mul(v, s.Coef[j][k]))
	}
	return out
}

// TestCoverageHoldsExact: an interval contains the interval that the exact solution gives, in 512 bits.
func TestCoverageHoldsExact(t *testing.T) {
	var widths []float64 // relative to the exact intervals, for direct fits
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 49))
		p := newNoisy(r, 20+r.IntN(30), 12+r.IntN(30), 1+r.IntN(5), 1+r.IntN(2))
		p.scales = p.scales && p.intercept
		m := p.fit(t, seed%4 == 3)
		level := []float64{0.5, 0.8, 0.9}[r.IntN(3)]
		of := p.calibrated(t, m, level)
		radius := m.Fits[0].Coverage.Radius
		s, scaled := p.exact(t, m)
		for j := range p.y[0] {
			var residuals []*big.Float
			for i, row := range p.held {
				off := new(big.Float).Sub(refbig.Float(p.heldY[i][j]), predictExactly(s, scaled(row), j))
				residuals = append(residuals, off.Abs(off))
			}
			slices.SortFunc(residuals, (*big.Float).Cmp)
			q := residuals[conformal.Rank(level, int64(len(residuals)))-1]
			for one, err := range of.Predict(t.Context(), sourceOf(t, p.fresh, p.freshY)) {
				if err != nil {
					t.Fatal(err)
				}
				at := predictExactly(s, scaled(p.fresh[one.Row]), j)
				lo, hi := new(big.Float).Sub(at, q), new(big.Float).Add(at, q)
				v := one.Intervals[j]
				if !(refbig.Float(v.Lo).Cmp(lo) <= 0 && refbig.Float(v.Hi).Cmp(hi) >= 0) {
					t.Fatalf("seed %d, target %d, row %d: %v does not contain [%.17g, %.17g]", seed, j, one.Row, v, lo, hi)
				}
				width := new(big.Float).Sub(hi, lo)
				if w, _ := width.Float64(); seed%4 != 3 {
					widths = append(widths, (v.Hi-v.Lo)/w)
				}
				if !(v.Lo <= one.Y[j]-float64(radius[j]) && v.Hi >= one.Y[j]+float64(radius[j])) {
					t.Fatalf("seed %d: %v is narrower than %v ± %v", seed, v, one.Y[j], radius[j])
				}
			}
		}
	}
	slices.Sort(widths)
	if median := widths[len(widths)/2]; !(median <= 1+1e-6) {
		t.Errorf("half of the intervals are more than %g times as wide as the exact ones", median)
	}
}

// TestCoverage: intervals contain new observations as often as they promise, with noise that depends on the row.
func TestCoverage(t *testing.T) {
	const level, runs, fresh = 0.8, 400, 20
	var hits float64
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 50))
		p := newNoisy(r, 30, fresh, 3, 1)
		m := p.fit(t, false)
		hits += p.hits(t, p.calibrated(t, m, level))
	}
	// With 20 held-out rows the coverage is ⌈0.8·21⌉/21 = 17/21 = 0.8095. The standard error of the mean is 0.006.
	if mean := hits / (runs * fresh); !(mean >= level-0.013 && mean <= 17.0/21+0.025) {
		t.Errorf("coverage %.4f", mean)
	}
}

// TestCoverageKept: the file of a model keeps its intervals, as JSON and as arrays. A damaged one is refused.
func TestCoverageKept(t *testing.T) {
	p := newNoisy(rand.New(rand.NewPCG(1, 51)), 30, 19, 3, 2)
	m := p.fit(t, false)
	if _, err := m.Predictor(model.CoverageIntervals{}); !errors.Is(err, model.ErrUncovered) {
		t.Errorf("without a calibration: %v", err)
	}
	p.calibrated(t, m, 0.95)
	kept := m.Fits[0].Coverage
	var text, arrays bytes.Buffer
	if err := errors.Join(m.Write(&text), m.WriteArrays(&arrays)); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{text.String(), arrays.String()} {
		again, err := model.Read(strings.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		got := again.Fits[0].Coverage
		if got == nil || got.Level != 0.95 || got.Rows != 19 || !slices.Equal(got.Radius, kept.Radius) ||
			!slices.Equal(got.ExactRadius, kept.ExactRadius) {
			t.Errorf("read as %+v, written as %+v", got, kept)
		}
	}
	for _, change := range [][2]string{
		{`"level": 0.95`, `"level": 1.0`}, {`"rows": 19`, `"rows": 18`}, {`"radius": [`, `"radius": [-`},
		{`"radius": [`, `"radius": [1.0, `}, {`"exact_radius": [`, `"exact_radius": [-`},
	} {
		damaged := strings.Replace(text.String(), change[0], change[1], 1)
		damaged = strings.ReplaceAll(damaged, "[-\n    ", "[-")
		if damaged == text.String() {
			t.Fatalf("no %s in %s", change[0], damaged)
		}
		if _, err := model.Read(strings.NewReader(damaged)); err == nil {
			t.Errorf("%s is accepted", change[1])
		}
	}
}

// TestCoverageTooFew: with too few rows the error tells how many are needed.
func TestCoverageTooFew(t *testing.T) {
	p := newNoisy(rand.New(rand.NewPCG(2, 51)), 30, 18, 2, 1)
	m := p.fit(t, false)
	c, err := m.Calibrate(t.Context(), sourceOf(t, p.held, p.heldY), 0.95)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Coverages()
	if e, ok := errors.AsType[*model.CoverageRowsError](err); !ok || e.Needed != 19 || e.Rows != 18 {
		t.Error(err)
	}
	for _, level := range []float64{0, 1, -1, math.NaN()} {
		if _, err := m.Calibrate(t.Context(), sourceOf(t, p.held, p.heldY), level); !errors.Is(err, model.ErrInput) {
			t.Errorf("level %v: %v", level, err)
		}
	}
}

// TestGoldenCoverage: a model with intervals for new observations keeps its meaning, and is written in the same bytes.
func TestGoldenCoverage(t *testing.T) {
	m, text := readModel(t, "coverage-v5.json")
	one, err := m.At(2)
	if err != nil {
		t.Fatal(err)
	}
	of, err := one.Predictor(model.CoverageIntervals{})
	if err != nil {
		t.Fatal(err)
	}
	yhat, within := make([]float64, 1), make([]ridge.Interval, 1)
	if err := of.PredictRow(yhat, within, []float64{1, 40, 101.5}); err != nil {
		t.Fatal(err)
	}
	if half := (within[0].Hi - within[0].Lo) / 2; of.Basis() != model.ByCoverage || math.Abs(half-0.2463) > 1e-4 ||
		!(within[0].Lo < yhat[0] && yhat[0] < within[0].Hi) {
		t.Errorf("%v ± %v by %s", yhat, within, of.Basis())
	}
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file.Bytes(), text) {
		t.Errorf("it is written as\n%s", file.Bytes())
	}
}
