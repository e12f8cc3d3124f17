package fdridge_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// TestFitBands: Fit chooses the same penalties as a summary does, and solves with them. If the sketch leaves the choice
// open, Fit spends one more pass. The solution agrees with an exact fit with the chosen penalties.
func TestFitBands(t *testing.T) {
	const d = 16
	s := testkit.PenalisedProblem(300, d)
	bands := []choose.Band{{Columns: testkit.UpTo(0, d/4)}, {Columns: testkit.UpTo(d/4, d)}}
	for _, opts := range []fdridge.Options{
		{NoIntercept: true, Size: d}, {NoIntercept: true, Size: 4, Summarize: storing(fd.StoreRows)},
		{NoIntercept: true, Size: d, Method: ridge.OneShot},
	} {
		opts.Bands, opts.NoIntercept = bands, false
		r, err := fdridge.Fit(context.Background(), s, opts)
		if err != nil {
			t.Fatal(err)
		}
		if r.Bands == nil || r.Bands.Choice.Index < 0 || !(r.Bands.Bands[1].Penalty >= 10) {
			t.Fatalf("%+v", r.Bands)
		}
		if spent := opts.Size < d; (r.Bands.Passes == 1) != spent || r.Bands.Whole != spent ||
			(len(r.Bands.Spent) > 0) != spent {
			t.Errorf("size %d: %d passes, %v", opts.Size, r.Bands.Passes, r.Bands.Spent)
		}
		p, err := choose.Penalties(d, nil, r.Bands.Bands)
		if err != nil || !slices.Equal(p, r.Best().Penalty) || !slices.Equal(p, r.Summary.Penalty()) {
			t.Errorf("%v: the solution has %v, the summary %v", p, r.Best().Penalty, r.Summary.Penalty())
		}
		want, err := fdridge.Fit(
			context.Background(),
			s,
			fdridge.Options{Gammas: []float64{r.Best().Gamma}, Penalty: p, Method: ridge.Exact},
		)
		if err != nil {
			t.Fatal(err)
		}
		for j, o := range r.Best().Targets {
			off := 0.0
			for i, z := range o.Scaled {
				off = math.Hypot(off, z-want.Best().Targets[j].Scaled[i])
			}
			if !(off <= o.ErrorBound+want.Best().Targets[j].ErrorBound) {
				t.Errorf("target %d: %v from the exact solution, bound %v", j, off, o.ErrorBound)
			}
		}
		if r.Method != ridge.OneShot && r.Err() != nil {
			t.Error(r.Err())
		}
	}
	given := slices.Clone(bands)
	given[0].Penalty, given[1].Penalty = 2, 3
	r, err := fdridge.Fit(
		context.Background(),
		s,
		fdridge.Options{NoIntercept: true, Gammas: []float64{1}, Bands: given},
	)
	if err != nil || r.Bands == nil || r.Bands.Choice.Index != -1 || r.Best().Penalty[0] != 2 ||
		r.Best().Penalty[d-1] != 3 {
		t.Errorf("bands that are given: %+v, %v", r, err)
	}
}

func TestBandsRefuse(t *testing.T) {
	s := testkit.PenalisedProblem(60, 4)
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 4})
	for name, opts := range map[string]fdridge.Options{
		"out of range": {NoIntercept: true, Bands: []choose.Band{{Columns: []int{4}}}},
		"too large": {
			NoIntercept: true,
			Penalty:     []float64{1e200, 1, 1, 1},
			Bands:       []choose.Band{{Columns: []int{0}, Penalty: 1e200}},
		},
		"no columns": {NoIntercept: true, Bands: []choose.Band{{}}},
	} {
		if r, err := fdridge.Fit(context.Background(), s, opts); r != nil || !errors.Is(err, ridge.ErrInput) {
			t.Errorf("Fit, %s: %v", name, err)
		}
		if r, err := fdridge.FitSummary(context.Background(), s, sum, opts); r != nil ||
			!errors.Is(err, ridge.ErrInput) {
			t.Errorf("FitSummary, %s: %v", name, err)
		}
	}
}
