package plan_test

import (
	"math"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
)

// TestPlanKeepsScatter: a sketch that would keep AᵀA is planned to lose nothing, with two passes more
// than the sketch's and the memory of a few d² numbers.
func TestPlanKeepsScatter(t *testing.T) {
	const d = 60
	sum := testkit.Summarize(t, testkit.Waves(t, 300, d, 1), ridge.SummaryConfig{Size: 10})
	for _, o := range testkit.Must(plan.New(sum, plan.Config{Sizes: []int{10, 40}, Gammas: []float64{1}}))(t).Options {
		keeps := o.Size == 40
		if o.Size == 0 {
			continue
		}
		if (o.WorstShrinkage == 0) != keeps || (o.Shrinkage == 0) != keeps || keeps && o.Passes[0] > 3 {
			t.Errorf(
				"%s, m = %d: η %g, at most %g, %v passes",
				o.Method,
				o.Size,
				o.Shrinkage,
				o.WorstShrinkage,
				o.Passes,
			)
		}
		square := 8.0 * d * (d + 256)
		if keeps && !(float64(o.Bytes) > square && float64(o.Bytes) < 30*square && !math.IsInf(o.Seconds, 0)) {
			t.Errorf(
				"%s, m = %d: %d bytes, of which AᵀA and the rows that wait take %.0f",
				o.Method,
				o.Size,
				o.Bytes,
				square,
			)
		}
	}
}
