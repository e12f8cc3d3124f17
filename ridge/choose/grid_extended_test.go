package choose_test

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// TestGridGoesOn: if the best γ is at the end of a default grid, the grid is extended by three powers of ten at a
// time. A grid that was given is not extended.
func TestGridGoesOn(t *testing.T) {
	sum := testkit.Summarize(t, testkit.Housing(t), ridge.SummaryConfig{Size: 8, Intercept: true})
	grid := choose.Grid(sum, 50)
	own, given := testkit.Must(choose.Gamma(sum, nil))(t), testkit.Must(choose.Gamma(sum, grid))(t)
	if len(own.Path) != 75 || own.Index == 0 || !own.Certain || !(own.Gamma() < grid[0]) ||
		!slices.IsSortedFunc(own.Path, func(a, b *ridge.Solution) int { return cmp.Compare(a.Gamma, b.Gamma) }) {
		t.Errorf("of %d γ number %d, %g, certain %v", len(own.Path), own.Index, own.Gamma(), own.Certain)
	}
	if len(given.Path) != 50 || given.Index != 0 || len(given.Scores) != 50 || given.CV != nil {
		t.Errorf("of a given list of %d γ number %d", len(given.Path), given.Index)
	}
	if _, err := choose.Gamma(sum, []float64{}); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("of none: %v", err)
	}
}
