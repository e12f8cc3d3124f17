package ridge_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
)

// TestSpectrumCache: summaries share a spectrum only if they have the same rows. Other targets make no difference. Each
// shared spectrum equals the spectrum of the summary itself.
func TestSpectrumCache(t *testing.T) {
	for name, c := range map[string]struct {
		n, d int
		cfg  ridge.SummaryConfig
	}{
		"all rows":     {6, 20, ridge.SummaryConfig{Size: 6, Intercept: true, Lanes: 1}},
		"AᵀA":          {40, 5, ridge.SummaryConfig{Size: 8, Lanes: 1}},
		"with shrinks": {60, 20, ridge.SummaryConfig{Size: 4, Intercept: true, Lanes: 2}},
	} {
		r := rand.New(rand.NewPCG(5, 9))
		x, y := make([]float64, c.n*c.d), make([]float64, c.n*3)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		for i := range y {
			y[i] = r.NormFloat64()
		}
		var cache ridge.SpectrumCache
		share := func(x []float64, lo, hi int) *fd.Spectrum {
			src, err := dataset.FromDense(c.n, c.d, 3, x, y)
			if err == nil {
				src, err = dataset.Targets(src, lo, hi)
			}
			if err != nil {
				t.Fatal(err)
			}
			var own, shared *fd.Spectrum
			for _, to := range []**fd.Spectrum{&own, &shared} {
				sum, err := ridge.Summarize(t.Context(), src, c.cfg, nil)
				if err == nil && to == &shared {
					err = cache.Share(sum)
				}
				if err == nil {
					*to, err = sum.Spectrum()
				}
				if err != nil {
					t.Fatal(name, err)
				}
			}
			if !slices.Equal(own.V, shared.V) || !slices.Equal(own.Sigma2, shared.Sigma2) ||
				own.Bound != shared.Bound ||
				own.Skew != shared.Skew {
				t.Errorf("%s: the shared spectrum differs", name)
			}
			return shared
		}
		first := share(x, 0, 2)
		if share(x, 2, 3) != first {
			t.Errorf("%s: the spectrum is not shared", name)
		}
		x = slices.Clone(x)
		x[c.d+1] += 0x1p-40
		if share(x, 0, 2) == first {
			t.Errorf("%s: other rows share the spectrum", name)
		}
	}
	if err := new(ridge.SpectrumCache).Share(nil); err == nil || !errors.Is(err, ridge.ErrInput) {
		t.Error(err)
	}
}
