package krylov

import (
	"math"

	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/gram"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// An origin is a point o at which the gradient of a system was computed with twice the digits. The iterate of the
// system is then o + X. A pass multiplies X by AᵀA + γI in plain arithmetic, with a round-off proportional to
// ‖X‖. For small X, the gradient at the iterate is therefore as precise as the gradient at o. The iterate is not
// rounded to float64, and such a rounding cannot limit the iteration.
type origin struct {
	x, g  []float64     // the point o, and the gradient at o
	exact certify.Exact // the bounds at o
	// shift is the mean of the residuals Xo − y, where X and y are the rows and the target before centring.
	shift twofold.Number
	// here has the bounds at the iterate, from the last pass that computed the gradient there.
	here *certify.Exact
	near float64 // bounds the distance of the iterate from the exact solution
	// asked means that the current pass computes the product AᵀAX. The gradient at the iterate follows from it.
	asked bool
	// renew means that the next gradient must again be computed with twice the digits.
	renew bool

	rounded, low []float64 // o + X rounded to float64, and the rounding error
}

// setOrigin makes v the [origin] of s. The argument found is the gradient at v, computed with twice the digits.
// setOrigin returns false and changes nothing if the round-off of found is at least half the round-off of a plain
// gradient. This happens if the rows are far from zero, because found is computed from rows that are not centred.
func (s *System) setOrigin(v []float64, found *gram.Measurement) (ok bool) {
	rss, off := found.RSS.Round()
	exact := s.judged.Exact(v, interval.Outward(rss, off), found.Rounded(), found.Residual)
	plain, _ := s.judged.RoundOff(s.Target, v, math.Sqrt(math.Max(0, rss)))
	if !(exact.Weights < plain/2) {
		return false
	}
	o := s.origin
	if o == nil {
		d := len(v)
		o = &origin{
			x:       make([]float64, d),
			rounded: make([]float64, d),
			low:     make([]float64, d),
		}
		s.origin = o
	}
	o.exact, o.shift = exact, found.Shift
	o.g = found.Gradient
	o.here = &o.exact
	o.renew = false
	o.asked = false
	copy(o.x, v)
	clear(s.X)
	return true
}

// add computes o.x + x, and stores it in o.rounded, rounded to float64, and in o.low, the rounding error. It
// returns a bound on the norm of this error.
func (o *origin) add(x []float64) (rounding float64) {
	for i, v := range x {
		o.rounded[i], o.low[i] = twofold.Sum(o.x[i], v)
	}
	return vec.Norm(o.low) * (1 + 0x1p-30)
}

// isCurrent reports whether the iterate is the origin itself.
func (o *origin) isCurrent() bool {
	return o != nil && o.here == &o.exact
}

// isSharper reports whether the gradient at the origin has less than half the round-off of the gradient at the
// iterate.
func (o *origin) isSharper() bool {
	return o.exact.Weights < o.here.Weights/2
}

// negated returns −x.
func negated(x []float64) []float64 {
	out := make([]float64, len(x))
	vec.Axpy(-1, x, out)
	return out
}
