package prepare

import "testing"

// TestSeparateCells checks which missing values a separate file of targets or weights may have, beside features that
// are read by various cells.
func TestSeparateCells(t *testing.T) {
	plan := &Encoding{Inputs: 1, Columns: []Column{{Use: UseNumber, Missing: MissingMean}}}
	planWithTargets := &Encoding{Inputs: 1, Columns: []Column{{Use: UseNumber}}, Targets: MissingDrop}
	for name, c := range map[string]struct {
		cells  *Cells
		allows bool
	}{
		"nil":               {nil, false},
		"refuse":            {&Cells{}, false},
		"mean":              {&Cells{Missing: MissingMean}, false},
		"drop":              {&Cells{Missing: MissingDrop}, true},
		"look":              {&Cells{Look: true}, true},
		"a plan":            {plan.Cells(), false},
		"a plan that drops": {planWithTargets.Cells(), true},
		"drop, with labels": {&Cells{Missing: MissingDrop, Labels: NewLabels()}, true},
		"labels only":       {&Cells{Labels: NewLabels()}, false},
	} {
		for _, holds := range []Separate{SeparateTargets, SeparateWeights} {
			got := c.cells.ForSeparate(holds)
			hasLabels := c.cells != nil && c.cells.Labels != nil && holds == SeparateTargets
			if got.Allows(0, 1) != c.allows || got.Holds() != holds || (len(got.Lexicons) == 1) != hasLabels ||
				got.OnlyNumbers() != (!c.allows && !hasLabels) {
				t.Errorf("%s, %v: %+v", name, holds, got)
			}
		}
	}
}
