package ridge

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/vec"
)

// stage turns the blocks of a source into rows whose plain scatter is the one
// wanted: weighted rows are multiplied by √w, and with an intercept each block
// is centred by its own weighted mean and followed by the one row
//
//	√(w₁w₂/(w₁+w₂))·(μ₁ − μ₂)
//
// that joins it to the rows before (w₁, μ₁ the weight and mean so far). The sum
// of the outer products of all staged rows is then exactly the centred scatter
// of [A Y], so A and Y are centred alike and nothing is subtracted afterwards.
//
// Means are kept relative to an origin, the heaviest row of the first block: the
// joining row is a difference of means, whose round-off must be that of the data's
// spread and not that of their distance from zero.
//
// What rounding does to the staged rows depends on how far each row was from the
// origin when it came, so it is counted then (moved, sumError) and carried along by
// merge, decay and the message. The end state doesn't tell: a first row far away, or a
// level that has been forgotten since, leaves no trace in the means.
type stage struct {
	d, t      int
	intercept bool

	rows        int64        // rows seen
	weight      neumaier.Sum // Σw
	weightError float64      // bounds what decays have done to it
	weighted    bool         // some rows came with weights, or were decayed
	decays      int64        // each of which rounds all sums

	origin   []float64      // d+t, of use once weight > 0
	sum      []neumaier.Sum // Σw·(row − origin), d+t
	sumError []float64      // bounds on what these are off by
	mean     []float64      // sum/weight
	// moved bounds the norm of what centring has put wrong in each column of
	// the staged rows, d+t: the rounding of differences from the origin and from means,
	// and of the means themselves.
	moved []float64
	// some of the features, and of each target, are not zero, centred where they are: a
	// sum of squares that is 0 all the same has underflowed. 1+t.
	some []bool

	x, y   []float64  // staged rows, n×d and n×t
	block  []float64  // mean of the block at hand, less the origin, d+t
	spread []float64  // Σw·(row − origin)² of the block at hand, d+t; later the error of its mean
	root   []float64  // √w of the block at hand
	view   engine.CSR // the sparse rows at hand
	own    engine.CSR // sparse rows times √w
}

func newStage(d, t int, intercept bool) *stage {
	s := &stage{d: d, t: t, intercept: intercept, origin: make([]float64, d+t), sum: make([]neumaier.Sum, d+t)}
	s.sumError, s.moved, s.some = make([]float64, d+t), make([]float64, d+t), make([]bool, 1+t)
	s.mean = make([]float64, d+t)
	return s
}

// reserve takes the memory of a block that is to be centred.
func (s *stage) reserve() {
	s.block, s.spread = vec.Grow(s.block, s.d+s.t), vec.Grow(s.spread, s.d+s.t)
}

// means returns the weighted means of the features and targets seen, d+t.
func (s *stage) means() []float64 {
	out := append([]float64(nil), s.origin...)
	vec.Axpy(1, s.mean, out)
	return out
}

// staged is one block ready for accumulation: n rows, dense or sparse.
type staged struct {
	n      int
	x      []float64 // n×d, leading dimension d, nil when sparse
	sparse *engine.CSR
	y      []float64 // n×t
}

// load stages a block. The result is valid until the next call and may alias the
// block.
func (s *stage) load(b dataset.Block) staged {
	w := b.W
	s.rows += int64(b.N)
	s.weighted = s.weighted || w != nil
	if w == nil && !s.intercept {
		s.weight.Add(float64(b.N))
		s.look(staged{b.N, b.X, b.Sparse, b.Y}, nil)
		return staged{b.N, b.X, b.Sparse, b.Y}
	}
	s.root = s.root[:0]
	for _, v := range w {
		s.root = append(s.root, math.Sqrt(v))
	}
	if b.Sparse != nil && !s.intercept {
		return s.loadSparse(b)
	}
	extra := 0
	if s.intercept {
		extra = 1
	}
	s.x = vec.Grow(s.x, (b.N+extra)*s.d)
	s.y = vec.Grow(s.y, (b.N+extra)*s.t)
	s.copyRows(b)
	n := b.N
	if s.intercept {
		n += s.centre(b.N, w)
	} else {
		for _, v := range w {
			s.weight.Add(v)
		}
	}
	out := staged{n, s.x[:n*s.d], nil, s.y[:n*s.t]}
	s.look(out, w)
	for i, r := range s.root {
		vec.Scale(r, s.x[i*s.d:(i+1)*s.d])
		vec.Scale(r, s.y[i*s.t:(i+1)*s.t])
	}
	return out
}

// look takes note of entries that are not zero, of rows with weight, before the roots of
// the weights; a joining row behind the rows has weight.
func (s *stage) look(rows staged, w []float64) {
	if !slices.Contains(s.some, false) {
		return
	}
	zero := func(x []float64) bool { return !slices.ContainsFunc(x, func(v float64) bool { return v != 0 }) }
	for i := range rows.n {
		if i < len(w) && w[i] == 0 {
			continue
		}
		var x []float64
		if rows.sparse != nil {
			_, x = rows.sparse.Row(i)
		} else if !s.some[0] {
			x = rows.x[i*s.d : (i+1)*s.d]
		}
		s.some[0] = s.some[0] || !zero(x)
		for j, v := range rows.y[i*s.t : (i+1)*s.t] {
			s.some[1+j] = s.some[1+j] || v != 0
		}
	}
}

// loadSparse stages weighted sparse rows that need no centring.
func (s *stage) loadSparse(b dataset.Block) staged {
	s.look(staged{b.N, nil, b.Sparse, b.Y}, b.W)
	s.y = append(s.y[:0], b.Y[:b.N*s.t]...)
	for i, r := range s.root {
		s.weight.Add(b.W[i])
		vec.Scale(r, s.y[i*s.t:(i+1)*s.t])
	}
	scaleRows(&s.own, b.Sparse, s.root)
	return staged{b.N, nil, &s.own, s.y}
}

// scaleRows overwrites dst, in the memory it has, with the rows of src times root.
func scaleRows(dst, src *engine.CSR, root []float64) {
	dst.Rows, dst.Cols = src.Rows, src.Cols
	dst.RowPtr, dst.ColIdx, dst.Val = append(dst.RowPtr[:0], 0), dst.ColIdx[:0], dst.Val[:0]
	for i := range src.Rows {
		idx, val := src.Row(i)
		dst.ColIdx = append(dst.ColIdx, idx...)
		for _, v := range val {
			dst.Val = append(dst.Val, root[i]*v)
		}
		dst.RowPtr = append(dst.RowPtr, len(dst.Val))
	}
}

func (s *stage) copyRows(b dataset.Block) {
	copy(s.y, b.Y[:b.N*s.t])
	if b.Sparse == nil {
		copy(s.x, b.X[:b.N*s.d])
		return
	}
	clear(s.x[:b.N*s.d])
	for i := range b.N {
		idx, val := b.Sparse.Row(i)
		row := s.x[i*s.d:]
		for k, j := range idx {
			row[j] = val[k]
		}
	}
}

// maxSpread bounds Σw‖origin‖²: Σw‖row − origin‖² is then finite.
const maxSpread = 0x1p1020

// overflows reports that the differences of a block's rows from the origin, squared and
// weighted, may sum to more than float64 holds.
func (s *stage) overflows(b dataset.Block) bool {
	if !s.intercept {
		return false
	}
	total := s.weight.Value()
	for i := range b.N {
		total += b.Weight(i)
	}
	far := squaredNorm(s.origin)
	for i := 0; i < b.N && !(s.weight.Value() > 0); i++ { // any of them may become the origin
		if b.Weight(i) > 0 {
			far = math.Max(far, s.rowNorm2(b, i))
		}
	}
	return !(total*far <= maxSpread)
}

// rowNorm2 is the squared norm of row i and its targets.
func (s *stage) rowNorm2(b dataset.Block, i int) float64 {
	row := b.Cut(i, i+1, s.d, s.t, &s.view)
	val := row.X
	if row.Sparse != nil {
		_, val = row.Sparse.Row(0)
	}
	return squaredNorm(val) + squaredNorm(row.Y)
}

func squaredNorm(x []float64) float64 { return vec.Dot(x, x) }

// centre subtracts the block's weighted mean from its n staged rows, writes the
// joining row behind them and returns how many rows that added (0 or 1).
func (s *stage) centre(n int, w []float64) int {
	first := heaviest(n, w)
	if first < 0 {
		return 0
	}
	if !(s.weight.Value() > 0) {
		copy(s.origin, s.x[first*s.d:(first+1)*s.d])
		copy(s.origin[s.d:], s.y[first*s.t:(first+1)*s.t])
	}
	var total neumaier.Sum
	s.reserve()
	clear(s.block)
	clear(s.spread)
	// In parts, summed where the joining row will be: the error of a sum grows with the
	// longest chain of additions.
	sumX, sumY := s.x[n*s.d:(n+1)*s.d], s.y[n*s.t:(n+1)*s.t]
	for lo := 0; lo < n; lo += partRows {
		clear(sumX)
		clear(sumY)
		for i := lo; i < min(lo+partRows, n); i++ {
			v := 1.0
			if w != nil {
				v = w[i]
			}
			total.Add(v)
			relocate(v, s.origin[:s.d], s.x[i*s.d:], sumX, s.spread[:s.d])
			relocate(v, s.origin[s.d:], s.y[i*s.t:], sumY, s.spread[s.d:])
		}
		vec.Axpy(1, sumX, s.block[:s.d])
		vec.Axpy(1, sumY, s.block[s.d:])
	}
	weight := total.Value()
	for j, v := range s.block {
		s.block[j] = v / weight // a reciprocal may overflow
	}
	for i := range n {
		vec.Axpy(-1, s.block[:s.d], s.x[i*s.d:(i+1)*s.d])
		vec.Axpy(-1, s.block[s.d:], s.y[i*s.t:(i+1)*s.t])
	}
	s.count(n, weight)
	added := s.join(weight, 0, s.block, s.spread, n)
	s.weight.Merge(total)
	s.average()
	return added
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

// partRows is how many rows of a block are summed one after another for its mean.
const partRows = 16

// The round-off of a block, in units of u times D = √Σw·(row − origin)² of a column: by
// Cauchy and Schwarz its mean is off by no more than blockMean·u·D/√Σw, for its sum is
// made of chains of partRows, and of their sums, of differences, products and a
// quotient, and of a sum of weights with compensation; its rows are off by as much and
// by their own two differences. inflate is for the rounding of such bounds.
const (
	blockMean = partRows + stageRows/partRows + 8
	blockRow  = blockMean + 3
	inflate   = 1.01
)

// lostSum is what a product, and lostSpread what w·z², loses at most to underflow, for
// w ≤ 2⁵⁰⁰.
const (
	lostSum    = 0x1p-1074
	lostSpread = 0x1p-1020
)

// count books what rounding has done to the n rows of a block of some weight, and
// leaves bounds on the error of its mean in spread.
func (s *stage) count(n int, weight float64) {
	root, rows := math.Sqrt(weight), float64(n)
	for j, v := range s.spread {
		far := math.Sqrt(v+rows*lostSpread) * inflate
		lost := rows * lostSum
		off := blockRow*ulp*far + lost/root
		s.moved[j] = math.Hypot(s.moved[j], off)
		s.spread[j] = (blockMean*ulp*far + lost/root) / root
	}
}

// join adds weight w2 > 0, off by weightError, with mean mu, less the origin, off by
// muError, to the running sums and, where there was weight before, stages the joining
// row at index n. It returns how many rows that added. The caller adds to the weight.
func (s *stage) join(w2, weightError float64, mu, muError []float64, n int) int {
	w1 := s.weight.Value()
	added := 0
	if w1 > 0 {
		f := math.Sqrt(min(w1, w2)) * math.Sqrt(max(w1, w2)/(w1+w2))
		// The weights are off relatively, so is f by half as much, of three of them.
		off := 1.5*(s.relativeWeight(w1)+weightError/w2) + 8*ulp
		for j, v := range mu {
			gap := s.mean[j] - v
			if j < s.d {
				s.x[n*s.d+j] = f * gap
			} else {
				s.y[n*s.t+j-s.d] = f * gap
			}
			wrong := f * inflate * (s.meanError(j) + muError[j] + off*math.Abs(gap))
			s.moved[j] = math.Hypot(s.moved[j], wrong)
		}
		added = 1
	}
	for j, v := range mu {
		s.sum[j].Add(w2 * v)
		s.sumError[j] += inflate*(w2*muError[j]+(weightError+4*ulp*w2)*math.Abs(v)) + lostSum
	}
	return added
}

// relativeWeight bounds the relative round-off of the weight, which is w > 0: integers
// are exact.
func (s *stage) relativeWeight(w float64) float64 {
	if !s.weighted {
		return 0
	}
	n := float64(s.rows)
	return s.weightError/w + (2+n*n*ulp)*ulp
}

// meanError bounds the round-off of mean j: that of its sum, which is compensated, of
// the weight that it is divided by and of the quotient.
func (s *stage) meanError(j int) float64 {
	w, n := s.weight.Value(), float64(s.rows)
	if !(w > 0) {
		return 0
	}
	sum := s.sumError[j]*(1+n*n*ulp) + 2*ulp*math.Abs(s.sum[j].Value())
	return inflate * (sum/w + (s.relativeWeight(w)+2*ulp)*math.Abs(s.mean[j]))
}

// meanErrors are the round-off of means(): of each mean, of adding it to the origin.
func (s *stage) meanErrors() []float64 {
	out := make([]float64, s.d+s.t)
	for j := range out {
		out[j] = s.meanError(j) + ulp*math.Abs(s.origin[j]+s.mean[j])
	}
	return out
}

// displaced bounds, in norm, what rounding in the stage has done to column j of the
// staged rows, whose own norm is given.
func (s *stage) displaced(j int, norm float64) float64 {
	off := s.moved[j]
	if s.weighted { // the root and the product
		off += 4 * ulp * norm
	}
	return inflate * off
}

// decay multiplies all weights by beta.
func (s *stage) decay(beta float64) {
	s.weighted = true
	s.decays++
	s.weightError = beta*(s.weightError+4*ulp*s.weight.Value()) + lostSum
	s.weight.Scale(beta)
	root := math.Sqrt(beta) * (1 + 4*ulp)
	for j := range s.sum {
		s.sumError[j] = beta*(s.sumError[j]+4*ulp*math.Abs(s.sum[j].Value())) + 2*lostSum
		s.sum[j].Scale(beta)
		s.moved[j] *= root
	}
	if s.intercept && s.weight.Value() > 0 {
		s.average()
	}
}

// average sets the mean to what sum and weight make it.
func (s *stage) average() {
	w := s.weight.Value()
	for j := range s.mean {
		s.mean[j] = s.sum[j].Value() / w
	}
}

// stageRows is the most rows that are staged at a time, whatever the block they come
// in: it bounds the memory of a stage.
const stageRows = 256

// rowsPerStage is how many rows of d features are staged at a time: sparse ones are
// written out where they are centred, and are not to take more than 16 MiB, unless 16
// of them do. It depends on nothing else, so neither does what a summary holds.
func rowsPerStage(d int) int {
	const bytes, least = 16 << 20, 16
	return min(max(bytes/8/d, least), stageRows)
}

// merge adds the rows that o has seen and returns what joins the two scatters:
// one row or none.
func (s *stage) merge(o *stage) staged {
	s.x, s.y = vec.Grow(s.x, s.d), vec.Grow(s.y, s.t)
	s.reserve()
	n := 0
	if w2 := o.weight.Value(); s.intercept && w2 > 0 {
		if !(s.weight.Value() > 0) {
			copy(s.origin, o.origin)
		}
		for j, v := range o.mean {
			apart := o.origin[j] - s.origin[j]
			s.block[j] = apart + v
			s.spread[j] = o.meanError(j) + ulp*(math.Abs(apart)+math.Abs(s.block[j]))
			s.moved[j] = math.Hypot(s.moved[j], o.moved[j])
		}
		n = s.join(w2, o.relativeWeight(w2)*w2, s.block, s.spread, 0)
	}
	s.rows += o.rows
	s.weighted = s.weighted || o.weighted
	s.decays += o.decays
	s.weight.Merge(o.weight)
	s.weightError += o.weightError
	if s.intercept && s.weight.Value() > 0 {
		s.average()
	}
	for j, some := range o.some {
		s.some[j] = s.some[j] || some
	}
	out := staged{n, s.x[:n*s.d], nil, s.y[:n*s.t]}
	s.look(out, nil)
	return out
}

// separates reports that the rows of o are so far from the origin of s that their
// distances, squared and weighted, may sum to more than float64 holds.
func (s *stage) separates(o *stage) bool {
	if !s.intercept || !(s.weight.Value() > 0 && o.weight.Value() > 0) {
		return false
	}
	var far float64
	for j, v := range s.origin {
		far += (o.origin[j] - v) * (o.origin[j] - v)
	}
	return !(far*(s.weight.Value()+o.weight.Value()) <= maxSpread)
}
