package choose_test

import (
	"math"
	"testing"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// TestRelativeExcess.
func TestRelativeExcess(t *testing.T) {
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		scores []ridge.Interval
		want   float64
	}{
		"certain":   {[]ridge.Interval{between(1, 2), between(3, 4)}, 0},
		"a half":    {[]ridge.Interval{between(2, 3), between(2, 9)}, 0.5},
		"nothing":   {[]ridge.Interval{between(0, 3), between(0, 9)}, inf},
		"unbounded": {[]ridge.Interval{between(1, inf), between(1, inf)}, inf},
	} {
		choice := choose.Least(c.scores, nil)
		if got := choice.RelativeExcess(); !(got >= c.want && got <= c.want*(1+1e-14)) {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}
