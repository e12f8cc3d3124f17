package choose_test

import (
	"math"
	"testing"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// TestLittleKnown: a choice that may miss half of the score is little more than a guess, unless all
// squares are fitted.
func TestLittleKnown(t *testing.T) {
	fit := func(rss float64) *ridge.Solution {
		return &ridge.Solution{
			Targets: []ridge.Target{
				{
					Certificate: ridge.Certificate{
						RSS: ridge.Interval{Lo: 0, Hi: rss},
						TSS: ridge.Interval{Lo: 1, Hi: 1},
					},
				},
			},
		}
	}
	for _, c := range []struct {
		lo, hi, rss float64
		want        bool
	}{{0.4, 1, 0.1, true}, {0.6, 1, 0.1, false}, {0, 1, 1e-13, false}, {0, math.Inf(1), math.Inf(1), true}} {
		scores := []ridge.Interval{{Lo: c.hi, Hi: c.hi}, {Lo: c.lo, Hi: math.Inf(1)}}
		choice := choose.GammaChoice{Choice: choose.Least(scores, nil), Path: []*ridge.Solution{fit(c.rss), fit(1)}}
		if got := choice.LittleKnown(); got != c.want {
			t.Errorf("the other is %g of %g at least: %v", c.lo, c.hi, got)
		}
	}
	if (*choose.GammaChoice)(nil).LittleKnown() {
		t.Error("of no choice")
	}
}
