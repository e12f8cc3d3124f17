package vec

import (
	"math"
	"testing"
)

func TestIsProduct(t *testing.T) {
	for _, c := range []struct {
		n, a, b int
		is      bool
	}{
		{0, 0, 5, true},
		{6, 2, 3, true},
		{6, 2, 4, false},
		{0, math.MaxInt/2 + 1, math.MaxInt/2 + 1, false},
		{math.MaxInt - 1, math.MaxInt, 2, false},
		{math.MaxInt, math.MaxInt, 1, true}, {0, math.MaxInt, 0, true},
	} {
		if IsProduct(c.n, c.a, c.b) != c.is {
			t.Errorf("%d = %d·%d is %v", c.n, c.a, c.b, !c.is)
		}
	}
}

func TestAddressable(t *testing.T) {
	for _, c := range []struct {
		rows, cols uint64
		fits       bool
	}{
		{0, math.MaxUint64, true}, {1, 1, true}, {1 << 20, 1<<24 - 1, math.MaxInt > 1<<32}, {1 << 22, 1 << 22, false},
		{math.MaxUint64, math.MaxUint64, false}, {1 << 32, 1 << 32, false}, {1, 1 << 44, false},
	} {
		if Addressable(c.rows, c.cols) != c.fits {
			t.Errorf("%d×%d fits: %v", c.rows, c.cols, !c.fits)
		}
	}
}
