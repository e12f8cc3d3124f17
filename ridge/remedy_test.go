package ridge_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// TestRemediesHelp: what is advised where a tolerance was missed is followed, and brings the run
// nearer to it: what names a number, and a direct solution, all the way.
func TestRemediesHelp(t *testing.T) {
	apart, standard := columnsApart(t, 300, 14, 1), housingStandardised(t)
	seen := map[ridge.RemedyKind]bool{}
	for name, c := range map[string]struct {
		src  dataset.Source
		opts ridge.Options
		want []ridge.RemedyKind
	}{
		"round-off":               {apart, ridge.Options{Method: "galerkin", Gammas: []float64{1e-12}, Size: 4, Tol: 1e-14}, []ridge.RemedyKind{ridge.FactorDirectly, ridge.ScaleColumns, ridge.RaiseGamma, ridge.RaiseTol}},
		"too few passes":          {standard, ridge.Options{Method: "cg", Gammas: []float64{0.1}, Size: 2, MaxPasses: 3}, []ridge.RemedyKind{ridge.FactorDirectly, ridge.AllowPasses, ridge.EnlargeSketch}},
		"too few of newton":       {standard, ridge.Options{Method: "newton", Gammas: []float64{2e4}, Size: 2, MaxPasses: 3, Tol: 1e-6}, []ridge.RemedyKind{ridge.FactorDirectly, ridge.AllowPasses, ridge.EnlargeSketch, ridge.RaiseTol}},
		"diverged":                {standard, ridge.Options{Method: "newton", Gammas: []float64{1e-3}, Size: 2, PlainFD: true}, []ridge.RemedyKind{ridge.FactorDirectly, ridge.ChangeToCG}},
		"no memory for d²":        {standard, ridge.Options{Method: "newton", Gammas: []float64{1e-3}, Size: 2, PlainFD: true, MaxBytes: 1200}, []ridge.RemedyKind{ridge.ChangeToCG}},
		"a size that suffices":    {standard, ridge.Options{Method: "cg", Gammas: []float64{0.1}, Size: 4, MaxPasses: 1, Tol: 1e-15}, []ridge.RemedyKind{ridge.FactorDirectly, ridge.AllowPasses, ridge.RaiseTol}},
		"standardised, round-off": {standard, ridge.Options{Method: "galerkin", Gammas: []float64{1e-12}, Size: 2, Tol: 1e-14}, []ridge.RemedyKind{ridge.FactorDirectly, ridge.RaiseGamma, ridge.RaiseTol}},
	} {
		t.Run(name, func(t *testing.T) {
			c.opts.Intercept = true
			short, err := ridge.Fit(t.Context(), c.src, c.opts)
			if err == nil || short == nil {
				t.Fatalf("it reaches the tolerance: %v", err)
			}
			remedies := must(short.Remedies())(t)
			var kinds []ridge.RemedyKind
			for _, r := range remedies {
				kinds = append(kinds, r.Kind)
				seen[r.Kind] = true
				followRemedy(t, c.src, c.opts, short, r)
			}
			if !slices.Equal(kinds, c.want) {
				t.Errorf("%v: advised are %v", short.Status, remedies)
			}
		})
	}
	if r, err := (&ridge.Result{}).Remedies(); r != nil || err != nil {
		t.Errorf("of no run: %v, %v", r, err)
	}
	for kind := ridge.FactorDirectly; kind <= ridge.RaiseTol; kind++ {
		if !seen[kind] {
			t.Errorf("nothing was advised %v", ridge.Remedy{Kind: kind})
		}
	}
}

// TestRemediesOfNoHelp: what can't bring a run nearer to its tolerance isn't advised: columns of like size
// where two that are all but the same leave more open than their size does; a larger sketch where AᵀA
// itself is kept; more passes, or fewer with a larger sketch, where round-off ends them before.
func TestRemediesOfNoHelp(t *testing.T) {
	alike, apart := make([]float64, 0, 600), make([]float64, 0, 12*40)
	var y, z []float64
	rng := rand.New(rand.NewPCG(9, 10))
	for range 200 {
		u, v, w := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		alike, y = append(alike, u, 20*(u+1e-7*v), w), append(y, u-w+v)
	}
	for range 12 {
		for j := range 40 {
			apart = append(apart, math.Ldexp(rng.NormFloat64(), j))
		}
		z = append(z, rng.NormFloat64())
	}
	for name, c := range map[string]struct {
		src  dataset.Source
		opts ridge.Options
		not  []ridge.RemedyKind
		want ridge.Status
	}{
		"collinear":     {must(dataset.FromDense(200, 3, 1, alike, y))(t), ridge.Options{Method: "tridiagonal", Gammas: []float64{1e-12}, Tol: 1e-13}, []ridge.RemedyKind{ridge.ScaleColumns}, ridge.RoundOff},
		"AᵀA is kept":   {housingStandardised(t), ridge.Options{Method: "cg", Gammas: []float64{1}, Size: 4, MaxPasses: 1, Tol: 2e-16}, []ridge.RemedyKind{ridge.EnlargeSketch}, ridge.PassLimit},
		"below γ's end": {must(dataset.FromDense(12, 40, 1, apart, z))(t), ridge.Options{Method: "galerkin", Gammas: []float64{1}, Size: 4, MaxPasses: 2}, []ridge.RemedyKind{ridge.AllowPasses, ridge.EnlargeSketch}, ridge.PassLimit},
	} {
		t.Run(name, func(t *testing.T) {
			c.opts.Intercept = true
			r, _ := ridge.Fit(t.Context(), c.src, c.opts)
			if r == nil || r.Status != c.want {
				t.Fatalf("%+v", r)
			}
			for _, a := range must(r.Remedies())(t) {
				if slices.Contains(c.not, a.Kind) {
					t.Errorf("certified to %g, columns %.3g apart: advised to %v", r.Solutions[0].Targets[0].RelativeErrorBound, r.ColumnSpread, a)
				}
			}
		})
	}
}

// TestRemedyOfTolerance: a tolerance that is advised where round-off ended a run of several systems is
// reached by another one, and is no more than two and a bit of what was certified.
func TestRemedyOfTolerance(t *testing.T) {
	src := columnsApart(t, 300, 14, 1)
	opts := ridge.Options{Method: "galerkin", Gammas: []float64{1e-12, 0.03}, Size: 4, Tol: 1e-15, Intercept: true}
	short, _ := ridge.Fit(t.Context(), src, opts)
	if short == nil || short.Status != ridge.RoundOff {
		t.Fatalf("%+v", short)
	}
	worst := short.Solutions[0].Targets[0].RelativeErrorBound
	for _, r := range must(short.Remedies())(t) {
		if r.Kind == ridge.RaiseTol {
			if !(r.Value >= 2*worst && r.Value <= 2.3*worst) {
				t.Errorf("%g is certified, %g advised", worst, r.Value)
			}
			followRemedy(t, src, opts, short, r)
			return
		}
	}
	t.Error("no tolerance was advised")
}

// followRemedy runs again as is advised.
func followRemedy(t *testing.T, src dataset.Source, opts ridge.Options, short *ridge.Result, r ridge.Remedy) {
	t.Helper()
	before := short.Solutions[0].Targets[0].RelativeErrorBound
	switch r.Kind {
	case ridge.FactorDirectly:
		opts.Method, opts.PlainFD = "exact", false
	case ridge.ScaleColumns:
		scaled, _, err := dataset.Standardize(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		src = scaled
	case ridge.AllowPasses:
		opts.MaxPasses = int(r.Value)
	case ridge.EnlargeSketch:
		opts.Size = int(r.Value)
	case ridge.ChangeToCG:
		opts.Method = "cg"
	case ridge.RaiseGamma:
		opts.Gammas = []float64{r.Value}
	case ridge.RaiseTol:
		opts.Tol = r.Value
	}
	found, err := ridge.Fit(t.Context(), src, opts)
	if found == nil {
		t.Fatalf("%v: %v", r, err)
	}
	after := found.Solutions[0].Targets[0].RelativeErrorBound
	if err != nil && !(r.Kind == ridge.ScaleColumns && after < before/2) {
		t.Errorf("%v: certified to %g, before to %g: %v", r, after, before, err)
	}
	if math.IsNaN(after) {
		t.Errorf("%v: nothing", r)
	}
}
