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
		got := beyond(c.grid, c.best, 25)
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

// TestChooseAgain: what was left out is still said to be once more is known of the others.
func TestChooseAgain(t *testing.T) {
	of := func(hi float64) []Candidate {
		one, two := &ridge.Solution{Outcome: ridge.Outcome{Gamma: 1}}, &ridge.Solution{Outcome: ridge.Outcome{Gamma: 2}}
		return []Candidate{{one, []ridge.Interval{{Lo: 1, Hi: hi}}}, {two, []ridge.Interval{{Lo: 3, Hi: 4}}}}
	}
	first, err := chooseCandidate(of(4))
	if err != nil {
		t.Fatal(err)
	}
	first.Unknown = []float64{0.25, 0.5}
	if next, err := first.Again(of(2)); err != nil || !next.Certain || !slices.Equal(next.Unknown, first.Unknown) {
		t.Errorf("%+v, %v", next, err)
	}
}
