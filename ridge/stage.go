package ridge

import (
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/neumaier"
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
// Means are kept relative to an origin, the first row with weight: the joining
// row is a difference of means, whose round-off must be that of the data's
// spread and not that of their distance from zero.
type stage struct {
	d, t      int
	intercept bool

	rows     int64          // rows seen
	weight   float64        // Σw
	weighted bool           // some rows came with weights, or were decayed
	decays   int64          // each of which rounds all sums
	origin   []float64      // d+t, of use once weight > 0
	sum      []neumaier.Sum // Σw·(row − origin), d+t
	mean     []float64      // sum/weight
	x, y     []float64      // staged rows, n×d and n×t
	block    []float64      // mean of the block at hand, less the origin, d+t
	root     []float64      // √w of the block at hand
	view     engine.CSR     // the sparse rows at hand
	own      engine.CSR     // sparse rows times √w
}

func newStage(d, t int, intercept bool) *stage {
	return &stage{
		d: d, t: t, intercept: intercept, origin: make([]float64, d+t),
		sum: make([]neumaier.Sum, d+t), mean: make([]float64, d+t), block: make([]float64, d+t),
	}
}

// means returns the weighted means of the features and targets seen, d+t.
func (s *stage) means() []float64 {
	out := append([]float64(nil), s.origin...)
	axpy(1, s.mean, out)
	return out
}

// distance is √Σw·‖mean − origin‖ over entries lo to hi of a row: by how much
// centring had to move the rows, in norm.
func (s *stage) distance(lo, hi int) float64 {
	return math.Sqrt(s.weight) * norm(s.mean[lo:hi])
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
		s.weight += float64(b.N)
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
	s.x = grow(s.x, (b.N+extra)*s.d)
	s.y = grow(s.y, (b.N+extra)*s.t)
	s.copyRows(b)
	n := b.N
	if s.intercept {
		n += s.centre(b.N, w)
	} else {
		for _, v := range w {
			s.weight += v
		}
	}
	for i, r := range s.root {
		scale(r, s.x[i*s.d:(i+1)*s.d])
		scale(r, s.y[i*s.t:(i+1)*s.t])
	}
	return staged{n, s.x[:n*s.d], nil, s.y[:n*s.t]}
}

// loadSparse stages weighted sparse rows that need no centring.
func (s *stage) loadSparse(b dataset.Block) staged {
	s.y = append(s.y[:0], b.Y[:b.N*s.t]...)
	for i, r := range s.root {
		s.weight += b.W[i]
		scale(r, s.y[i*s.t:(i+1)*s.t])
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

// centre subtracts the block's weighted mean from its n staged rows, writes the
// joining row behind them and returns how many rows that added (0 or 1).
func (s *stage) centre(n int, w []float64) int {
	first := firstWeight(n, w)
	if first == n {
		return 0
	}
	if !(s.weight > 0) {
		copy(s.origin, s.x[first*s.d:(first+1)*s.d])
		copy(s.origin[s.d:], s.y[first*s.t:(first+1)*s.t])
	}
	total := 0.0
	clear(s.block)
	// In parts, summed where the joining row will be: the error of a sum grows with the
	// longest chain of additions.
	const partRows = 16
	sumX, sumY := s.x[n*s.d:(n+1)*s.d], s.y[n*s.t:(n+1)*s.t]
	for lo := 0; lo < n; lo += partRows {
		clear(sumX)
		clear(sumY)
		for i := lo; i < min(lo+partRows, n); i++ {
			v := 1.0
			if w != nil {
				v = w[i]
			}
			total += v
			x, y := s.x[i*s.d:(i+1)*s.d], s.y[i*s.t:(i+1)*s.t]
			axpy(-1, s.origin[:s.d], x)
			axpy(-1, s.origin[s.d:], y)
			axpy(v, x, sumX)
			axpy(v, y, sumY)
		}
		axpy(1, sumX, s.block[:s.d])
		axpy(1, sumY, s.block[s.d:])
	}
	scale(1/total, s.block)
	for i := range n {
		axpy(-1, s.block[:s.d], s.x[i*s.d:(i+1)*s.d])
		axpy(-1, s.block[s.d:], s.y[i*s.t:(i+1)*s.t])
	}
	return s.join(total, s.block, n)
}

// firstWeight is the first of n rows with weight, n if there is none.
func firstWeight(n int, w []float64) int {
	for i, v := range w {
		if v > 0 {
			return i
		}
	}
	if w == nil {
		return 0
	}
	return n
}

// join adds weight w₂ > 0 with mean mu, less the origin, to the running mean
// and, where there was weight before, stages the joining row at index n. It
// returns how many rows that added.
func (s *stage) join(w2 float64, mu []float64, n int) int {
	w1 := s.weight
	s.weight += w2
	added := 0
	if w1 > 0 {
		f := math.Sqrt(w1) * math.Sqrt(w2/s.weight)
		for j := range s.d {
			s.x[n*s.d+j] = f * (s.mean[j] - mu[j])
		}
		for j := range s.t {
			s.y[n*s.t+j] = f * (s.mean[s.d+j] - mu[s.d+j])
		}
		added = 1
	}
	for j := range s.sum {
		s.sum[j].Add(w2 * mu[j])
	}
	s.average()
	return added
}

// weightError bounds the relative round-off of weight, a plain sum: integers are
// exact.
func (s *stage) weightError() float64 {
	if !s.weighted {
		return 0
	}
	return ulp * float64(s.rows+s.decays)
}

// decay multiplies all weights by beta.
func (s *stage) decay(beta float64) {
	s.weighted = true
	s.decays++
	s.weight *= beta
	for j := range s.sum {
		s.sum[j].Scale(beta)
	}
	if s.intercept && s.weight > 0 {
		s.average()
	}
}

// average sets the mean to what sum and weight make it.
func (s *stage) average() {
	for j := range s.mean {
		s.mean[j] = s.sum[j].Value() / s.weight
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

func grow(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	return x[:n]
}

// merge adds the rows that o has seen and returns what joins the two scatters:
// one row or none.
func (s *stage) merge(o *stage) staged {
	s.rows += o.rows
	s.weighted = s.weighted || o.weighted
	s.decays += o.decays
	s.x, s.y = grow(s.x, s.d), grow(s.y, s.t)
	n := 0
	switch {
	case !s.intercept:
		s.weight += o.weight
	case o.weight > 0:
		if !(s.weight > 0) {
			copy(s.origin, o.origin)
		}
		for j, v := range o.mean {
			s.block[j] = (o.origin[j] - s.origin[j]) + v
		}
		n = s.join(o.weight, s.block, 0)
	}
	return staged{n, s.x[:n*s.d], nil, s.y[:n*s.t]}
}
