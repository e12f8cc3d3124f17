package report

import (
	"strings"
	"testing"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// TestMoreOfThoseLeftOut: --standardize is advised where columns are of different size alone, a larger
// sketch where that is what tells more, and nothing where neither does.
func TestMoreOfThoseLeftOut(t *testing.T) {
	for want, words := range map[string]wording{
		"may be better: --standardize would tell more of them":   {narrower: "a larger --size", far: true},
		"may be better: a larger --size would tell more of them": {narrower: "a larger --size"},
		"may be better": {},
	} {
		c := choice{By: "loo", reserve: reserve{LeftOut: &leftOut{3, [2]number{1, 2}}}, wording: words}
		if got := c.warnings(general); len(got) != 1 || !strings.HasSuffix(got[0], want) || !strings.Contains(got[0], "3 smaller ones, from 2 down, were left out") {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// TestFlatEnd: that the best may lie beyond an end is said where the score still falls there, and not
// where it is flat.
func TestFlatEnd(t *testing.T) {
	for next, says := range map[float64]bool{2: true, 1.0005: false} {
		p := &choose.GammaChoice{
			Choice: choose.Choice{Index: 0, Possible: []int{0}, Certain: true}, Path: []*ridge.Solution{{Outcome: ridge.Outcome{Gamma: 1}}, {Outcome: ridge.Outcome{Gamma: 2}}},
			Scores: [][]ridge.Interval{{{Lo: 1, Hi: 1}}, {{Lo: next, Hi: next}}},
		}
		c := describe(p, wording{})
		if !c.AtEnd || strings.Contains(c.String(), "may lie beyond") != says {
			t.Errorf("next to it %g: %s", next, c)
		}
	}
}
