package ridge_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestLeaveOneOutRefuses: other rows, and fits that are no good.
func TestLeaveOneOutRefuses(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 22))
	p, other := testkit.Problem(r, "gaussian", 50, 4, 1, 1), testkit.Problem(r, "gaussian", 50, 4, 1, 1)
	sum := testkit.Summarize(t, p, ridge.SummaryConfig{Size: 4})
	fits := testkit.Must(sum.Path([]float64{1}))(t)
	for name, c := range map[string]struct {
		src  dataset.Source
		sum  *ridge.Summary
		fits []*ridge.Solution
	}{
		"no source":        {nil, sum, fits},
		"no summary":       {p, nil, fits},
		"other rows":       {other, sum, fits},
		"fewer rows":       {testkit.Must(dataset.Rows(p, 0, 40))(t), sum, fits},
		"fewer features":   {testkit.Problem(r, "gaussian", 50, 3, 1, 1), sum, fits},
		"nil for a fit":    {p, sum, []*ridge.Solution{nil}},
		"fit without rows": {p, sum, []*ridge.Solution{{Outcome: ridge.Outcome{Gamma: 1}}}},
	} {
		_, err := ridge.LeaveOneOut(t.Context(), c.src, c.sum, c.fits, ridge.LeaveOneOutOptions{})
		if !errors.Is(err, ridge.ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
