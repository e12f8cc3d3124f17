package digits_test

import (
	"math"
	"testing"

	"github.com/fdridge/fdridge/internal/digits"
)

func TestApart(t *testing.T) {
	for _, c := range []struct {
		a, b float64
		x, y string
	}{
		{1, 2, "1", "2"},
		{1234567.8, 7654321, "1.23457e+06", "7.65432e+06"},
		{100.00001, 100.00002, "100.00001", "100.00002"},
		{1, math.Nextafter(1, 2), "1", "1.0000000000000002"},
		{3, 3, "3", "3"},
		{math.Inf(1), 3, "+Inf", "3"},
	} {
		if x, y := digits.Apart(c.a, c.b); x != c.x || y != c.y {
			t.Errorf("%v and %v: %s and %s, want %s and %s", c.a, c.b, x, y, c.x, c.y)
		}
	}
}
