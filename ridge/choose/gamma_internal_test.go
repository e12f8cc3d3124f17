package choose

import (
	"math"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/ridge"
)

// TestBeyond: a grid goes on by three powers of ten, as far as there are numbers.
func TestBeyond(t *testing.T) {
	for _, c := range []struct {
		grid []float64
		best int
		most int
	}{
		{[]float64{1, 10}, 1, 25},
		{[]float64{1, 10}, 0, 25},
		{[]float64{1, 2, 3}, 1, 0},
		{[]float64{1, 0x1p1020}, 1, 24},
		{[]float64{0x1p-1070, 1}, 0, 24},
		{[]float64{1, math.MaxFloat64}, 1, 0},
	} {
		got := gammasBeyond(c.grid, c.best, 25)
		if len(got) > c.most || c.most == 25 && len(got) != 25 || c.most == 24 && len(got) == 0 {
			t.Errorf("%v: %d γ", c.grid, len(got))
		}
		for _, g := range got {
			if !(g > 0) || math.IsInf(g, 0) {
				t.Errorf("%v: γ = %g", c.grid, g)
			}
		}
	}
}

// TestGridKeeps: γ that are hardly known are left out with all smaller ones, except the Keep largest.
func TestGridKeeps(t *testing.T) {
	for _, c := range []struct {
		widths []float64
		keep   int
		start  int
	}{
		{[]float64{0, 0, 0, 0}, 2, 0},
		{[]float64{0, 0.02, 0, 0}, 2, 2},
		{[]float64{0.02, 0.009, 0, 0}, 2, 1},
		{[]float64{0, 0, 0.02, 0.02}, 2, 0},
		{[]float64{0.02, 0, 0.02, 0}, 1, 3},
		{[]float64{0.02}, 2, 0},
	} {
		got := GammaGrid{
			Keep: c.keep,
		}.start(
			len(c.widths),
			func(i int) ridge.Interval { return ridge.Interval{Lo: 1, Hi: 1 + c.widths[i]} },
		)
		if got != c.start {
			t.Errorf("%+v: starts at %d", c, got)
		}
	}
	at := func(g float64) *ridge.Solution { return &ridge.Solution{Outcome: ridge.Outcome{Gamma: g}} }
	for top, want := range map[float64]float64{3: 3e6, 2e8: 3e6, 4e9: 3e8} {
		grid := AroundGCV(&GammaChoice{Path: []*ridge.Solution{at(3), at(top)}})
		n := len(grid.Gammas)
		if grid.Keep != 0 || grid.Gammas[2] != 3 || !slices.IsSorted(grid.Gammas) ||
			math.Abs(grid.Gammas[n-1]/want-1) > 1e-12 {
			t.Errorf("around γ = 3 below %g: %+v", top, grid)
		}
	}
}

// TestUnknownIsLeftOut: a smaller γ whose score is not known to 1 % is left out of a default grid. The chosen γ,
// larger γ and candidates that the caller gave stay.
func TestUnknownIsLeftOut(t *testing.T) {
	widths := []float64{0, 5, 0.005, 0.5, 5}
	find := func(gammas []float64) ([]Candidate, error) {
		var out []Candidate
		for _, g := range gammas {
			lo := 2.0
			if g == 4 {
				lo = 1
			}
			out = append(
				out,
				Candidate{
					&ridge.Solution{Outcome: ridge.Outcome{Gamma: g}},
					[]ridge.Interval{{Lo: lo, Hi: lo * (1 + widths[int(g)-1])}},
					[]float64{lo},
				},
			)
		}
		return out, nil
	}
	gammas := []float64{1, 2, 3, 4, 5}
	byDefault, err := among(GCV, nil, GammaGrid{Gammas: gammas}, find)
	if err != nil || byDefault.Gamma() != 4 || !slices.Equal(gammasOf(byDefault.Path), []float64{3, 4, 5}) ||
		!slices.Equal(byDefault.Unknown, []float64{1, 2}) {
		t.Errorf("%+v, %v", byDefault, err)
	}
	kept, err := among(GCV, nil, GammaGrid{Gammas: gammas, Keep: 4}, find)
	if err != nil || !slices.Equal(kept.Unknown, []float64(nil)) || len(kept.Path) != 5 {
		t.Errorf("%+v, %v", kept, err)
	}
	given, err := among(GCV, gammas, GammaGrid{}, find)
	if err != nil || len(given.Path) != 5 || len(given.Unknown) > 0 {
		t.Errorf("%+v, %v", given, err)
	}
}

// TestMerge: γ that were left out and are tried by another method take part in the choice.
func TestMerge(t *testing.T) {
	of := func(gammas, hi []float64) *GammaChoice {
		var all []Candidate
		for i, g := range gammas {
			all = append(
				all,
				Candidate{
					&ridge.Solution{Outcome: ridge.Outcome{Gamma: g}},
					[]ridge.Interval{{Lo: 1, Hi: hi[i]}},
					[]float64{1},
				},
			)
		}
		c, err := chooseCandidate(GCV, all)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := of([]float64{100, 1000}, []float64{2, 3})
	first.By, first.Unknown = LOO, []float64{0.5, 1, 10}
	if below := first.BelowChoice(); len(below) != 6 || math.Abs(below[0]/0.316-1) > 0.01 || below[5] != 100 {
		t.Errorf("below the choice: %v", below)
	}
	next, err := first.Merge(of([]float64{1, 10, 50}, []float64{7, 1.001, 1.5}), false)
	if err != nil || next.Gamma() != 10 || next.By != LOO ||
		!slices.Equal(gammasOf(next.Path), []float64{10, 50, 100, 1000}) ||
		!slices.Equal(next.Unknown, []float64{0.5, 1}) {
		t.Errorf("%+v, %v", next, err)
	}
	next, err = first.Merge(of([]float64{1, 10}, []float64{7, 1.001}), true)
	if err != nil || next.Gamma() != 10 || len(next.Path) != 4 || !slices.Equal(next.Unknown, []float64{0.5}) {
		t.Errorf("given: %+v, %v", next, err)
	}
}

// TestChooseAgain: what was left out is still said to be once more is known of the others.
func TestChooseAgain(t *testing.T) {
	of := func(hi float64) []Candidate {
		one, two := &ridge.Solution{Outcome: ridge.Outcome{Gamma: 1}}, &ridge.Solution{Outcome: ridge.Outcome{Gamma: 2}}
		return []Candidate{
			{one, []ridge.Interval{{Lo: 1, Hi: hi}}, []float64{1}},
			{two, []ridge.Interval{{Lo: 3, Hi: 4}}, []float64{3}},
		}
	}
	first, err := chooseCandidate(GCV, of(4))
	if err != nil {
		t.Fatal(err)
	}
	first.Unknown = []float64{0.25, 0.5}
	if next, err := first.Again(of(2)); err != nil || !next.Certain || !slices.Equal(next.Unknown, first.Unknown) {
		t.Errorf("%+v, %v", next, err)
	}
}

// TestGCVExcessOfEqualEstimates: two perfect fits, or two of unknown error, have no excess.
func TestGCVExcessOfEqualEstimates(t *testing.T) {
	for _, at := range []float64{0, math.Inf(1)} {
		var all []Candidate
		for i, gcv := range []float64{2, 1} {
			f := &ridge.Solution{Outcome: ridge.Outcome{Gamma: float64(i + 1)}, Targets: []ridge.Target{{}}}
			f.Targets[0].GCV = ridge.Interval{Lo: gcv, Hi: gcv}
			all = append(all, Candidate{f, []ridge.Interval{{Lo: 0, Hi: at}}, []float64{at}})
		}
		c, err := chooseCandidate(GCV, all)
		if err != nil {
			t.Fatal(err)
		}
		c.By = LOO
		if c.Index != 0 || c.GCVExcess() != 0 {
			t.Errorf("estimates %g: candidate %d, excess %g", at, c.Index, c.GCVExcess())
		}
	}
}

// TestAroundGCVOverflow: no candidate for leave-one-out errors overflows.
func TestAroundGCVOverflow(t *testing.T) {
	for gamma, want := range map[float64]int{1: 11, 1e305: 8, math.MaxFloat64: 3} {
		got := AroundGCV(&GammaChoice{Path: []*ridge.Solution{{Outcome: ridge.Outcome{Gamma: gamma}}}}).Gammas
		if len(got) != want || math.IsInf(slices.Max(got), 0) {
			t.Errorf("around %g: %v", gamma, got)
		}
	}
}
