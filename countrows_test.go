package fdridge_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/dataset/svmlight"
	"github.com/fdridge/fdridge/internal/verify/leaktest"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/classes"
	"github.com/fdridge/fdridge/ridge/plan"
	"github.com/fdridge/fdridge/ridge/reason"
)

// writeSparse writes n rows with three of d features, with labels ±1, in the format of svmlight. If zip is true, the
// file is compressed. The last feature is not zero in row 1.
func writeSparse(t *testing.T, n, d int, zip bool) string {
	t.Helper()
	r := rand.New(rand.NewPCG(38, 1))
	var text bytes.Buffer
	for i := range n {
		third := d
		if i > 0 {
			third = 2*d/3 + 1 + r.IntN(d/3)
		}
		fmt.Fprintf(
			&text,
			"%d %d:%.3f %d:1 %d:-2.5\n",
			1-2*r.IntN(2),
			1+r.IntN(d/3),
			r.NormFloat64(),
			d/3+1+r.IntN(d/3),
			third,
		)
	}
	content := text.Bytes()
	if zip {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		content = packed.Bytes()
	}
	name := filepath.Join(t.TempDir(), "rows")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func openSparse(t *testing.T, name string, d int) *dataset.Stream {
	t.Helper()
	s, err := svmlight.Open(name, svmlight.Options{Features: d, Targets: 1})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRowsCounted: a fit of rows whose number is unknown runs the method of a fit that knows the number. It has the
// same solution and makes the same passes, besides the reading that counts the rows.
func TestRowsCounted(t *testing.T) {
	leaktest.Check(t)
	several := []float64{1, 2, 3, 4}
	for name, c := range map[string]struct {
		n, d   int
		zip    bool
		opts   fdridge.Options
		method ridge.Method // of the fit
		solved ridge.Method // of the solution
	}{
		"n² does not fit":            {11600, 13000, false, fdridge.Options{Gammas: several[:1]}, ridge.DualCG, ridge.DualCG},
		"n² does not fit, gz":        {11600, 13000, true, fdridge.Options{Gammas: several[:1]}, ridge.DualCG, ridge.DualCG},
		"n² does not fit, several γ": {11600, 13000, false, fdridge.Options{Gammas: several, Tol: 0.1, Size: 2}, ridge.Galerkin, ridge.Galerkin},
		"n < d":                      {60, 12000, false, fdridge.Options{Gammas: several[:1]}, ridge.Exact, ridge.DualCG},
		"n < d, gz":                  {60, 12000, true, fdridge.Options{Gammas: several[:1]}, ridge.Exact, ridge.DualCG},
		"n < d, several γ":           {60, 12000, false, fdridge.Options{Gammas: several}, ridge.Exact, ridge.Dual},
		"n < d, γ is chosen":         {60, 12000, false, fdridge.Options{}, ridge.Exact, ridge.Dual},
		"n < d, by GCV":              {60, 12000, false, fdridge.Options{Select: choose.GCV}, ridge.Exact, ridge.Dual},
		"n < d, classes":             {60, 12000, false, fdridge.Options{Classes: &classes.Classes{}}, ridge.Exact, ridge.Dual},
		"n < d, exact":               {60, 12000, false, fdridge.Options{Gammas: several[:1], Method: ridge.Exact}, ridge.Exact, ridge.DualCG},
	} {
		t.Run(name, func(t *testing.T) {
			file := writeSparse(t, c.n, c.d, c.zip)
			var found [2]*fdridge.Result
			for i, features := range []int{0, c.d} {
				src, opts := openSparse(t, file, features), c.opts
				if opts.Classes != nil {
					var err error
					opts.Classes, err = classes.Learn(t.Context(), openSparse(t, file, c.d), nil)
					if err != nil {
						t.Fatal(err)
					}
				}
				var before ridge.Method
				opts.Chosen = func(m ridge.Method) error {
					before = m
					return nil
				}
				passes := 0 // of the fit; one more counts the errors of classes
				if opts.Classes != nil {
					passes++
				}
				var err error
				found[i], err = fdridge.Fit(t.Context(), src, opts)
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range found[i].Trace {
					passes += s.Passes
				}
				if found[i].Method != c.method || before != c.method || found[i].Best().Method != c.solved ||
					src.Passes() > passes+1 {
					t.Errorf(
						"%d features given: %v (%v), before the first pass %v, solved by %v; %d passes of %d",
						features,
						found[i].Method,
						found[i].Reason(),
						before,
						found[i].Best().Method,
						passes,
						src.Passes(),
					)
				}
			}
			a, b := found[0], found[1]
			if c.n < c.d && !reflect.DeepEqual(a.Reason(), b.Reason()) {
				t.Errorf("%v, without the number of rows %v", a.Reason(), b.Reason())
			}
			if !reflect.DeepEqual(a.Best().Coef(), b.Best().Coef()) || a.Best().Gamma != b.Best().Gamma ||
				a.Passes != b.Passes {
				t.Errorf(
					"other coefficients, γ = %v and %v, %d and %d passes",
					a.Best().Gamma,
					b.Best().Gamma,
					a.Passes,
					b.Passes,
				)
			}
		})
	}
}

// countless is a source that never knows its number of rows.
type countless struct{ dataset.Source }

func (s countless) Dims() (n int64, d, t int) {
	_, d, t = s.Source.Dims()
	return -1, d, t
}

// TestRowsCountedDense: dense rows of a csv file, fewer than the features, are solved by AAᵀ. The same holds for a
// source that never knows its number of rows.
func TestRowsCountedDense(t *testing.T) {
	leaktest.Check(t)
	const n, d = 24, 12000
	r := rand.New(rand.NewPCG(38, 3))
	x, y := make([]float64, n*d), make([]float64, n)
	var text bytes.Buffer
	for i := range n {
		for j := range d {
			x[i*d+j] = math.Round(100*r.NormFloat64()) / 100
			fmt.Fprintf(&text, "%v,", x[i*d+j])
		}
		y[i] = float64(i % 17)
		fmt.Fprintln(&text, y[i])
	}
	name := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(name, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := csv.Open(name, csv.Options{Targets: []string{"last"}})
	if err != nil {
		t.Fatal(err)
	}
	table.BlockRows = 64 // more blocks than buffers
	known, err := dataset.FromDense(n, d, 1, x, y)
	if err != nil {
		t.Fatal(err)
	}
	opts := fdridge.Options{Gammas: []float64{10}}
	want, err := fdridge.Fit(t.Context(), known, opts)
	if err != nil {
		t.Fatal(err)
	}
	for name, src := range map[string]dataset.Source{"csv": table, "countless": countless{known}} {
		got, err := fdridge.Fit(t.Context(), src, opts)
		if err != nil {
			t.Fatal(err)
		}
		a, b := want.Best(), got.Best()
		if a.Method != ridge.Dual || b.Method != ridge.Dual || !reflect.DeepEqual(a.Coef(), b.Coef()) ||
			got.Passes != want.Passes {
			t.Errorf(
				"%s: %v in %d passes, %v in %d passes if the number of rows is known",
				name,
				b.Method,
				got.Passes,
				a.Method,
				want.Passes,
			)
		}
	}
	narrow, err := dataset.FromDense(n, 2000, 1, x[:n*2000], y)
	if err != nil {
		t.Fatal(err)
	}
	opts.MaxBytes = 16 << 20 // AᵀA needs 32 MB
	if got, err := fdridge.Fit(t.Context(), countless{narrow}, opts); err != nil || got.Best().Method != ridge.Dual {
		t.Errorf("in 16 MiB: %v, %v", got, err)
	}
}

// TestRowsCountedEnds: a fit that ends early leaves no goroutine and no open file. An error of
// the rows is the error of the fit.
func TestRowsCountedEnds(t *testing.T) {
	leaktest.Check(t)
	const d = 300
	good := writeSparse(t, 6000, d, false)
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad")
	first, _, _ := bytes.Cut(text, []byte("\n"))
	if err := os.WriteFile(bad, fmt.Appendf(nil, "%s\n1 7:x\n", first), 0o600); err != nil {
		t.Fatal(err)
	}
	opts := fdridge.Options{Gammas: []float64{1}}
	if _, err := fdridge.Fit(t.Context(), openSparse(t, bad, d), opts); err == nil {
		t.Error("a row that is no row is fitted")
	} else if in, ok := errors.AsType[*dataset.InputError](err); !ok || in.Line != 2 {
		t.Errorf("%v", err)
	}
	for begun := range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		seen := 0
		opts.Progress = func(fdridge.Stage, ridge.Progress) {
			seen++
			if seen > begun {
				cancel()
			}
		}
		if begun == 0 {
			cancel()
		}
		if _, err := fdridge.Fit(ctx, openSparse(t, good, d), opts); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after %d blocks: %v", begun, err)
		}
		cancel()
	}
	opts.Progress, opts.Chosen = nil, func(ridge.Method) error { return errEnd }
	if _, err := fdridge.Fit(t.Context(), openSparse(t, good, d), opts); !errors.Is(err, errEnd) {
		t.Errorf("a method that the caller refuses: %v", err)
	}
}

var errEnd = errors.New("not this method")

// TestRowsCountedOfCache: rows that can be read once, and that a cache stores, are counted without a second pass over
// the pipe.
func TestRowsCountedOfCache(t *testing.T) {
	opts := fdridge.Options{Gammas: []float64{100}, Size: 4, Tol: 0.5}
	leaktest.Check(t)
	for _, n := range []int{40, 13000} {
		const d = 12000
		name := writeSparse(t, n, d, false)
		want, err := fdridge.Fit(t.Context(), openSparse(t, name, 0), opts)
		if err != nil {
			t.Fatal(err)
		}
		once := openSparse(t, name, d)
		once.Single = true
		cached, err := dataset.Cached(once, dataset.CacheOptions{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		got, err := fdridge.Fit(t.Context(), cached, opts)
		if err != nil {
			t.Fatal(err)
		}
		a, b := want.Best(), got.Best()
		if a.Method != b.Method || !reflect.DeepEqual(a.Coef(), b.Coef()) || once.Passes() != 1 {
			t.Errorf("%d rows: %v from a pipe, %v from a file", n, b.Method, a.Method)
		}
		if err := errors.Join(cached.Err(), cached.Close()); err != nil {
			t.Error(err)
		}
	}
	once := openSparse(t, writeSparse(t, 40, 12000, false), 12000)
	once.Single = true
	if r, err := fdridge.Fit(t.Context(), once, fdridge.Options{Gammas: []float64{1}}); err != nil ||
		r.Method != ridge.OneShot ||
		once.Passes() != 1 {
		t.Errorf("rows that can be read once: %v, %v", r, err)
	}
}

// TestRowsCountedFilled: each missing value is counted once, also if the rows were counted before.
func TestRowsCountedFilled(t *testing.T) {
	const n, d = 30000, 2
	x, y, missing := make([]float64, n*d), make([]float64, n), int64(0)
	for i := range n {
		x[2*i] = float64(i % 12000) // a level
		x[2*i+1] = float64(i * i % 7)
		if i%13 == 0 {
			x[2*i+1] = math.NaN()
			missing++
		}
	}
	for i := range y {
		y[i] = float64(i % 17)
	}
	table, err := dataset.FromTable(n, d, 1, x, y)
	if err != nil {
		t.Fatal(err)
	}
	e, err := prepare.NewEncoding(d, nil, prepare.MissingMean, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Learn(t.Context(), table, prepare.LearnOptions{}); err != nil {
		t.Fatal(err)
	}
	var tally prepare.Tally
	src, err := e.Apply(countless{table}, prepare.EncodeOptions{Tally: &tally})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fdridge.Fit(t.Context(), src, fdridge.Options{Gammas: []float64{1e6}, Size: 2, Tol: 0.5}); err != nil {
		t.Fatal(err)
	}
	if got := tally.Filled.Load(); got != missing {
		t.Errorf("%d of %d missing values were counted", got, missing)
	}
}

// TestDependsOnRows: the choice depends on the rows if it is an iteration, or if as many rows as features have another
// method. Rows that can be read once do not count.
func TestDependsOnRows(t *testing.T) {
	r := rand.New(rand.NewPCG(38, 2))
	open := 0
	for range 3000 {
		p := plan.Problem{
			Rows: -1, Dim: 1 + r.IntN(1<<r.IntN(16)), Targets: 1 + r.IntN(3), Gammas: make([]float64, 1+r.IntN(60)), Grid: choose.GridSize,
			Size: 1 << r.IntN(10), MaxBytes: 1 << (20 + r.IntN(20)),
		}
		for i := range p.Gammas {
			p.Gammas[i] = 1
		}
		if r.IntN(3) == 0 {
			p.Gammas, p.LeaveOneOut = nil, true
		}
		method, depends := plan.Choose(p).Method, plan.DependsOnRows(p)
		square := p
		square.Rows = int64(p.Dim)
		if depends != (!method.IsDirect() || plan.Choose(square).Method != method) {
			t.Fatalf("%+v: %v, depends on the rows: %v", p, method, depends)
		}
		p.Rows = int64(p.Dim) / 2
		if depends && plan.Choose(p).Method != method {
			open++
		}
		p.Rows, p.Once = -1, true
		if plan.DependsOnRows(p) {
			t.Fatal("rows that can be read once are counted")
		}
	}
	if open == 0 {
		t.Error("the number of rows never decided")
	}
	p := plan.Problem{
		Rows:     11600,
		Dim:      13000,
		Targets:  1,
		Gammas:   []float64{1},
		Size:     256,
		MaxBytes: ridge.DefaultMaxBytes,
	}
	if !plan.DependsOnRows(p) {
		t.Error("nobody asks whether rows are sparse")
	}
	p.Rows = -1
	for name, change := range map[string]func(*plan.Problem){
		"a method":      func(p *plan.Problem) { p.Method = ridge.CG },
		"a sketch":      func(p *plan.Problem) { p.NeedsSketch.Rule = reason.SketchIsKept },
		"least squares": func(p *plan.Problem) { p.Gammas = []float64{0} },
	} {
		q := p
		change(&q)
		if plan.DependsOnRows(q) {
			t.Errorf("%s: the rows are counted", name)
		}
	}
}

// TestRowsCountedLarge: if the rows of dual-cg do not fit in memory, an iteration runs. A plan marks what runs.
func TestRowsCountedLarge(t *testing.T) {
	leaktest.Check(t)
	const n, d = 11600, 13000
	name := writeSparse(t, n, d, false)
	for _, features := range []int{0, d} {
		for _, maxBytes := range []uint64{100 << 10, 600 << 10} {
			r, err := fdridge.Fit(
				t.Context(),
				openSparse(t, name, features),
				fdridge.Options{Gammas: []float64{100}, Size: 2, Tol: 0.1, MaxBytes: maxBytes},
			)
			if err != nil || r.Method.IsDirect() || r.Summary == nil {
				t.Errorf("%d features given, %d bytes: %v, %v", features, maxBytes, r, err)
			}
		}
		r, err := fdridge.Fit(
			t.Context(),
			openSparse(t, name, features),
			fdridge.Options{Gammas: []float64{100}, Method: ridge.DualCG, MaxBytes: 100 << 10},
		)
		if _, large := errors.AsType[*ridge.SizeError](err); !large {
			t.Errorf("dual-cg in 100 KiB: %v, %v", r, err)
		}
	}
	sum, err := ridge.Summarize(t.Context(), openSparse(t, name, d), ridge.SummaryConfig{Size: 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for maxBytes, want := range map[uint64]ridge.Method{1 << 30: ridge.DualCG, 32 << 20: ridge.Galerkin} {
		p, err := plan.New(
			sum,
			plan.Config{Gammas: []float64{100}, Sizes: []int{2}, Tol: 0.1, Entries: 100, MaxBytes: maxBytes},
		)
		if err != nil {
			t.Fatal(err)
		}
		if p.Best < 0 {
			t.Fatalf("in %d bytes: %+v", maxBytes, p.Options)
		}
		got := p.Options[p.Best].Method
		if p.Options[0].Method != ridge.DualCG || got != want || !p.IsDefault || !p.Exact {
			t.Errorf("in %d bytes the plan marks %v of %+v, want %v", maxBytes, got, p.Options, want)
		}
	}
}
