package ridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/npy"
	"github.com/fdridge/fdridge/dataset/svmlight"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/ridgetest"
)

// These tests compare with scikit-learn. testdata/sklearn/make.py says what the
// fixtures hold and how the weights and the second target follow from the data.

// model is one set of coefficients in the units of the file, for two targets.
type model struct {
	Coef      [][]float64
	Intercept []float64
}

type sklearnCase struct {
	Intercept, Weights, Standardise bool

	Exact     model
	Error     float64 // bounds the relative error of Exact, but for rounding
	Objective []float64
	Sklearn   model
}

func (c sklearnCase) String() string {
	return fmt.Sprintf("intercept=%v,weights=%v,standardise=%v", c.Intercept, c.Weights, c.Standardise)
}

type sklearnRidge struct {
	Rows, Features, Stride int
	Alpha                  float64
	Cases                  []sklearnCase
}

func readFixture(t *testing.T, name string, v any) {
	t.Helper()
	text := must(os.ReadFile(filepath.Join("testdata", "sklearn", name)))(t)
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// observations are rows in memory, with the target of the file.
type observations struct {
	n, d   int
	x      []float64
	sparse *engine.CSR
	y      []float64
}

// readEvery keeps every stride-th row of src, from the first on.
func readEvery(t *testing.T, src dataset.Source, stride int) *observations {
	t.Helper()
	_, d, _ := src.Dims()
	o := &observations{d: d}
	for b, err := range src.Blocks(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if b.Sparse != nil && o.sparse == nil {
			o.sparse = &engine.CSR{Cols: d, RowPtr: []int{0}}
		}
		for i := range b.N {
			if (int(b.First)+i)%stride != 0 {
				continue
			}
			o.n++
			o.y = append(o.y, b.Y[i])
			if b.Sparse == nil {
				o.x = append(o.x, b.X[i*d:(i+1)*d]...)
				continue
			}
			idx, val := b.Sparse.Row(i)
			o.sparse.Rows++
			o.sparse.ColIdx, o.sparse.Val = append(o.sparse.ColIdx, idx...), append(o.sparse.Val, val...)
			o.sparse.RowPtr = append(o.sparse.RowPtr, len(o.sparse.Val))
		}
	}
	return o
}

func weights(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = 0.5 + float64(i%7)/4
	}
	return w
}

// source yields the rows with one target or two, weighted or not.
func (o *observations) source(t *testing.T, targets int, weighted bool) dataset.Source {
	t.Helper()
	y := make([]float64, 0, o.n*targets)
	for i, v := range o.y {
		y = append(y, v)
		if targets == 2 {
			y = append(y, float64(1+i%3)*v)
		}
	}
	var src dataset.Source
	if o.sparse != nil {
		src = must(dataset.FromCSR(o.sparse, targets, y))(t)
	} else {
		src = must(dataset.FromDense(o.n, o.d, targets, o.x, y))(t)
	}
	if !weighted {
		return src
	}
	return must(dataset.Weigh(src, must(dataset.FromDense(o.n, 1, 0, weights(o.n), nil))(t)))(t)
}

// prepare standardises src if asked, and returns what was taken off and divided by.
func prepare(t *testing.T, src dataset.Source, standardise bool) (dataset.Source, *dataset.Scaling) {
	t.Helper()
	if standardise {
		out, s, err := dataset.Standardize(context.Background(), src)
		if err != nil {
			t.Fatal(err)
		}
		return out, s
	}
	_, d, _ := src.Dims()
	s := &dataset.Scaling{Mean: make([]float64, d), Scale: make([]float64, d)}
	for j := range s.Scale {
		s.Scale[j] = 1
	}
	return src, s
}

// inUnits takes a fit of scaled columns back to the units of the file.
func inUnits(f *ridge.Solution, s *dataset.Scaling) model {
	var out model
	for _, o := range f.Targets {
		coef, intercept := slices.Clone(o.Coef), o.Intercept
		for i := range coef {
			coef[i] /= s.Scale[i]
			intercept -= coef[i] * s.Mean[i]
		}
		out.Coef, out.Intercept = append(out.Coef, coef), append(out.Intercept, intercept)
	}
	return out
}

// distance is ‖a − b‖/‖b‖, ‖a‖ where b is zero.
func distance(a, b []float64) float64 {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	if n := norm(b); n > 0 {
		return norm(d) / n
	}
	return norm(a)
}

// publicData are the data sets of the fixtures. Those the repository lacks are
// looked for in dir.
var publicData = []struct {
	name string
	ours bool
	open func(t *testing.T, dir string) dataset.Source
}{
	{"housing", true, func(t *testing.T, _ string) dataset.Source {
		return must(
			csv.Open(filepath.Join("..", "testdata", "cal_housing.csv.gz"), csv.Options{Targets: []string{"last"}}),
		)(
			t,
		)
	}},
	{"w8a", true, func(t *testing.T, _ string) dataset.Source {
		return must(
			svmlight.Open(filepath.Join("..", "testdata", "w8a.svm.gz"), svmlight.Options{Features: 300, Targets: 1}),
		)(
			t,
		)
	}},
	{"diabetes", false, func(t *testing.T, dir string) dataset.Source {
		return must(csv.Open(filepath.Join(dir, "diabetes.tab.txt"), csv.Options{Targets: []string{"Y"}}))(t)
	}},
	{"abalone", false, func(t *testing.T, dir string) dataset.Source {
		text := string(must(os.ReadFile(filepath.Join(dir, "abalone.data")))(t))
		coded := filepath.Join(t.TempDir(), "abalone.csv")
		err := os.WriteFile(coded, []byte(strings.NewReplacer("M,", "0,", "F,", "1,", "I,", "2,").Replace(text)), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return must(csv.Open(coded, csv.Options{Targets: []string{"last"}}))(t)
	}},
	{"covtype", false, func(t *testing.T, dir string) dataset.Source {
		return must(csv.Open(filepath.Join(dir, "covtype.data.gz"), csv.Options{Targets: []string{"last"}}))(t)
	}},
	{"year, the first rows", false, func(t *testing.T, dir string) dataset.Source {
		return must(
			csv.Open(filepath.Join(dir, "YearPredictionMSD.head1176.txt.gz"), csv.Options{Targets: []string{"first"}}),
		)(
			t,
		)
	}},
	{"year, a sample", false, func(t *testing.T, dir string) dataset.Source {
		return must(
			csv.Open(
				filepath.Join(dir, "YearPredictionMSD.sample7000.txt.gz"),
				csv.Options{Targets: []string{"first"}},
			),
		)(
			t,
		)
	}},
}

// eachPublic runs f on the named data sets that are available.
func eachPublic(t *testing.T, names []string, f func(t *testing.T, name string, src dataset.Source)) {
	dir := os.Getenv("FDRIDGE_DATA")
	for _, p := range publicData {
		if !slices.Contains(names, p.name) {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			if !p.ours && dir == "" {
				t.Skipf("FDRIDGE_DATA is not set: %s is left out", p.name)
			}
			f(t, p.name, p.open(t, dir))
		})
	}
}

// TestSklearnRidge: coefficients and intercepts are within 1e-8 of Ridge(solver="cholesky", tol=0) and of the exact
// solution. Their distance to the exact solution is within the certified bound. This holds with and without intercept,
// weights, a second target and standardisation. On standardised columns CG also certifies 1e-8.
func TestSklearnRidge(t *testing.T) {
	t.Parallel()
	eachPublic(
		t,
		[]string{"housing", "w8a", "diabetes", "abalone", "covtype"},
		func(t *testing.T, name string, src dataset.Source) {
			var fixture sklearnRidge
			readFixture(t, name+".json", &fixture)
			data := readEvery(t, src, fixture.Stride)
			if data.n != fixture.Rows || data.d != fixture.Features || len(fixture.Cases) != 8 {
				t.Fatalf(
					"%d×%d rows and %d cases, the fixture has %d×%d and must have 8",
					data.n,
					data.d,
					len(fixture.Cases),
					fixture.Rows,
					fixture.Features,
				)
			}
			enginetest.Each(t, func(t *testing.T, be engine.Backend) {
				seen := figures{}
				for _, c := range fixture.Cases {
					for _, targets := range []int{1, 2} {
						if targets == 1 && name == "w8a" && os.Getenv("FDRIDGE_THOROUGH") == "" {
							continue // half of the time of the test
						}
						src, scaling := prepare(t, data.source(t, targets, c.Weights), c.Standardise)
						for _, f := range fitsOf(t, src, fixture.Alpha, c.Intercept, be) {
							compare(t, f, scaling, c, seen)
						}
					}
				}
				seen.log(t)
			})
		},
	)
}

// figures are the worst of what was seen, by method and in words.
type figures map[string]map[string]float64

func (s figures) note(method, what string, v float64) {
	if s[method] == nil {
		s[method] = map[string]float64{}
	}
	s[method][what] = math.Max(s[method][what], v)
}

func (s figures) log(t *testing.T) {
	for _, method := range slices.Sorted(maps.Keys(s)) {
		text := method
		for _, what := range slices.Sorted(maps.Keys(s[method])) {
			text += fmt.Sprintf(", %s %.1e", what, s[method][what])
		}
		t.Log(text)
	}
}

// fitsOf fits by both factorisations and by CG on a sketch of half as many rows
// as there are features. Where round-off allows no certificate of 1e-10, it is the
// best there is.
func fitsOf(t *testing.T, src dataset.Source, gamma float64, intercept bool, be engine.Backend) []*ridge.Solution {
	t.Helper()
	var out []*ridge.Solution
	for _, factor := range []ridge.Method{ridge.Cholesky, ridge.QR, ridge.Tridiagonal} {
		out = append(
			out,
			mustExact(t, src, ridge.ExactOptions{Method: factor, Intercept: intercept, Backend: be}, gamma)...)
	}
	_, d, _ := src.Dims()
	sum := summarize(t, src, ridge.SummaryConfig{Size: d / 2, Intercept: intercept, Backend: be, Store: fd.StoreRows})
	fit, err := ridge.Solve(context.Background(), src, sum, gamma, ridge.SolveOptions{Tol: 1e-10})
	var short *ridge.NotConvergedError
	switch {
	case errors.As(err, &short) && errors.Is(err, ridge.ErrRoundOff):
		fit = short.Solutions[0]
		t.Logf("intercept=%v, d = %d: CG certifies no more than %.1e", intercept, d, fit.Targets[0].RelativeErrorBound)
	case err != nil:
		t.Fatal(err)
	}
	return append(out, fit)
}

// compare holds one fit to the fixture.
func compare(t *testing.T, f *ridge.Solution, s *dataset.Scaling, c sklearnCase, seen figures) {
	t.Helper()
	if !(c.Error <= 1e-16) {
		t.Fatalf("%v: the reference itself has an error of %g", c, c.Error)
	}
	got := inUnits(f, s)
	for j := range got.Coef {
		what := fmt.Sprintf("%v, %s, target %d of %d", c, f.Method, j+1, len(got.Coef))
		for of, want := range map[string]model{"exact": c.Exact, "scikit-learn": c.Sklearn} {
			coef := distance(got.Coef[j], want.Coef[j])
			intercept := distance(got.Intercept[j:j+1], want.Intercept[j:j+1])
			if !(coef <= 1e-8) || !(intercept <= 1e-8) {
				t.Errorf("%s: coefficients differ by %.2g, the intercept by %.2g from %s", what, coef, intercept, of)
			}
			seen.note(f.Method.String(), of+" coefficients", coef)
			seen.note(f.Method.String(), of+" intercept", intercept)
		}

		apart := make([]float64, len(s.Scale)) // in the units of the fit
		for i, v := range s.Scale {
			apart[i] = v * (got.Coef[j][i] - c.Exact.Coef[j][i])
		}
		bound := f.Targets[j].ErrorBound
		if c.Standardise { // as for the objective below: times the condition number, about 500
			var exact []float64
			for i, v := range s.Scale {
				exact = append(exact, v*c.Exact.Coef[j][i])
			}
			bound += 0x1p-42 * norm(exact)
		}
		if !(norm(apart) <= bound) {
			t.Errorf("%s: off by %.3g, certified %.3g", what, norm(apart), bound)
		}
		// The reference scales without rounding: the rows that are solved differ by a unit in the last place.
		slack := 0.0
		if c.Standardise {
			slack = 0x1p-45 * c.Objective[j]
		}
		if v, f := f.Targets[j].Objective, c.Objective[j]; !(v.Lo <= f+slack && f-slack <= v.Hi) {
			t.Errorf("%s: the minimum is %v, certified %v", what, f, v)
		}
		seen.note(f.Method.String(), "share of the bound", norm(apart)/bound)
		certified := "certified as read"
		if c.Standardise {
			certified = "certified when standardised"
		}
		relative := f.Targets[j].RelativeErrorBound
		seen.note(f.Method.String(), certified, relative)
		if c.Standardise && f.Method == ridge.CG && !(relative <= 1e-8) {
			t.Errorf("%s: certified to %.2g only", what, relative)
		}
	}
}

// TestSklearnRidgeCV: the GCV of every γ is in its bracket, and the γ chosen by the
// brackets is the one chosen by GCV, and so by RidgeCV where the two agree.
// RidgeCV itself minimises the leave-one-out error, which GCV approximates: where
// they part, what GCV thinks of its choice is reported.
func TestSklearnRidgeCV(t *testing.T) {
	var fixture struct {
		Cases []struct {
			Data                   string
			Intercept, Standardise bool
			Alphas, GCV            []float64
			RidgeCV                float64
		}
	}
	readFixture(t, "ridgecv.json", &fixture)
	eachPublic(t, []string{"housing", "diabetes"}, func(t *testing.T, name string, src dataset.Source) {
		data := readEvery(t, src, 1)
		for _, c := range fixture.Cases {
			if c.Data != name {
				continue
			}
			src, _ := prepare(t, data.source(t, 1, false), c.Standardise)
			want := c.Alphas[floats.MinIdx(c.GCV)]
			for _, factor := range []ridge.Method{ridge.Cholesky, ridge.QR, ridge.Tridiagonal} {
				what := fmt.Sprintf("intercept=%v,standardise=%v, %v", c.Intercept, c.Standardise, factor)
				var mid []float64
				widest := 0.0
				for i, f := range mustExact(t, src, ridge.ExactOptions{Method: factor, Intercept: c.Intercept}, c.Alphas...) {
					v := f.Targets[0].GCV
					if !(v.Lo <= c.GCV[i] && c.GCV[i] <= v.Hi) {
						t.Errorf("%s: GCV at %g is %v, certified %v", what, f.Gamma, c.GCV[i], v)
					}
					mid = append(mid, v.Mid())
					widest = math.Max(widest, (v.Hi-v.Lo)/c.GCV[i])
				}
				choice := c.Alphas[floats.MinIdx(mid)]
				if choice != want {
					t.Errorf("%s: chose %g, GCV is least at %g", what, choice, want)
				}
				other := slices.Index(c.Alphas, c.RidgeCV)
				t.Logf("%s: brackets to %.1e; GCV chooses %.3g, RidgeCV %.3g, where GCV is higher by %.1e", what,
					widest, choice, c.RidgeCV, c.GCV[other]/slices.Min(c.GCV)-1)
			}
		}
	})
}

// TestSklearnRBFSampler: random Fourier features approximate the kernel as well as
// RBFSampler's do, mean and largest error averaged over the seeds.
func TestSklearnRBFSampler(t *testing.T) {
	t.Parallel()
	var fixture struct {
		Rows, Stride int
		Cases        []struct {
			Components, Seeds int
			Gamma, Mean, Max  float64
		}
	}
	readFixture(t, "rbf.json", &fixture)
	eachPublic(t, []string{"housing"}, func(t *testing.T, _ string, src dataset.Source) {
		data := readEvery(t, src, fixture.Stride)
		n, d := fixture.Rows, data.d
		src, _ = prepare(t, must(dataset.FromDense(n, d, 0, data.x[:n*d], nil))(t), true)
		x := features(t, src)
		kernel := mat.NewDense(n, n, nil)
		for _, c := range fixture.Cases {
			kernel.Apply(func(i, j int, _ float64) float64 {
				r := floats.Distance(x.RawRowView(i), x.RawRowView(j), 2)
				return math.Exp(-c.Gamma * r * r)
			}, kernel)
			var mean, largest float64
			for seed := range c.Seeds {
				z := features(
					t,
					must(
						dataset.Fourier{Components: c.Components, Gamma: c.Gamma, Seed: uint64(seed)}.Apply(src, nil),
					)(
						t,
					),
				)
				var e mat.Dense
				e.Mul(z, z.T())
				e.Sub(&e, kernel)
				mean += floats.Norm(e.RawMatrix().Data, 1) / float64(n*n) / float64(c.Seeds)
				largest += floats.Norm(e.RawMatrix().Data, math.Inf(1)) / float64(c.Seeds)
			}
			t.Logf(
				"%d features: mean error %.4f, scikit-learn %.4f; largest %.4f, scikit-learn %.4f",
				c.Components,
				mean,
				c.Mean,
				largest,
				c.Max,
			)
			if !(mean <= 1.2*c.Mean) || !(largest <= 1.2*c.Max) {
				t.Errorf(
					"%d features: the kernel is off by %g on average, %g at most; scikit-learn's by %g and %g",
					c.Components,
					mean,
					largest,
					c.Mean,
					c.Max,
				)
			}
		}
	})
}

// features are all rows of a dense source.
func features(t *testing.T, src dataset.Source) *mat.Dense {
	t.Helper()
	var x []float64
	for b, err := range src.Blocks(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		x = append(x, b.X...)
	}
	_, d, _ := src.Dims()
	return mat.NewDense(len(x)/d, d, x)
}

// TestSklearnFloat32: a file of float32 is fitted as the same numbers in float64
// are, bit for bit, and so as accurately.
func TestSklearnFloat32(t *testing.T) {
	var fixture sklearnRidge
	readFixture(t, "float32.json", &fixture)
	open := func(name string, weighted bool) dataset.Source {
		var src dataset.Source = must(npy.Open(
			filepath.Join("testdata", "sklearn", name), npy.Options{Targets: []string{"last"}},
		))(t)
		if weighted {
			src = must(
				dataset.Weigh(src, must(dataset.FromDense(fixture.Rows, 1, 0, weights(fixture.Rows), nil))(t)),
			)(
				t,
			)
		}
		return src
	}
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		seen := figures{}
		for _, c := range fixture.Cases {
			single, scaling := prepare(t, open("float32.npy", c.Weights), c.Standardise)
			double, _ := prepare(t, open("float64.npy", c.Weights), c.Standardise)
			want := fitsOf(t, double, fixture.Alpha, c.Intercept, be)
			for i, f := range fitsOf(t, single, fixture.Alpha, c.Intercept, be) {
				compare(t, f, scaling, c, seen)
				ridgetest.Bitwise(t, fmt.Sprintf("%v, %s", c, f.Method), f, want[i], 1, 1)
			}
		}
		seen.log(t)
	})
}
