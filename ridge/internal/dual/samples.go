package dual

import (
	"math"

	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// Samples holds the targets and weights of n samples.
type Samples struct {
	n, d, t   int
	intercept bool
	y         []float64 // n×t
	w         []float64 // nil: all weights are 1
	root      []float64 // √w; nil if w is nil
	total     float64   // Σw, up to a few rounding errors
	squares   float64   // bounds Σw‖row‖², over the features, or over features and targets
}

// N returns the number of samples.
func (s *Samples) N() int { return s.n }

// Total returns the weight of all samples.
func (s *Samples) Total() float64 { return s.total }

// Y returns target j of sample i.
func (s *Samples) Y(i, j int) float64 {
	return s.y[i*s.t+j]
}

// Weight returns the weight of sample i.
func (s *Samples) Weight(i int) float64 {
	if s.w == nil {
		return 1
	}
	return s.w[i]
}

// Root returns √w of sample i.
func (s *Samples) Root(i int) float64 {
	if s.root == nil {
		return 1
	}
	return s.root[i]
}

// close computes the square roots of the weights and the sum of the weights.
func (s *Samples) close() {
	s.total = float64(s.n)
	if s.w != nil {
		var total twofold.Total // compensated, because its error affects every mean in the same way
		s.root = make([]float64, s.n)
		for i, w := range s.w {
			total.Add(w)
			s.root[i] = math.Sqrt(w)
		}
		s.total = total.Value()
	}
}

// lost bounds the underflow error of the weighted sum of squares of all features and targets. raw bounds this sum.
func (s *Samples) lost(raw float64) float64 {
	terms := float64(s.n) * float64(s.d+s.t)
	return terms * (1 + s.total + math.Sqrt(raw)) * 0x1p-1070 // of squares and their products with weights
}

// weight returns Σw in double-double arithmetic.
func (s *Samples) weight() (total twofold.Number) {
	for i := range s.n {
		total = total.Plus(twofold.Of(s.Weight(i)))
	}
	return total
}

// heaviest returns the index of the sample with the largest weight.
func (s *Samples) heaviest() (most int) {
	for i := range s.n {
		if s.Weight(i) > s.Weight(most) {
			most = i
		}
	}
	return most
}

// share returns a unit vector that is orthogonal to the centred columns of A. Its element for a sample of weight w
// is √(w/Σw). Without an intercept, the result is nil.
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

// Share returns the weight of each sample divided by the total weight. Without an intercept, the result is nil.
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

// meanError bounds the norm of the error of the computed vector of column means. Without an intercept, it returns
// 0.
func (s *Samples) meanError() float64 {
	if !s.intercept {
		return 0
	}
	chain := float64(sumRows) + float64(s.n)/sumRows + 8
	return chain * roundoff.Unit * math.Sqrt(s.squares/s.total) * roundoff.Inflate
}

// sumRows is the number of terms in a group of a sum. The terms of each group are added first, and then the sums of
// the groups. This bounds the number of consecutive additions.
const sumRows = 32

// Size returns a bound on ‖A‖_F. It comes from the sum of squares of the rows before centring.
func (s *Samples) Size() float64 {
	return math.Sqrt(s.squares) * roundoff.Inflate
}

// Squares returns the squared norm of a target y. With weights w it is Σwy², and with an intercept Σw(y − ȳ)²
// for the weighted mean ȳ. Squares first subtracts from all values the value of the sample with the largest weight.
// Therefore a large ȳ causes no cancellation.
func (s *Samples) Squares(target int) twofold.Number {
	var sum, squares, first twofold.Number
	if s.intercept {
		first = twofold.Of(s.Y(s.heaviest(), target))
	}
	for i := range s.n {
		y := twofold.Of(s.Y(i, target)).Minus(first)
		wy := y.Times(twofold.Of(s.Weight(i)))
		sum = sum.Plus(wy)
		squares = squares.Plus(wy.Times(y))
	}
	if s.intercept {
		squares = squares.Minus(sum.Times(sum.Over(s.weight())))
	}
	return squares
}

// Centred returns the values of a target, each multiplied by the square root of its weight. With an intercept, the
// weighted mean is subtracted before.
func (s *Samples) Centred(target int) []float64 {
	out := make([]float64, s.n)
	first := 0.0
	var sum twofold.Total
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
