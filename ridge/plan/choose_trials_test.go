package plan_test

import (
	"testing"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
	"github.com/fdridge/fdridge/ridge/reason"
)

// TestTrialsRule: leave-one-out errors of sparse rows that are too costly to factor are computed by dual-cg, up to
// plan.MaxTrialRows rows. If the number of rows is unknown and decides, the rows are counted.
func TestTrialsRule(t *testing.T) {
	p := plan.Problem{
		Rows:        7770,
		Dim:         8315,
		Targets:     1,
		Grid:        50,
		LeaveOneOut: true,
		Size:        256,
		MaxBytes:    ridge.DefaultMaxBytes,
		Sparse:      true,
	}
	if got := plan.Choose(p); got.Method != ridge.DualCG || got.Reason.Rule != reason.SparseLeverages {
		t.Errorf("%v", got)
	}
	for what, change := range map[string]func(*plan.Problem){
		"dense":     func(p *plan.Problem) { p.Sparse = false },
		"many rows": func(p *plan.Problem) { p.Rows = plan.MaxTrialRows + 1 },
		"gcv":       func(p *plan.Problem) { p.LeaveOneOut = false },
	} {
		other := p
		change(&other)
		if got := plan.Choose(other).Method; !got.Iterates() {
			t.Errorf("%s: %v", what, got)
		}
	}
	p.Sparse, p.Rows = false, -1
	if !plan.DependsOnRows(p) {
		t.Error("an unknown number of rows is not counted")
	}
	p.Dim = 54
	if plan.DependsOnRows(p) {
		t.Error("the rows of few features are counted")
	}
}
