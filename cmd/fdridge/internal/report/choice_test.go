package report

import (
	"strings"
	"testing"
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
		if got := c.warnings(general); len(got) != 1 || !strings.HasSuffix(got[0], want) || !strings.Contains(got[0], "from 2 down, 3 were left out") {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
