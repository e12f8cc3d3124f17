package ridge_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestEstimates: the estimates of leave-one-out errors from a lossy sketch lie in their brackets, and are much nearer
// to the errors of exact solutions than the midpoints.
func TestEstimates(t *testing.T) {
	const n, d = 1500, 200
	p := testkit.Problem(rand.New(rand.NewPCG(34, 6)), "gaussian", n, d, 1, 1)
	full := testkit.Summarize(t, p, ridge.SummaryConfig{Size: d, Intercept: true})
	lossy := testkit.Summarize(t, p, ridge.SummaryConfig{Size: 60, Intercept: true})
	gammas := []float64{100, 300, 1000, 3000, 10_000}
	exact, sketched := testkit.Must(full.Path(gammas))(t), testkit.Must(lossy.Path(gammas))(t)
	truth := testkit.Must(ridge.LeaveOneOut(t.Context(), p, full, exact, ridge.LeaveOneOutOptions{}))(t)
	found := testkit.Must(ridge.LeaveOneOut(t.Context(), p, lossy, sketched, ridge.LeaveOneOutOptions{}))(t)
	off, middle := 0.0, 0.0 // sums of |log(estimate/truth)|
	for i := range gammas {
		want, got, v := truth.Estimates[i][0], found.Estimates[i][0], found.Bounds[i][0]
		if !(v.Lo <= got && got <= v.Hi) {
			t.Errorf("γ = %g: the estimate is %g, outside %v", gammas[i], got, v)
		}
		off += math.Abs(math.Log(got / want))
		middle += math.Abs(math.Log(v.Mid() / want))
	}
	if !(off < middle/7) { // with the midpoint of the bracket of 1 − h, off is 0.154 of middle; otherwise 0.123
		t.Errorf("estimates are off by %g in all, midpoints by %g", off, middle)
	}
}
