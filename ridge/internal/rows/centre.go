package rows

import (
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// maxSpread is the largest accepted value of Σw‖origin‖², for the weights w of the rows and the origin of
// [Stage]. Up to this limit, Σw‖row − origin‖² does not overflow.
const maxSpread = 0x1p1020

// Overflows reports whether Σw‖row − origin‖² could overflow if the rows of b were added. w is the weight of
// a row, and [Stage] describes the origin.
func (s *Stage) Overflows(b dataset.Block) bool {
	if !s.intercept {
		return false
	}
	return !Spreads(s.Reach(b), s.Weight.Value()+TotalWeight(b))
}

// TotalWeight returns the sum of the weights of the rows of b. It is faster than a call of [dataset.Block.Weight] for
// each row.
func TotalWeight(b dataset.Block) float64 {
	if b.W == nil {
		return float64(b.N)
	}
	total := 0.0
	for _, w := range b.W[:b.N] {
		total += w
	}
	return total
}

// Reach returns the squared norm of the origin, which [Stage] describes. There is no origin before the first row of
// positive weight, and any row of b with positive weight may become it. Reach then returns the largest squared norm
// of these rows. Without an intercept it returns 0.
func (s *Stage) Reach(b dataset.Block) float64 {
	if !s.intercept {
		return 0
	}
	far := squaredNorm(s.Origin)
	for i := 0; i < b.N && !(s.Weight.Value() > 0); i++ { // each of these rows may become the origin
		if b.Weight(i) > 0 {
			far = math.Max(far, s.rowNorm2(b, i))
		}
	}
	return far
}

// Spreads reports whether weight·far is at most maxSpread. weight is the sum of the weights w, and far is
// ‖origin‖². If the result is true, Σw‖row − origin‖² cannot overflow.
func Spreads(far, weight float64) bool { return weight*far <= maxSpread }

// rowNorm2 returns the squared norm of row i of b, over its features and targets.
func (s *Stage) rowNorm2(b dataset.Block, i int) float64 {
	row := b.Cut(i, i+1, s.d, s.t, &s.view)
	val := row.X
	if row.Sparse != nil {
		_, val = row.Sparse.Row(0)
	}
	return squaredNorm(val) + squaredNorm(row.Y)
}

func squaredNorm(x []float64) float64 { return vec.Dot(x, x) }

// begin allocates the sums of the current block and sets them to zero.
func (s *Stage) begin() {
	s.allocate()
	clear(s.block.mean)
	clear(s.block.spread)
}

// centre computes the means of a block of n rows from the sums in s.block. It subtracts the means of the targets
// from s.y. [Staged] subtracts the means of the features later. The result is 1 if [Stage] adds a joining row after
// the block, and otherwise 0.
func (s *Stage) centre(n int, w []float64) int {
	total := s.sumTargets(n, w)
	weight := total.Value()
	for j, v := range s.block.mean {
		s.block.mean[j] = v / weight // multiplication by 1/weight could overflow
	}
	for i := range n {
		for j, m := range s.block.mean[s.d:] {
			s.y[i*s.t+j] -= m
		}
	}
	s.addRoundOff(n, weight)
	added := s.join(weight, 0, n)
	s.Weight.Merge(total)
	s.average()
	return added
}

// sumTargets subtracts the origin from the targets of n rows, and adds up the weighted targets for their mean. It
// returns the sum of the weights. As for the features, it first adds up parts of MeanPart rows, because this limits
// round-off.
func (s *Stage) sumTargets(n int, w []float64) (total twofold.Total) {
	// sum has the memory for the sum of a part. Afterwards this memory holds the targets of the joining row.
	sum := s.y[n*s.t : (n+1)*s.t]
	for lo := 0; lo < n; lo += roundoff.MeanPart {
		clear(sum)
		for i := lo; i < min(lo+roundoff.MeanPart, n); i++ {
			v := 1.0
			if w != nil {
				v = w[i]
			}
			total.Add(v)
			relocate(
				v,
				s.Origin[s.d:],
				s.y[i*s.t:],
				sum,
				s.block.spread[s.d:],
			)
		}
		vec.Axpy(1, sum, s.block.mean[s.d:])
	}
	return total
}

// average computes the means Sum/Weight.
func (s *Stage) average() {
	w := s.Weight.Value()
	for j := range s.mean {
		s.mean[j] = s.Sum[j].Value() / w
	}
}

// relocate subtracts origin from the first len(sum) elements of x. For each difference z, it adds v·z to sum and
// v·z² to squares, where v is the weight of the row.
func relocate(v float64, origin, x, sum, squares []float64) {
	x = x[:len(sum)]
	origin = origin[:len(sum)]
	squares = squares[:len(sum)]
	for j := range sum {
		z := x[j] - origin[j]
		x[j] = z
		vz := v * z
		sum[j] += vz
		squares[j] += vz * z
	}
}

// heaviest returns the index of the first row with the largest weight. It returns −1 if no row has a positive
// weight.
func heaviest(n int, w []float64) int {
	if w == nil {
		return min(n, 1) - 1
	}
	most := -1
	for i, v := range w[:n] {
		if v > 0 && (most < 0 || v > w[most]) {
			most = i
		}
	}
	return most
}

// addRoundOff adds to s.Moved the round-off of centring n rows. weight is the sum of their weights. It also writes
// bounds on the error of the mean of these rows to s.block.meanError.
func (s *Stage) addRoundOff(n int, weight float64) {
	root, rows := math.Sqrt(weight), float64(n)
	lostSpread := rows * roundoff.LostSpread
	lost := rows * roundoff.LostSum / root
	moved := s.Moved[:len(s.block.spread)]
	meanError := s.block.meanError[:len(s.block.spread)]
	for j, v := range s.block.spread {
		far := math.Sqrt(v+lostSpread) * roundoff.Inflate
		off := roundoff.RowOfBlock*roundoff.Unit*far + lost
		moved[j] = hypot(moved[j], off)
		meanError[j] = (roundoff.MeanOfBlock*roundoff.Unit*far + lost) / root
	}
}

// hypot returns the same result as math.Hypot(p, q), for p, q ≥ 0. It is used because the compiler can inline it,
// which it cannot do with math.Hypot.
func hypot(p, q float64) float64 {
	if p > math.MaxFloat64 || q > math.MaxFloat64 {
		return math.Inf(1) // the bound if nothing can be certified
	}
	p, q = max(p, q), min(p, q)
	if p == 0 {
		return 0
	}
	q /= p
	return p * math.Sqrt(1+q*q)
}

// join adds the block in s.block, of weight w2 > 0, to the sums over all rows. weightError bounds the error of w2.
// If earlier rows have positive weight, join computes the joining row of [Stage] and writes its targets to row n of
// s.y. It returns the number of joining rows, 0 or 1. The caller has to update s.Weight.
func (s *Stage) join(w2, weightError float64, n int) int {
	mu, muError := s.block.mean, s.block.meanError
	w1 := s.Weight.Value()
	added := 0
	if w1 > 0 {
		f := math.Sqrt(min(w1, w2)) * math.Sqrt(max(w1, w2)/(w1+w2))
		// The exact f is √(w1·w2/(w1+w2)). Its relative error is at most half the sum of the relative errors of w1, w2
		// and w1 + w2.
		off := 1.5*(s.RelativeWeight(w1)+weightError/w2) + 8*roundoff.Unit
		means := s.meanErrors()
		mean := s.mean[:len(mu)]
		moved := s.Moved[:len(mu)]
		muError := muError[:len(mu)]
		targets := s.y[n*s.t:]
		for j, v := range mu {
			gap := mean[j] - v
			column := 0 // index in NonZero
			if j < s.d {
				s.block.joining[j] = f * gap
			} else {
				targets[j-s.d] = f * gap
				column = 1 + j - s.d
			}
			if gap != 0 { // the product f·gap may underflow
				s.NonZero[column] = true
			}
			wrong := f * roundoff.Inflate * (means.bound(s, j) +
				muError[j] +
				off*math.Abs(gap))
			moved[j] = hypot(moved[j], wrong)
		}
		added = 1
	}
	for j, v := range mu {
		s.Sum[j].Add(w2 * v)
		inWeight := (weightError + 4*roundoff.Unit*w2) * math.Abs(v)
		s.SumError[j] += roundoff.Inflate*(w2*muError[j]+inWeight) + roundoff.LostSum
	}
	return added
}

// RelativeWeight returns a bound on the relative round-off of w > 0, which is the sum of the weights of some rows
// of the stage. If all weights are 1, the sum is exact and the result is 0.
func (s *Stage) RelativeWeight(w float64) float64 {
	if !s.Weighted {
		return 0
	}
	n := float64(s.Rows)
	return s.WeightError/w + (2+n*n*roundoff.Unit)*roundoff.Unit
}

// meanErrors holds the parts of the bounds on the errors of means that all means have in common.
type meanErrors struct {
	weight float64 // sum of the weights; 0 without rows
	// relative bounds the relative round-off of the sum of the weights, plus the round-off of dividing a sum by it.
	relative float64
	sum      float64 // factor for the compensated sum
}

func (s *Stage) meanErrors() meanErrors {
	w := s.Weight.Value()
	n := float64(s.Rows)
	if !(w > 0) {
		return meanErrors{}
	}
	return meanErrors{w, s.RelativeWeight(w) + 2*roundoff.Unit, 1 + n*n*roundoff.Unit}
}

// bound returns a bound on the round-off of mean j of s, which is a weighted sum divided by the sum of the weights.
// It covers the compensated sum, the sum of the weights, and the division.
func (e *meanErrors) bound(s *Stage, j int) float64 {
	if e.weight == 0 {
		return 0
	}
	sum := s.SumError[j]*e.sum + 2*roundoff.Unit*math.Abs(s.Sum[j].Value())
	return roundoff.Inflate * (sum/e.weight + e.relative*math.Abs(s.mean[j]))
}

// MeanErrors returns a bound on the round-off of each mean that the method Means returns. The bounds include the
// rounding when the origin is added to a mean.
func (s *Stage) MeanErrors() []float64 {
	out := make([]float64, s.d+s.t)
	means := s.meanErrors()
	for j := range out {
		mean := math.Abs(s.Origin[j] + s.mean[j])
		out[j] = means.bound(s, j) + roundoff.Unit*mean
	}
	return out
}

// Displaced returns a bound on the norm of the round-off in column j of the staged rows. The round-off comes from
// centring and weighting the rows. norm is the norm of the column.
func (s *Stage) Displaced(j int, norm float64) float64 {
	off := s.Moved[j]
	if s.Weighted { // the root and the product with it
		off += 4 * roundoff.Unit * norm
	}
	return roundoff.Inflate * off
}
