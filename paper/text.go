package paper

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/internal/chart"
)

// power writes a power of two as such, 2⁻⁴, and any other number in digits.
func power(x float64) string {
	if frac, e := math.Frexp(x); frac == 0.5 {
		switch e--; e {
		case 0:
			return "1"
		case 1:
			return "2"
		}
		return "2" + chart.Superscript(e)
	}
	return fmt.Sprintf("%.4g", x)
}

// span is the range of several numbers.
func span(x ...float64) string {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range x {
		lo, hi = math.Min(lo, v), math.Max(hi, v)
	}
	if a, b := chart.Short(lo), chart.Short(hi); a != b {
		return a + " to " + b
	}
	return chart.Short(lo)
}
