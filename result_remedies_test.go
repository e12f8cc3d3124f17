package fdridge_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
)

// TestRemediesHelp: what is advised where a tolerance was missed is followed, and brings the run
// nearer to it: what names a number, and a direct solution, all the way.
func TestRemediesHelp(t *testing.T) {
	apart, standard := columnsApart(t, 300, 14, 1), housingStandardised(t)
	seen := map[plan.RemedyKind]bool{}
	for name, c := range map[string]struct {
		src  dataset.Source
		opts fdridge.Options
		want []plan.RemedyKind
	}{
		"round-off": {
			apart, fdridge.Options{NoIntercept: true, Method: ridge.Galerkin, Gammas: []float64{1e-12}, Size: 4, Tol: 1e-14},
			[]plan.RemedyKind{plan.FactorDirectly, plan.ScaleColumns, plan.RaiseGamma, plan.RaiseTol},
		},
		"too few passes": {
			standard, fdridge.Options{NoIntercept: true, Method: ridge.CG, Gammas: []float64{0.1}, Size: 2, MaxPasses: 3},
			[]plan.RemedyKind{plan.FactorDirectly, plan.AllowPasses, plan.EnlargeSketch},
		},
		"too few of newton": {
			standard,
			fdridge.Options{NoIntercept: true, Method: ridge.Newton, Gammas: []float64{2e4}, Size: 2, MaxPasses: 3, Tol: 1e-6},
			[]plan.RemedyKind{plan.FactorDirectly, plan.AllowPasses, plan.EnlargeSketch, plan.RaiseTol},
		},
		"nothing is proved": {
			standard, fdridge.Options{NoIntercept: true, Method: ridge.OneShot, Gammas: []float64{1e-3}, Size: 2},
			[]plan.RemedyKind{plan.FactorDirectly, plan.ChangeToCG},
		},
		"no memory for d²": {
			standard,
			fdridge.Options{NoIntercept: true, Method: ridge.OneShot, Gammas: []float64{1e-3}, Size: 2, MaxBytes: 1200},
			[]plan.RemedyKind{plan.ChangeToCG},
		},
		"a size that suffices": {
			standard,
			fdridge.Options{NoIntercept: true, Method: ridge.CG, Gammas: []float64{0.1}, Size: 4, MaxPasses: 1, Tol: 1e-15},
			[]plan.RemedyKind{plan.FactorDirectly, plan.AllowPasses, plan.RaiseTol},
		},
		"standardised, round-off": {
			standard, fdridge.Options{NoIntercept: true, Method: ridge.Galerkin, Gammas: []float64{1e-12}, Size: 2, Tol: 1e-14},
			[]plan.RemedyKind{plan.FactorDirectly, plan.RaiseGamma, plan.RaiseTol},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.opts.NoIntercept = false
			short, err := fdridge.Fit(t.Context(), c.src, c.opts)
			if err == nil || short == nil {
				t.Fatalf("it reaches the tolerance: %v", err)
			}
			remedies := testkit.Must(short.Remedies())(t)
			var kinds []plan.RemedyKind
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
	if r, err := (&fdridge.Result{}).Remedies(); r != nil || err != nil {
		t.Errorf("of no run: %v, %v", r, err)
	}
	for kind := plan.FactorDirectly; kind <= plan.RaiseTol; kind++ {
		if !seen[kind] {
			t.Errorf("nothing was advised %v", plan.Remedy{Kind: kind})
		}
	}
}

// TestRemediesOfNoHelp: a remedy is not advised if it cannot bring a run nearer to its tolerance. Scaling columns does
// not help against two nearly equal columns, and a larger sketch does not help if AᵀA is stored. More passes, or a
// larger sketch, do not help if round-off ends the passes first.
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
		opts fdridge.Options
		not  []plan.RemedyKind
		want ridge.Status
	}{
		"collinear": {
			testkit.Must(dataset.FromDense(200, 3, 1, alike, y))(t),
			fdridge.Options{NoIntercept: true, Method: ridge.Tridiagonal, Gammas: []float64{1e-12}, Tol: 1e-13},
			[]plan.RemedyKind{plan.ScaleColumns}, ridge.RoundOff,
		},
		"AᵀA is kept": {
			housingStandardised(t),
			fdridge.Options{NoIntercept: true, Method: ridge.CG, Gammas: []float64{1}, Size: 4, MaxPasses: 1, Tol: 2e-16},
			[]plan.RemedyKind{plan.EnlargeSketch}, ridge.PassLimit,
		},
		"below γ's end": {
			testkit.Must(dataset.FromDense(12, 40, 1, apart, z))(t),
			fdridge.Options{NoIntercept: true, Method: ridge.Galerkin, Gammas: []float64{1}, Size: 4, MaxPasses: 2},
			[]plan.RemedyKind{plan.AllowPasses, plan.EnlargeSketch}, ridge.PassLimit,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.opts.NoIntercept = false
			r, _ := fdridge.Fit(t.Context(), c.src, c.opts)
			if r == nil || r.Status != c.want {
				t.Fatalf("%+v", r)
			}
			for _, a := range testkit.Must(r.Remedies())(t) {
				if slices.Contains(c.not, a.Kind) {
					t.Errorf(
						"certified to %g, columns %.3g apart: advised to %v",
						r.Solutions[0].Targets[0].RelativeErrorBound,
						r.ColumnSpread,
						a,
					)
				}
			}
		})
	}
}

// TestRemedyOfTolerance: if round-off ended a run of several systems, another run reaches the advised tolerance. The
// advised tolerance is between 2 and 2.3 times the certified error.
func TestRemedyOfTolerance(t *testing.T) {
	src := columnsApart(t, 300, 14, 1)
	opts := fdridge.Options{Method: ridge.Galerkin, Gammas: []float64{1e-12, 0.03}, Size: 4, Tol: 1e-15}
	short, _ := fdridge.Fit(t.Context(), src, opts)
	if short == nil || short.Status != ridge.RoundOff {
		t.Fatalf("%+v", short)
	}
	worst := short.Solutions[0].Targets[0].RelativeErrorBound
	for _, r := range testkit.Must(short.Remedies())(t) {
		if r.Kind == plan.RaiseTol {
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
func followRemedy(t *testing.T, src dataset.Source, opts fdridge.Options, short *fdridge.Result, r plan.Remedy) {
	t.Helper()
	before := short.Solutions[0].Targets[0].RelativeErrorBound
	switch r.Kind {
	case plan.FactorDirectly:
		opts.Method = ridge.Exact
	case plan.ScaleColumns:
		scaled, _, err := dataset.Standardize(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		src = scaled
	case plan.AllowPasses:
		opts.MaxPasses = int(r.Value)
	case plan.EnlargeSketch:
		opts.Size = int(r.Value)
	case plan.ChangeToCG:
		opts.Method = ridge.CG
	case plan.RaiseGamma:
		opts.Gammas = []float64{r.Value}
	case plan.RaiseTol:
		opts.Tol = r.Value
	}
	found, err := fdridge.Fit(t.Context(), src, opts)
	if found == nil {
		t.Fatalf("%v: %v", r, err)
	}
	after := found.Solutions[0].Targets[0].RelativeErrorBound
	if err != nil && !(r.Kind == plan.ScaleColumns && after < before/2) {
		t.Errorf("%v: certified to %g, before to %g: %v", r, after, before, err)
	}
	if math.IsNaN(after) {
		t.Errorf("%v: nothing", r)
	}
}
