// Package dual solves ridge regression through the n×n matrix G = AAᵀ of its rows, for data
// with more features than rows: (G + γI)α = b, x = Aᵀα. Nothing in it is d² large, and nothing
// n·d where the rows are sparse.
//
// The rows are kept as they come. A is made of them where it is wanted: √w times the rows less
// their means, where an intercept is fitted.
package dual

import (
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// Rows are all rows of a source, in memory.
type Rows struct {
	n, d, t   int
	intercept bool
	parts     []part
	y         []float64 // n×t
	w         []float64 // nil: each counts once
	root      []float64 // √w, nil as w is
	tally
	work memory
}

// A tally is what was counted of rows.
type tally struct {
	total   float64 // Σw, rounded
	squares float64 // bounds Σw‖row‖²
	entries int     // the most that a sparse row has
	bytes   uint64  // that the rows take, but for those that are their source's own
}

// A part is some rows that follow each other, dense or sparse.
type part struct {
	first, n int
	x        []float64 // n×d, nil where they are sparse
	sparse   *engine.CSR
}

// memory is what products need beside the rows.
type memory struct {
	columns *columns // of the sparse rows, if all are
	sums    *sums
}

// NewRows begins with none.
func NewRows(d, t int, intercept bool) *Rows { return &Rows{d: d, t: t, intercept: intercept} }

// N is how many rows there are.
func (r *Rows) N() int { return r.n }

// Bytes is the memory that the rows take, but for those that are their source's own.
func (r *Rows) Bytes() uint64 { return r.bytes }

// Total is the weight of all rows.
func (r *Rows) Total() float64 { return r.total }

// Y is target j of row i, Weight the weight of the row.
func (r *Rows) Y(i, j int) float64 { return r.y[i*r.t+j] }

// Weight is the weight of row i.
func (r *Rows) Weight(i int) float64 {
	if r.w == nil {
		return 1
	}
	return r.w[i]
}

// Root is that of the weight of row i.
func (r *Rows) Root(i int) float64 {
	if r.root == nil {
		return 1
	}
	return r.root[i]
}

// Sparse says that all rows are.
func (r *Rows) Sparse() bool {
	for _, p := range r.parts {
		if p.sparse == nil {
			return false
		}
	}
	return len(r.parts) > 0
}

// NNZ is how many entries all rows have.
func (r *Rows) NNZ() (entries float64) {
	for _, p := range r.parts {
		if p.sparse != nil {
			entries += float64(p.sparse.NNZ())
		} else {
			entries += float64(p.n) * float64(r.d)
		}
	}
	return entries
}

// Add appends the rows of a block, which were checked. It keeps their memory if own is false, else
// copies them.
func (r *Rows) Add(b dataset.Block, own bool) {
	if b.N == 0 {
		return
	}
	if b.W != nil && r.w == nil {
		for range r.n {
			r.w = append(r.w, 1)
		}
	}
	for i := range b.N {
		if r.w != nil || b.W != nil {
			r.w = append(r.w, b.Weight(i))
		}
		if b.Sparse != nil {
			r.entries = max(r.entries, b.Sparse.RowPtr[i+1]-b.Sparse.RowPtr[i])
		}
	}
	r.y = append(r.y, b.Y...)
	switch {
	case own:
		r.append(b)
	case b.Sparse != nil:
		sparse := *b.Sparse
		r.parts = append(r.parts, part{first: r.n, n: b.N, sparse: &sparse})
	default:
		r.parts = append(r.parts, part{first: r.n, n: b.N, x: b.X})
	}
	r.n += b.N
}

// append copies the features of a block, behind those of the last part if both are sparse or
// both dense.
func (r *Rows) append(b dataset.Block) {
	k := len(r.parts) - 1
	if k < 0 || (r.parts[k].sparse == nil) != (b.Sparse == nil) {
		r.parts = append(r.parts, part{first: r.n})
		k++
		if b.Sparse != nil {
			r.parts[k].sparse = &engine.CSR{Cols: r.d, RowPtr: []int{0}}
		}
	}
	p := &r.parts[k]
	p.n += b.N
	if b.Sparse == nil {
		p.x = append(p.x, b.X...)
		r.bytes += 8 * uint64(len(b.X))
		return
	}
	s := p.sparse
	for i := range b.N {
		idx, val := b.Sparse.Row(i)
		s.ColIdx, s.Val = append(s.ColIdx, idx...), append(s.Val, val...)
		s.RowPtr = append(s.RowPtr, len(s.Val))
		r.bytes += 12*uint64(len(val)) + 8
	}
	s.Rows = p.n
}

// Close ends the adding. raw bounds Σw‖row‖², targets included.
func (r *Rows) Close(raw float64) {
	r.squares = raw
	r.total = float64(r.n)
	if r.w != nil {
		r.total = 0
		r.root = make([]float64, r.n)
		for i, w := range r.w {
			r.total += w
			r.root[i] = math.Sqrt(w)
		}
	}
}

// share is √(w/Σw) of each row: the direction that centring takes out.
func (r *Rows) share() []float64 {
	q := make([]float64, r.n)
	for i := range q {
		q[i] = math.Sqrt(r.Weight(i) / r.total)
	}
	return q
}

// meanError bounds, in norm, what the computed means of the columns are off by.
func (r *Rows) meanError() float64 {
	if !r.intercept {
		return 0
	}
	chain := float64(sumRows) + float64(r.n)/sumRows + 8
	return chain * roundoff.Unit * math.Sqrt(r.squares/r.total) * roundoff.Inflate
}

// sumRows is how many rows are summed plainly before their sum is added to those of others.
const sumRows = 32

// Size bounds ‖A‖_F: the rows' own norm.
func (r *Rows) Size() float64 { return math.Sqrt(r.squares) * roundoff.Inflate }

// Centred is target j, less the mean where an intercept is fitted, times the roots of the weights.
func (r *Rows) Centred(j int) []float64 {
	out := make([]float64, r.n)
	first := 0.0
	var sum neumaier.Sum
	if r.intercept {
		first = r.Y(r.heaviest(), j)
	}
	for i := range out {
		out[i] = r.Y(i, j) - first
		sum.Add(r.Weight(i) * out[i])
	}
	for i := range out {
		if r.intercept {
			out[i] -= sum.Value() / r.total
		}
		out[i] *= r.Root(i)
	}
	return out
}
