package fdridge_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// TestPerTarget: each target gets the γ and the solution of a fit to this target alone.
func TestPerTarget(t *testing.T) {
	const n, targets = 90, 3
	candidates := []float64{0.03, 1, 5, 30, 1000}
	for name, c := range map[string]struct {
		d    int
		opts fdridge.Options
	}{
		"GCV":            {d: 12},
		"leave-one-out":  {d: 12, opts: fdridge.Options{Select: choose.LOO}},
		"folds":          {d: 12, opts: fdridge.Options{Folds: 4}},
		"penalties":      {d: 12, opts: fdridge.Options{Penalty: slices.Repeat([]float64{1, 4}, 6)}},
		"wide rows":      {d: 120, opts: fdridge.Options{NoIntercept: true}},
		"small sketch":   {d: 40, opts: fdridge.Options{Size: 12}},
		"one-shot":       {d: 12, opts: fdridge.Options{Method: ridge.OneShot}},
		"a high bar":     {d: 12, opts: fdridge.Options{Tol: 1e-14}},
		"one of several": {d: 12, opts: fdridge.Options{Method: ridge.CG}},
	} {
		r := rand.New(rand.NewPCG(11, 13))
		x, y := make([]float64, n*c.d), make([]float64, n*targets)
		for i := range x {
			x[i] = r.NormFloat64() * math.Exp(-float64(i%c.d)/4)
		}
		for i := range n {
			y[i*targets] = 3*x[i*c.d] - x[i*c.d+1] + 0.01*r.NormFloat64()
			y[i*targets+1] = r.NormFloat64()
			y[i*targets+2] = x[i*c.d+2] + 0.4*r.NormFloat64()
		}
		src, err := dataset.FromDense(n, c.d, targets, x, y)
		if err != nil {
			t.Fatal(err)
		}
		opts := c.opts
		opts.PerTarget, opts.Candidates = true, candidates
		found, err := fdridge.Fit(t.Context(), src, opts)
		if err != nil {
			t.Fatal(name, err)
		}
		if found.Choice != nil || len(found.Solutions) != 1 || found.Solutions[0].Gammas == nil {
			t.Fatalf("%s: choice %v, %d solutions", name, found.Choice, len(found.Solutions))
		}
		s := found.Solutions[0]
		for j := range targets {
			own := make([]float64, n)
			for i := range own {
				own[i] = y[i*targets+j]
			}
			alone, err := dataset.FromDense(n, c.d, 1, x, own)
			if err != nil {
				t.Fatal(err)
			}
			o := c.opts
			o.Candidates = candidates
			if o.Select == choose.Auto && o.Folds == 0 {
				o.Select = choose.GCV
			}
			if o.Method != ridge.OneShot && o.Folds == 0 && o.Size == 0 {
				o.Method = ridge.Exact
			}
			want, err := fdridge.Fit(t.Context(), alone, o)
			if err != nil {
				t.Fatal(name, err)
			}
			g := want.Choice.Gamma()
			if s.GammaOf(j) != g || found.Each.Gammas[j] != g || (found.Each.Excess[j] == 0) != want.Choice.Certain {
				t.Errorf(
					"%s: target %d: γ = %v with excess %v, alone %v, %v",
					name,
					j,
					s.GammaOf(j),
					found.Each.Excess[j],
					g,
					want.Choice.Certain,
				)
			}
			w := &want.Solutions[0].Targets[0]
			far := s.Targets[j].ErrorBound + w.ErrorBound
			for i, v := range w.Coef {
				if !(math.Abs(s.Targets[j].Coef[i]-v) <= far*(1+1e-9)) {
					t.Errorf(
						"%s: target %d: coefficient %d is %v, alone %v, bound %v",
						name,
						j,
						i,
						s.Targets[j].Coef[i],
						v,
						far,
					)
				}
			}
		}
		opts.Candidates, opts.Select, opts.Folds, opts.Gammas = nil, choose.Auto, 0, []float64{2, 1, 7}
		given, err := fdridge.Fit(t.Context(), src, opts)
		if err != nil || given.Each != nil || !slices.Equal(given.Solutions[0].Gammas, opts.Gammas) {
			t.Fatalf("%s: given γ: %v", name, err)
		}
	}
}

// TestPerTargetOptions: options that contradict a γ for each target are an error.
func TestPerTargetOptions(t *testing.T) {
	src, err := dataset.FromDense(
		6,
		2,
		2,
		[]float64{1, 2, 3, 5, 8, 1, 4, 4, 2, 1, 0, 7},
		[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13},
	)
	if err != nil {
		t.Fatal(err)
	}
	for name, opts := range map[string]fdridge.Options{
		"one γ":       {Gammas: []float64{1}},
		"three γ":     {Gammas: []float64{1, 2, 3}},
		"an accuracy": {Select: choose.Accuracy},
	} {
		opts.PerTarget = true
		var contradiction *fdridge.OptionError
		if _, err := fdridge.Fit(t.Context(), src, opts); !errors.As(err, &contradiction) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPerTargetBands: the penalties of bands are chosen by the scores of all targets together, then γ for each target.
func TestPerTargetBands(t *testing.T) {
	const n, d = 80, 6
	r := rand.New(rand.NewPCG(2, 3))
	x, y := make([]float64, n*d), make([]float64, 2*n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	for i := range n {
		y[2*i], y[2*i+1] = x[i*d]+x[i*d+1]+0.1*r.NormFloat64(), x[i*d]+3*r.NormFloat64()
	}
	src, err := dataset.FromDense(n, d, 2, x, y)
	if err != nil {
		t.Fatal(err)
	}
	bands := []choose.Band{{Columns: []int{0, 1}}, {Columns: []int{2, 3, 4, 5}}}
	found, err := fdridge.Fit(t.Context(), src, fdridge.Options{PerTarget: true, Bands: bands})
	if err != nil {
		t.Fatal(err)
	}
	again, err := fdridge.Fit(
		t.Context(),
		src,
		fdridge.Options{PerTarget: true, Bands: found.Bands.Bands, Gammas: found.Each.Gammas},
	)
	if err != nil {
		t.Fatal(err)
	}
	if g := found.Each.Gammas; !(g[0] < g[1]) || found.Bands.Bands[1].Penalty <= found.Bands.Bands[0].Penalty {
		t.Errorf("γ %v, bands %+v", g, found.Bands.Bands)
	}
	for j, o := range found.Solutions[0].Targets {
		for i, v := range again.Solutions[0].Targets[j].Coef {
			if !(math.Abs(o.Coef[i]-v) <= 1e-10) {
				t.Errorf("target %d: %v, with the chosen penalties given %v", j, o.Coef[i], v)
			}
		}
	}
}

// TestBlocksOfTargets: targets that do not fit together have the γ and the coefficients of one fit.
func TestBlocksOfTargets(t *testing.T) {
	const n, d, targets = 60, 40, 300
	r := rand.New(rand.NewPCG(21, 3))
	x, y := make([]float64, n*d), make([]float64, n*targets)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	for i := range y {
		y[i] = x[i/targets*d]*float64(i%targets%2) + r.NormFloat64()
	}
	src, err := dataset.FromDense(n, d, targets, x, y)
	if err != nil {
		t.Fatal(err)
	}
	given := make([]float64, targets)
	for j := range given {
		given[j] = float64(1 + j)
	}
	for name, opts := range map[string]fdridge.Options{
		"GCV":                      {},
		"leave-one-out":            {Select: choose.LOO},
		"folds":                    {Folds: 3},
		"an unreachable tolerance": {Tol: 1e-19, MaxPasses: 1},
		"given":                    {Gammas: given},
	} {
		opts.PerTarget = true
		whole, err := fdridge.Fit(t.Context(), src, opts)
		if short := new(ridge.NotConvergedError); err != nil && !errors.As(err, &short) {
			t.Fatal(name, err)
		}
		opts.MaxBytes = 8 * 8 * 100 * 5 * d // for 100 targets by GCV
		if opts.Folds != 0 {
			opts.MaxBytes = 1 << 23
		}
		var spectra []*fd.Spectrum
		opts.Summarized = func(sum *ridge.Summary) error {
			spec, err := sum.Spectrum()
			spectra = append(spectra, spec)
			return err
		}
		parts, again := fdridge.Fit(t.Context(), src, opts)
		if (err == nil) != (again == nil) {
			t.Fatalf("%s: %v, whole %v", name, again, err)
		}
		if parts.Passes <= whole.Passes || len(parts.Solutions) != 1 || parts.Status != whole.Status {
			t.Errorf(
				"%s: %d passes, whole %d; status %v, whole %v",
				name,
				parts.Passes,
				whole.Passes,
				parts.Status,
				whole.Status,
			)
		}
		if len(spectra) < 3 || len(slices.Compact(spectra)) != 1 {
			t.Errorf("%s: %d blocks do not share the spectrum", name, len(spectra))
		}
		a, b := whole.Solutions[0], parts.Solutions[0]
		if !slices.Equal(a.Gammas, b.Gammas) || a.Gamma != b.Gamma {
			t.Errorf("%s: other γ than the whole", name)
		}
		c, e := whole.Each, parts.Each
		if c != nil && (!slices.Equal(c.Gammas, e.Gammas) || c.AtEnd != e.AtEnd || len(e.Excess) != targets) {
			t.Errorf("%s: another choice than of the whole", name)
		}
		for j := range a.Targets {
			far := a.Targets[j].ErrorBound + b.Targets[j].ErrorBound
			for i, v := range a.Targets[j].Coef {
				if !(math.Abs(v-b.Targets[j].Coef[i]) <= far*(1+1e-9)) {
					t.Fatalf("%s: target %d: %v, whole %v", name, j, b.Targets[j].Coef[i], v)
				}
			}
		}
	}
	for _, ends := range [][2]int{{-1, 2}, {2, 2}, {0, targets + 1}} {
		if _, err := dataset.Targets(src, ends[0], ends[1]); !errors.Is(err, dataset.ErrShape) {
			t.Errorf("targets %v: %v", ends, err)
		}
	}
}

// TestBlock: the coefficients that Block receives predict the same bits as the coefficients of a fit that keeps all of
// them. The result has the certificates of all targets, and no coefficients.
func TestBlock(t *testing.T) {
	const n, d, targets = 300, 2000, 600
	r := rand.New(rand.NewPCG(36, 2))
	normal := func(n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = r.NormFloat64()
		}
		return out
	}
	src, err := dataset.FromDense(n, d, targets, normal(n*d), normal(n*targets))
	if err != nil {
		t.Fatal(err)
	}
	rows := mat.NewDense(20, d, normal(20*d))
	predict := func(s *ridge.Solution) *mat.Dense {
		t.Helper()
		m, err := model.New(model.Preparation{}, []*ridge.Solution{s}, model.Details{Intercept: true})
		if err != nil {
			t.Fatal(err)
		}
		out, err := m.PredictMatrix(rows)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	opts := fdridge.Options{PerTarget: true, MaxBytes: 8 * 8 * 100 * 5 * d} // for 100 targets
	whole, err := fdridge.Fit(t.Context(), src, opts)
	if err != nil {
		t.Fatal(err)
	}
	want, next := predict(whole.Solutions[0]), 0
	opts.Block = func(first int, s *ridge.Solution) error {
		if k := len(s.Targets); first != next || k > 100 {
			t.Errorf("a block of %d targets from %d, want from %d", k, first, next)
		} else {
			next += k
			if got := predict(s); !mat.Equal(got, want.Slice(0, 20, first, next)) {
				t.Errorf("targets %d to %d: other predictions", first, next)
			}
		}
		return nil
	}
	found, err := fdridge.Fit(t.Context(), src, opts)
	if err != nil || next != targets || found.Err() != nil || !reflect.DeepEqual(found.Each, whole.Each) {
		t.Fatalf("%d targets, %v, or another choice", next, err)
	}
	for j, o := range found.Solutions[0].Targets {
		if o.Coef != nil || o.Certificate != whole.Solutions[0].Targets[j].Certificate {
			t.Fatalf("target %d has %d coefficients, or another certificate", j, len(o.Coef))
		}
	}
	if _, err := model.New(
		model.Preparation{}, found.Solutions, model.Details{Intercept: true},
	); !errors.Is(err, model.ErrShape) {
		t.Errorf("a model without coefficients: %v", err)
	}
	enough := errors.New("enough")
	opts.Block = func(int, *ridge.Solution) error { return enough }
	if found, err := fdridge.Fit(t.Context(), src, opts); found != nil || !errors.Is(err, enough) {
		t.Errorf("an error of Block gives %v, %v", found, err)
	}
	if _, err := fdridge.FitSummary(t.Context(), src, whole.Summary, opts); !errors.Is(err, ridge.ErrInput) {
		t.Errorf("a summary: %v", err)
	}
	var seen []float64
	opts.Block = func(first int, s *ridge.Solution) error {
		if first != 0 || len(s.Targets) != targets {
			t.Errorf("without PerTarget, a block has %d targets from %d", len(s.Targets), first)
		}
		seen = append(seen, s.Gamma)
		return nil
	}
	opts.PerTarget, opts.Gammas, opts.MaxBytes = false, []float64{3, 5}, 0
	found, err = fdridge.Fit(t.Context(), src, opts)
	if err != nil || !slices.Equal(seen, opts.Gammas) || found.Solutions[1].Targets[0].Coef != nil {
		t.Errorf("without PerTarget, Block got %v, want %v; %v", seen, opts.Gammas, err)
	}
}
