package report

import (
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/ridge"
)

// TestLost: a fit is lost if every solution diverged and nothing is certified of any.
func TestLost(t *testing.T) {
	solution := func(status ridge.Status, relative float64) *ridge.Solution {
		f := &ridge.Solution{Outcome: ridge.Outcome{Status: status}}
		f.Targets = []ridge.Target{{Coef: []float64{1}}}
		f.Targets[0].RelativeErrorBound = relative
		return f
	}
	hopeless, useful := solution(ridge.Diverged, 2), solution(ridge.Diverged, 0.5)
	for _, c := range []struct {
		solutions []*ridge.Solution
		want      bool
	}{
		{[]*ridge.Solution{hopeless}, true},
		{[]*ridge.Solution{hopeless, hopeless}, true},
		{[]*ridge.Solution{useful}, false},
		{[]*ridge.Solution{hopeless, useful}, false},
		{[]*ridge.Solution{solution(ridge.PassLimit, 2)}, false},
	} {
		f := &Fit{Found: &fdridge.Result{Solutions: c.solutions}}
		if f.Lost() != c.want {
			t.Errorf("%v: lost is %v", c.solutions[0].Status, f.Lost())
		}
	}
}
