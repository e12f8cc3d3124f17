package rows

import (
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// maxSpread bounds Σw‖origin‖²: Σw‖row − origin‖² is then finite.
const maxSpread = 0x1p1020

// Overflows reports that the differences of a block's rows from the origin, squared and
// weighted, may sum to more than float64 holds.
func (s *Stage) Overflows(b dataset.Block) bool {
	if !s.intercept {
		return false
	}
	total := s.Weight.Value()
	for i := range b.N {
		total += b.Weight(i)
	}
	return !Spreads(s.Reach(b), total)
}

// Reach is the squared norm of the origin, or where there is none as yet the largest that it
// can have by the rows of a block; 0 where rows are not centred.
func (s *Stage) Reach(b dataset.Block) float64 {
	if !s.intercept {
		return 0
	}
	far := squaredNorm(s.Origin)
	for i := 0; i < b.N && !(s.Weight.Value() > 0); i++ { // any of them may become the origin
		if b.Weight(i) > 0 {
			far = math.Max(far, s.rowNorm2(b, i))
		}
	}
	return far
}

// Spreads says that rows of a weight whose origin's squared norm is far have differences from it
// that float64 holds, squared and summed up.
func Spreads(far, weight float64) bool { return weight*far <= maxSpread }

// rowNorm2 is the squared norm of row i and its targets.
func (s *Stage) rowNorm2(b dataset.Block, i int) float64 {
	row := b.Cut(i, i+1, s.d, s.t, &s.view)
	val := row.X
	if row.Sparse != nil {
		_, val = row.Sparse.Row(0)
	}
	return squaredNorm(val) + squaredNorm(row.Y)
}

func squaredNorm(x []float64) float64 { return vec.Dot(x, x) }

// begin makes room for the sums of a block and clears them.
func (s *Stage) begin() {
	s.reserve()
	clear(s.block.mean)
	clear(s.block.spread)
}

// centre makes means, less the origin, of the sums of a block's n rows, subtracts them
// from their targets in s.y, and makes the joining row, whose targets go behind those. It
// returns how many rows that added (0 or 1). The features stay as they are: [Staged] subtracts
// when they are written.
func (s *Stage) centre(n int, w []float64) int {
	total := s.sumTargets(n, w)
	weight := total.Value()
	for j, v := range s.block.mean {
		s.block.mean[j] = v / weight // a reciprocal may overflow
	}
	for i := range n {
		vec.Axpy(-1, s.block.mean[s.d:], s.y[i*s.t:(i+1)*s.t])
	}
	s.count(n, weight)
	added := s.join(weight, 0, n)
	s.Weight.Merge(total)
	s.average()
	return added
}

// sumTargets adds up the targets of n rows, which become differences from the origin, for their
// mean, and returns the sum of the weights. Rows are summed in parts, as the error of a sum grows
// with the longest chain of additions; features are, too.
func (s *Stage) sumTargets(n int, w []float64) (total neumaier.Sum) {
	sum := s.y[n*s.t : (n+1)*s.t] // the memory of the joining row has the sum of a part
	for lo := 0; lo < n; lo += roundoff.MeanPart {
		clear(sum)
		for i := lo; i < min(lo+roundoff.MeanPart, n); i++ {
			v := 1.0
			if w != nil {
				v = w[i]
			}
			total.Add(v)
			relocate(v, s.Origin[s.d:], s.y[i*s.t:], sum, s.block.spread[s.d:])
		}
		vec.Axpy(1, sum, s.block.mean[s.d:])
	}
	return total
}

// average sets the mean to what sum and weight make it.
func (s *Stage) average() {
	w := s.Weight.Value()
	for j := range s.mean {
		s.mean[j] = s.Sum[j].Value() / w
	}
}

// relocate overwrites the first len(sum) numbers of x with x − origin, and adds them,
// times v, to sum and their squares to squares.
func relocate(v float64, origin, x, sum, squares []float64) {
	x, origin, squares = x[:len(sum)], origin[:len(sum)], squares[:len(sum)]
	for j := range sum {
		z := x[j] - origin[j]
		x[j] = z
		vz := v * z
		sum[j] += vz
		squares[j] += vz * z
	}
}

// heaviest is the row of most weight, the first of several; -1 where none has any.
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

// count adds to Moved what rounding has done to the n rows of a block of some weight, and
// bounds the error of its mean.
func (s *Stage) count(n int, weight float64) {
	root, rows := math.Sqrt(weight), float64(n)
	lostSpread, lost := rows*roundoff.LostSpread, rows*roundoff.LostSum/root
	moved, meanError := s.Moved[:len(s.block.spread)], s.block.meanError[:len(s.block.spread)]
	for j, v := range s.block.spread {
		far := math.Sqrt(v+lostSpread) * roundoff.Inflate
		off := roundoff.RowOfBlock*roundoff.Unit*far + lost
		moved[j] = hypot(moved[j], off)
		meanError[j] = (roundoff.MeanOfBlock*roundoff.Unit*far + lost) / root
	}
}

// hypot is math.Hypot of numbers that are not negative, to the same bits, without a call.
func hypot(p, q float64) float64 {
	if p > math.MaxFloat64 || q > math.MaxFloat64 {
		return math.Inf(1) // as the bounds of summaries that prove nothing
	}
	p, q = max(p, q), min(p, q)
	if p == 0 {
		return 0
	}
	q /= p
	return p * math.Sqrt(1+q*q)
}

// join adds to the running sums the rows of block, of weight w2 > 0, which is off by
// weightError. Where there was weight before it makes the joining row, whose targets are at index
// n. It returns how many rows that added. The caller adds to the weight.
func (s *Stage) join(w2, weightError float64, n int) int {
	mu, muError := s.block.mean, s.block.meanError
	w1 := s.Weight.Value()
	added := 0
	if w1 > 0 {
		f := math.Sqrt(min(w1, w2)) * math.Sqrt(max(w1, w2)/(w1+w2))
		// f is off, relatively, by half as much as the three weights in it.
		off := 1.5*(s.RelativeWeight(w1)+weightError/w2) + 8*roundoff.Unit
		means := s.meanErrors()
		mean, moved, muError := s.mean[:len(mu)], s.Moved[:len(mu)], muError[:len(mu)]
		targets := s.y[n*s.t:]
		for j, v := range mu {
			gap := mean[j] - v
			column := 0 // of NonZero
			if j < s.d {
				s.block.joining[j] = f * gap
			} else {
				targets[j-s.d] = f * gap
				column = 1 + j - s.d
			}
			if gap != 0 { // though f·gap may underflow
				s.NonZero[column] = true
			}
			wrong := f * roundoff.Inflate * (means.of(s, j) + muError[j] + off*math.Abs(gap))
			moved[j] = hypot(moved[j], wrong)
		}
		added = 1
	}
	for j, v := range mu {
		s.Sum[j].Add(w2 * v)
		s.SumError[j] += roundoff.Inflate*(w2*muError[j]+(weightError+4*roundoff.Unit*w2)*math.Abs(v)) + roundoff.LostSum
	}
	return added
}

// RelativeWeight bounds the relative round-off of the weight, which is w > 0: integers
// are exact.
func (s *Stage) RelativeWeight(w float64) float64 {
	if !s.Weighted {
		return 0
	}
	n := float64(s.Rows)
	return s.WeightError/w + (2+n*n*roundoff.Unit)*roundoff.Unit
}

// meanErrors is what the bounds on the round-off of all means have in common.
type meanErrors struct {
	weight   float64 // 0 where there is none
	relative float64 // round-off of the weight and of the quotient, relatively
	sum      float64 // factor of what a sum is off by, for the sum's compensation
}

func (s *Stage) meanErrors() meanErrors {
	w, n := s.Weight.Value(), float64(s.Rows)
	if !(w > 0) {
		return meanErrors{}
	}
	return meanErrors{w, s.RelativeWeight(w) + 2*roundoff.Unit, 1 + n*n*roundoff.Unit}
}

// of bounds the round-off of mean j: that of its sum, which is compensated, of
// the weight that it is divided by and of the quotient.
func (e *meanErrors) of(s *Stage, j int) float64 {
	if e.weight == 0 {
		return 0
	}
	sum := s.SumError[j]*e.sum + 2*roundoff.Unit*math.Abs(s.Sum[j].Value())
	return roundoff.Inflate * (sum/e.weight + e.relative*math.Abs(s.mean[j]))
}

// MeanErrors bounds the round-off of Means: of each mean, and of adding it to the origin.
func (s *Stage) MeanErrors() []float64 {
	out, means := make([]float64, s.d+s.t), s.meanErrors()
	for j := range out {
		out[j] = means.of(s, j) + roundoff.Unit*math.Abs(s.Origin[j]+s.mean[j])
	}
	return out
}

// Displaced bounds, in norm, what rounding in the stage has done to column j of the
// staged rows, whose own norm is given.
func (s *Stage) Displaced(j int, norm float64) float64 {
	off := s.Moved[j]
	if s.Weighted { // the root and the product
		off += 4 * roundoff.Unit * norm
	}
	return roundoff.Inflate * off
}
