package model_test

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/internal/conformal"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// jackknifed returns a predictor with jackknife+ intervals.
func (p *noisy) jackknifed(t *testing.T, m *model.Model, level float64) *model.Predictor {
	t.Helper()
	of, err := m.Jackknife(t.Context(), sourceOf(t, p.x, p.y), level)
	if err != nil {
		t.Fatal(err)
	}
	return predictorOf(t, m, model.JackknifeIntervals{Jackknife: of})
}

// without returns the problem without row i of the fit.
func (p *noisy) without(i int) *noisy {
	out := *p
	out.x, out.y = slices.Delete(slices.Clone(p.x), i, i+1), slices.Delete(slices.Clone(p.y), i, i+1)
	return &out
}

// TestJackknifeHoldsExact: intervals of a model contain the jackknife+ intervals of n refits in 512 bits, with columns
// scaled as in the fit and far from zero. Intervals of a single row are the same.
func TestJackknifeHoldsExact(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 52))
		p := newNoisy(r, 10+r.IntN(10), 3, 1+r.IntN(12), 1+r.IntN(2))
		p.scales = p.scales && p.intercept
		m := p.fit(t, false)
		level := []float64{0.5, 0.8, 0.9}[r.IntN(3)]
		of := p.jackknifed(t, m, level)
		if of.Basis() != model.ByJackknife {
			t.Fatalf("intervals by %q", of.Basis())
		}
		n := len(p.x)
		low, high := make([][]*big.Float, 3*2), make([][]*big.Float, 3*2) // for each new row and target
		for i := range p.x {
			s, scaled := p.without(i).exact(t, m)
			for j := range p.y[0] {
				e := new(big.Float).Sub(refbig.Float(p.y[i][j]), predictExactly(s, scaled(p.x[i]), j))
				e.Abs(e)
				for a, row := range p.fresh {
					at := predictExactly(s, scaled(row), j)
					low[2*a+j] = append(low[2*a+j], new(big.Float).Sub(at, e))
					high[2*a+j] = append(high[2*a+j], new(big.Float).Add(at, e))
				}
			}
		}
		k := int(conformal.Rank(level, int64(n)))
		for one, err := range of.Predict(t.Context(), sourceOf(t, p.fresh, p.freshY)) {
			if err != nil {
				t.Fatal(err)
			}
			yhat, within := make([]float64, len(one.Y)), make([]ridge.Interval, len(one.Y))
			if err := of.PredictRow(yhat, within, p.fresh[one.Row]); err != nil {
				t.Fatal(err)
			}
			for j, v := range one.Intervals {
				all := 2*int(one.Row) + j
				slices.SortFunc(low[all], (*big.Float).Cmp)
				slices.SortFunc(high[all], (*big.Float).Cmp)
				lo, hi := low[all][n-k], high[all][k-1]
				for _, v := range []ridge.Interval{v, within[j]} {
					if !(refbig.Float(v.Lo).Cmp(lo) <= 0 && refbig.Float(v.Hi).Cmp(hi) >= 0) {
						t.Fatalf("seed %d, row %d: %v does not contain [%.17g, %.17g]", seed, one.Row, v, lo, hi)
					}
				}
			}
		}
	}
}

// TestJackknifeCoverage: intervals contain new observations as often as they promise, at least 2·level − 1, and near
// the level.
func TestJackknifeCoverage(t *testing.T) {
	const level, runs, fresh = 0.8, 200, 20
	hits := 0.0
	for seed := range uint64(runs) {
		p := newNoisy(rand.New(rand.NewPCG(seed, 53)), 30, fresh, 3, 1)
		hits += p.hits(t, p.jackknifed(t, p.fit(t, false), level))
	}
	if mean := hits / (runs * fresh); !(mean >= level-0.03 && mean <= level+0.06) {
		t.Errorf("coverage %.4f", mean)
	}
}

// TestJackknifeRefused: what has no jackknife+ intervals is an error.
func TestJackknifeRefused(t *testing.T) {
	p := newNoisy(rand.New(rand.NewPCG(3, 53)), 18, 2, 2, 1)
	m := p.fit(t, false)
	src := sourceOf(t, p.x, p.y)
	_, err := m.Jackknife(t.Context(), src, 0.95)
	if e, ok := errors.AsType[*model.CoverageRowsError](err); !ok || e.Needed != 19 || e.Rows != 18 {
		t.Error(err)
	}
	for _, level := range []float64{0, 1} {
		if _, err := m.Jackknife(t.Context(), src, level); !errors.Is(err, model.ErrInput) {
			t.Errorf("level %v: %v", level, err)
		}
	}
	for what, of := range map[string]*model.Model{
		"several gammas": {Fits: append(slices.Clone(m.Fits), m.Fits[0]), Features: m.Features},
		"classes":        {Fits: m.Fits, Classes: []string{"a", "b"}},
	} {
		if _, err := of.Jackknife(t.Context(), src, 0.5); !errors.Is(err, model.ErrInput) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := m.Jackknife(t.Context(), sourceOf(t, p.y, p.x), 0.5); !errors.Is(err, model.ErrShape) {
		t.Errorf("other dimensions: %v", err)
	}
}
