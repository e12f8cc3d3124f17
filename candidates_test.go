package fdridge_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// TestBlockCandidates: with one target a block, all targets are compared at the same candidates as in one block. No
// listed candidate is better than a γ that is called proved. The columns have different units, so that small γ are
// candidates.
func TestBlockCandidates(t *testing.T) {
	const n, d, targets = 40, 3, 2
	missed := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 44))
		x, y := make([]float64, n*d), make([]float64, n*targets)
		for i := range n {
			for j := range d {
				x[i*d+j] = r.NormFloat64() * math.Pow(10, -2.5*float64(j))
			}
			y[i*targets] = x[i*d] + 1e-5*r.NormFloat64() // nearly exact, so that round-off hides its scores at small γ
			y[i*targets+1] = r.NormFloat64() + 3e5*x[i*d+2]
			if seed%2 == 1 {
				y[i*targets], y[i*targets+1] = y[i*targets+1], y[i*targets]
			}
		}
		src, err := dataset.FromDense(n, d, targets, x, y)
		if err != nil {
			t.Fatal(err)
		}
		for name, opts := range map[string]fdridge.Options{"GCV": {}, "leave-one-out": {Select: choose.LOO}, "small sketch": {Size: 2}} {
			name = fmt.Sprint(name, ", seed ", seed)
			opts.PerTarget = true
			whole := fitAnyway(t, src, opts)
			opts.MaxBytes = 960
			parts := fitAnyway(t, src, opts)
			if !slices.Equal(whole.Each.Candidates, parts.Each.Candidates) ||
				!slices.Equal(whole.Each.Gammas, parts.Each.Gammas) {
				t.Fatalf(
					"%s: %d candidates, γ %v; in one block %d, %v",
					name,
					len(parts.Each.Candidates),
					parts.Each.Gammas,
					len(whole.Each.Candidates),
					whole.Each.Gammas,
				)
			}
			if opts.Select != choose.Auto {
				continue
			}
			exact := fitAnyway(t, src, fdridge.Options{Method: ridge.QR, Gammas: parts.Each.Candidates})
			for j, g := range parts.Each.Gammas {
				at := slices.Index(parts.Each.Candidates, g)
				if parts.Each.Excess[j] > 0 {
					missed++
					continue
				}
				for k, other := range exact.Solutions {
					if k != at && other.Targets[j].GCV.Hi < exact.Solutions[at].Targets[j].GCV.Lo {
						t.Errorf(
							"%s: target %d: γ = %v is called proved, %v; %v has %v",
							name,
							j,
							g,
							exact.Solutions[at].Targets[j].GCV,
							other.Gamma,
							other.Targets[j].GCV,
						)
					}
				}
			}
		}
	}
	if missed > 120 {
		t.Errorf("%d choices are not proved, more than those of the nearly exact targets", missed)
	}
}

// TestFoldCandidates: the default candidates of cross-validation for each target do not depend on the targets. The γ
// of the first target lies beyond the grid, so that a grid for this target alone would be extended.
func TestFoldCandidates(t *testing.T) {
	const n, d = 60, 3
	r := rand.New(rand.NewPCG(44, 2))
	x, noise, exact := make([]float64, n*d), make([]float64, n), make([]float64, n)
	for i := range n {
		for j := range d {
			x[i*d+j] = r.NormFloat64()
		}
		exact[i], noise[i] = x[i*d]-x[i*d+1]+1e-9*r.NormFloat64(), r.NormFloat64()
	}
	var lists [2][]float64
	for k, y := range [][]float64{exact, noise} {
		src, err := dataset.FromDense(n, d, 1, x, y)
		if err != nil {
			t.Fatal(err)
		}
		lists[k] = fitAnyway(t, src, fdridge.Options{PerTarget: true, Folds: 4}).Each.Candidates
	}
	if len(lists[0]) != 25 || !slices.Equal(lists[0], lists[1]) {
		t.Errorf("candidates %v and %v", lists[0], lists[1])
	}
}

// fitAnyway returns the result, even if the tolerance is missed.
func fitAnyway(t *testing.T, src dataset.Source, opts fdridge.Options) *fdridge.Result {
	t.Helper()
	found, err := fdridge.Fit(t.Context(), src, opts)
	if short := new(ridge.NotConvergedError); err != nil && !errors.As(err, &short) {
		t.Fatal(err)
	}
	return found
}
