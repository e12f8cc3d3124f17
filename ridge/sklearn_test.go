package ridge_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/npy"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/testkit"
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
	if n := testkit.Norm(b); n > 0 {
		return testkit.Norm(d) / n
	}
	return testkit.Norm(a)
}

// TestSklearnRidge: coefficients and intercepts are within 1e-8 of Ridge(solver="cholesky", tol=0) and of the exact
// solution. Their distance to the exact solution is within the certified bound. This holds with and without intercept,
// weights, a second target and standardisation. On standardised columns CG also certifies 1e-8.
func TestSklearnRidge(t *testing.T) {
	t.Parallel()
	testkit.EachPublic(
		t,
		[]string{"housing", "w8a", "diabetes", "abalone", "covtype"},
		func(t *testing.T, name string, src dataset.Source) {
			var fixture sklearnRidge
			testkit.ReadFixture(t, name+".json", &fixture)
			data := testkit.ReadEvery(t, src, fixture.Stride)
			if data.N != fixture.Rows || data.D != fixture.Features || len(fixture.Cases) != 8 {
				t.Fatalf(
					"%d×%d rows and %d cases, the fixture has %d×%d and must have 8",
					data.N,
					data.D,
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
						src, scaling := testkit.Prepare(t, data.Source(t, targets, c.Weights), c.Standardise)
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
			testkit.MustExact(t, src, ridge.ExactOptions{Method: factor, Intercept: intercept, Backend: be}, gamma)...)
	}
	_, d, _ := src.Dims()
	sum := testkit.Summarize(
		t, src, ridge.SummaryConfig{Size: d / 2, Intercept: intercept, Backend: be, Store: fd.StoreRows},
	)
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
			bound += 0x1p-42 * testkit.Norm(exact)
		}
		if !(testkit.Norm(apart) <= bound) {
			t.Errorf("%s: off by %.3g, certified %.3g", what, testkit.Norm(apart), bound)
		}
		// The reference scales without rounding: the rows that are solved differ by a unit in the last place.
		slack := 0.0
		if c.Standardise {
			slack = 0x1p-45 * c.Objective[j]
		}
		if v, f := f.Targets[j].Objective, c.Objective[j]; !(v.Lo <= f+slack && f-slack <= v.Hi) {
			t.Errorf("%s: the minimum is %v, certified %v", what, f, v)
		}
		seen.note(f.Method.String(), "share of the bound", testkit.Norm(apart)/bound)
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
	testkit.ReadFixture(t, "ridgecv.json", &fixture)
	testkit.EachPublic(t, []string{"housing", "diabetes"}, func(t *testing.T, name string, src dataset.Source) {
		data := testkit.ReadEvery(t, src, 1)
		for _, c := range fixture.Cases {
			if c.Data != name {
				continue
			}
			src, _ := testkit.Prepare(t, data.Source(t, 1, false), c.Standardise)
			want := c.Alphas[floats.MinIdx(c.GCV)]
			for _, factor := range []ridge.Method{ridge.Cholesky, ridge.QR, ridge.Tridiagonal} {
				what := fmt.Sprintf("intercept=%v,standardise=%v, %v", c.Intercept, c.Standardise, factor)
				var mid []float64
				widest := 0.0
				for i, f := range testkit.MustExact(t, src, ridge.ExactOptions{
					Method: factor, Intercept: c.Intercept,
				}, c.Alphas...) {
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
	testkit.ReadFixture(t, "rbf.json", &fixture)
	testkit.EachPublic(t, []string{"housing"}, func(t *testing.T, _ string, src dataset.Source) {
		data := testkit.ReadEvery(t, src, fixture.Stride)
		n, d := fixture.Rows, data.D
		src, _ = testkit.Prepare(t, testkit.Must(dataset.FromDense(n, d, 0, data.X[:n*d], nil))(t), true)
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
					testkit.Must(
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
	testkit.ReadFixture(t, "float32.json", &fixture)
	open := func(name string, weighted bool) dataset.Source {
		var src dataset.Source = testkit.Must(npy.Open(
			filepath.Join("testdata", "sklearn", name), npy.Options{Targets: []string{"last"}},
		))(t)
		if weighted {
			src = testkit.Must(
				dataset.Weigh(src, testkit.Must(dataset.FromDense(fixture.Rows, 1, 0, testkit.Weights(fixture.Rows), nil))(t)),
			)(
				t,
			)
		}
		return src
	}
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		seen := figures{}
		for _, c := range fixture.Cases {
			single, scaling := testkit.Prepare(t, open("float32.npy", c.Weights), c.Standardise)
			double, _ := testkit.Prepare(t, open("float64.npy", c.Weights), c.Standardise)
			want := fitsOf(t, double, fixture.Alpha, c.Intercept, be)
			for i, f := range fitsOf(t, single, fixture.Alpha, c.Intercept, be) {
				compare(t, f, scaling, c, seen)
				ridgetest.Bitwise(t, fmt.Sprintf("%v, %s", c, f.Method), f, want[i], 1, 1)
			}
		}
		seen.log(t)
	})
}
