package batch

import (
	"math"
	"testing"

	"github.com/fdridge/fdridge/dataset"
)

// TestNonzeros counts numbers whose products underflow, overflow or are NaN.
func TestNonzeros(t *testing.T) {
	t.Parallel()
	values := []float64{0, math.Copysign(0, -1), 1, -2, 5e-324, 1e-200, 1e200, math.Inf(1), math.NaN()}
	for length := range 9 {
		for start := range values {
			for step := range values {
				var x []float64
				want := int64(0)
				for k := range length {
					v := values[(start+k*step)%len(values)]
					x = append(x, v)
					if v != 0 {
						want++
					}
				}
				if got := nonzerosOf(dataset.Block{X: x}); got != want {
					t.Fatalf("%v has %d nonzero numbers, not %d", x, want, got)
				}
			}
		}
	}
}
