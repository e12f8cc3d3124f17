package krylov

import (
	"math"

	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/gram"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// An origin is where the gradient of a system was measured with twice the digits. From there on
// its X is what the weights are more than those of the origin, and a plain pass, whose round-off
// is in proportion to X, measures with as many digits: the gradient at x + X is g + HX. Nor is the
// rounding of x + X to float64 in the way of the iteration.
type origin struct {
	x, g  []float64      // the weights and the gradient there
	exact certify.Exact  // what was measured there
	shift twofold.Number // the mean of Xx − y there
	here  *certify.Exact // what was last measured at x + X
	near  float64        // bounds how far x + X is from x*
	asked bool           // of the pass under way: the product with X, for the gradient
	renew bool           // the next gradient is to be measured with twice the digits again

	rounded, low []float64 // x + X, and what rounding has taken from it
}

// settle makes v, where found was measured, the origin. It does not where no less round-off is in
// that than in a plain gradient there: rows that are very far from zero are read as they are.
func (s *System) settle(v []float64, found *gram.Measurement) (settled bool) {
	rss, off := found.RSS.Round()
	exact := s.judged.Exact(interval.Outward(rss, off), found.Rounded(), found.Residual)
	if plain, _ := s.judged.RoundOff(s.Target, v, math.Sqrt(math.Max(0, rss))); !(exact.Weights < plain/2) {
		return false
	}
	o := s.origin
	if o == nil {
		d := len(v)
		o = &origin{x: make([]float64, d), rounded: make([]float64, d), low: make([]float64, d)}
		s.origin = o
	}
	o.exact, o.shift = exact, found.Shift
	o.g, o.here, o.renew, o.asked = found.Gradient, &o.exact, false, false
	copy(o.x, v)
	clear(s.X)
	return true
}

// add rounds x + X, and returns how far that moves it.
func (o *origin) add(x []float64) (rounding float64) {
	for i, v := range x {
		o.rounded[i], o.low[i] = twofold.Sum(o.x[i], v)
	}
	return vec.Norm(o.low) * (1 + 0x1p-30)
}

// isHere says that the system stands at the origin.
func (o *origin) isHere() bool { return o != nil && o.here == &o.exact }

// isFar says that less round-off is measured at the origin than was where the system stands.
func (o *origin) isFar() bool { return o.exact.Weights < o.here.Weights/2 }

// negated is −x.
func negated(x []float64) []float64 {
	out := make([]float64, len(x))
	vec.Axpy(-1, x, out)
	return out
}
