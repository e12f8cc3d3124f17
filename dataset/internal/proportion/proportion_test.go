package proportion_test

import (
	"math"
	"testing"

	"github.com/fdridge/fdridge/dataset/internal/proportion"
)

func TestOf(t *testing.T) {
	for _, c := range []struct{ n, a, b, want int64 }{
		{7, 3, 3, 7}, {7, 1, 3, 2}, {7, 0, 3, 0}, {0, 2, 3, 0}, {0, 0, 1, 0},
		{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64, math.MaxInt64 - 1},
		{math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64},
		{math.MaxInt64, 1, 2, math.MaxInt64 / 2},
	} {
		if got := proportion.Of(c.n, c.a, c.b); got != c.want {
			t.Errorf("%d·%d/%d: %d, want %d", c.n, c.a, c.b, got, c.want)
		}
	}
}
