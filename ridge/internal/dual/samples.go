package dual

import (
	"math"

	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// Samples are what is known of n samples beside their features: targets and weights.
type Samples struct {
	n, d, t   int
	intercept bool
	y         []float64 // n×t
	w         []float64 // nil: each counts once
	root      []float64 // √w, nil as w is
	total     float64   // Σw, but for a few roundings
	squares   float64   // bounds Σw‖row‖², features alone or with targets
}

// N is how many samples there are.
func (s *Samples) N() int { return s.n }

// Total is the weight of all samples.
func (s *Samples) Total() float64 { return s.total }

// Y is target j of sample i.
func (s *Samples) Y(i, j int) float64 { return s.y[i*s.t+j] }

// Weight is the weight of sample i.
func (s *Samples) Weight(i int) float64 {
	if s.w == nil {
		return 1
	}
	return s.w[i]
}

// Root is that of the weight of sample i.
func (s *Samples) Root(i int) float64 {
	if s.root == nil {
		return 1
	}
	return s.root[i]
}

// close finds what follows from the weights.
func (s *Samples) close() {
	s.total = float64(s.n)
	if s.w != nil {
		var total neumaier.Sum // means are off by what it is, all in one direction
		s.root = make([]float64, s.n)
		for i, w := range s.w {
			total.Add(w)
			s.root[i] = math.Sqrt(w)
		}
		s.total = total.Value()
	}
}

// lost bounds what a sum of weighted squares of all features and targets loses to underflow: each
// product of a number by itself, and of that or of the number by the weight. raw bounds the squares.
func (s *Samples) lost(raw float64) float64 {
	terms := float64(s.n) * float64(s.d+s.t)
	return terms * (1 + s.total + math.Sqrt(raw)) * 0x1p-1070
}

// weight is Σw, with twice the digits.
func (s *Samples) weight() (total twofold.Number) {
	for i := range s.n {
		total = total.Plus(twofold.Of(s.Weight(i)))
	}
	return total
}

// heaviest is the sample of most weight.
func (s *Samples) heaviest() (most int) {
	for i := range s.n {
		if s.Weight(i) > s.Weight(most) {
			most = i
		}
	}
	return most
}

// share is √(w/Σw) of each sample, the direction that centring takes out; nil without an intercept.
func (s *Samples) share() []float64 {
	if !s.intercept {
		return nil
	}
	q := make([]float64, s.n)
	for i := range q {
		q[i] = math.Sqrt(s.Weight(i) / s.total)
	}
	return q
}

// Share is w/Σw of each sample where an intercept is fitted, else nil.
func (s *Samples) Share() []float64 {
	if !s.intercept {
		return nil
	}
	out := make([]float64, s.n)
	for i := range out {
		out[i] = s.Weight(i) / s.total
	}
	return out
}

// meanError bounds, in norm, what the computed means of the columns are off by.
func (s *Samples) meanError() float64 {
	if !s.intercept {
		return 0
	}
	chain := float64(sumRows) + float64(s.n)/sumRows + 8
	return chain * roundoff.Unit * math.Sqrt(s.squares/s.total) * roundoff.Inflate
}

// sumRows is how many numbers are summed plainly before their sum is added to those of others.
const sumRows = 32

// Size bounds ‖A‖_F: the rows' own norm.
func (s *Samples) Size() float64 { return math.Sqrt(s.squares) * roundoff.Inflate }

// Squares is ‖b‖² of a target, Σw(y − ȳ)² where an intercept is fitted. It is the sum of squares of
// differences from the target of the heaviest sample: what targets have in common is not to cancel.
func (s *Samples) Squares(target int) twofold.Number {
	var sum, squares, first twofold.Number
	if s.intercept {
		first = twofold.Of(s.Y(s.heaviest(), target))
	}
	for i := range s.n {
		y := twofold.Of(s.Y(i, target)).Minus(first)
		wy := y.Times(twofold.Of(s.Weight(i)))
		sum, squares = sum.Plus(wy), squares.Plus(wy.Times(y))
	}
	if s.intercept {
		squares = squares.Minus(sum.Times(sum.Over(s.weight())))
	}
	return squares
}

// Centred is a target, less its mean where an intercept is fitted, times the roots of the weights.
func (s *Samples) Centred(target int) []float64 {
	out := make([]float64, s.n)
	first := 0.0
	var sum neumaier.Sum
	if s.intercept {
		first = s.Y(s.heaviest(), target)
	}
	for i := range out {
		out[i] = s.Y(i, target) - first
		sum.Add(s.Weight(i) * out[i])
	}
	for i := range out {
		if s.intercept {
			out[i] -= sum.Value() / s.total
		}
		out[i] *= s.Root(i)
	}
	return out
}
