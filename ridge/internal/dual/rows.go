// Package dual solves ridge regression through the n×n matrix G = AAᵀ of its rows, for data
// with more features than rows: (G + γI)α = b, x = Aᵀα. Nothing in it is d² large, and nothing
// n·d where the rows are sparse.
//
// The rows are kept as they come. A is made of them where it is wanted: √w times the rows less
// their means, where an intercept is fitted.
package dual

import (
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
)

// Rows are all rows of a source, in memory.
type Rows struct {
	Samples
	parts    []part
	entries  int              // the most that a sparse row has
	numbers  float64          // that the parts have room for
	bytes    uint64           // that the rows take, but for those that are their source's own
	columns  *columns         // of sparse rows, once they are wanted
	means    []twofold.Number // Xᵀw, once it is wanted
	meanNorm float64          // bounds the norm of the means, once means are there
	work     combineWork
}

// A part is some rows that follow each other, dense or sparse.
type part struct {
	first, n int
	x        []float64 // n×d, nil where they are sparse
	sparse   *engine.CSR
}

// NewRows begins with none.
func NewRows(d, t int, intercept bool) *Rows {
	return &Rows{Samples: Samples{d: d, t: t, intercept: intercept}}
}

// Bytes is the memory that the rows take, but for those that are their source's own, and where they
// are sparse what conjugate gradients and measuring take beside, at most.
func (r *Rows) Bytes() uint64 {
	if !r.Sparse() {
		return r.bytes
	}
	return r.bytes + SparseBytes(r.n, r.d, r.NNZ())
}

// SparseBytes is what a solution by conjugate gradients of n sparse rows of d features takes beside
// them, at most: vectors, the columns of many entries written out, and the others by themselves.
func SparseBytes(n, d int, entries float64) uint64 {
	const vectors = mostShares + 4 + 3 // sums of the workers, accumulators and what they come to
	return uint64(8*vectors*float64(d) + 12*entries + 2*8*float64(min(mostHeavy, d))*float64(n))
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

// append copies the features of a block: behind those of the last part if both are sparse, or both
// dense, and there is room, so that nothing that was copied is copied again.
func (r *Rows) append(b dataset.Block) {
	numbers := len(b.X)
	if b.Sparse != nil {
		numbers = b.Sparse.NNZ()
	}
	k := len(r.parts) - 1
	if k < 0 || (r.parts[k].sparse == nil) != (b.Sparse == nil) || r.parts[k].room() < numbers {
		r.begin(b.Sparse != nil, numbers)
		k++
	}
	p := &r.parts[k]
	p.n += b.N
	if b.Sparse == nil {
		p.x = append(p.x, b.X...)
		return
	}
	s := p.sparse
	for i := range b.N {
		idx, val := b.Sparse.Row(i)
		s.ColIdx, s.Val = append(s.ColIdx, idx...), append(s.Val, val...)
		s.RowPtr = append(s.RowPtr, len(s.Val))
	}
	r.bytes += 8 * uint64(b.N)
	s.Rows = p.n
}

// leastPart is how many numbers a part has room for at least; others have it for an eighth of what
// there is.
const leastPart = 1 << 16

// begin begins a part with room for so many numbers at least.
func (r *Rows) begin(sparse bool, numbers int) {
	p, room := part{first: r.n}, max(numbers, leastPart, int(r.numbers/spareShare))
	if sparse {
		p.sparse = &engine.CSR{Cols: r.d, RowPtr: []int{0}, ColIdx: make([]int32, 0, room), Val: make([]float64, 0, room)}
		r.bytes += 12 * uint64(room)
	} else {
		p.x = make([]float64, 0, room)
		r.bytes += 8 * uint64(room)
	}
	r.numbers += float64(room)
	r.parts = append(r.parts, p)
}

// spareShare is the share of all numbers that a part has room for.
const spareShare = 8

// room is for how many numbers more there is room.
func (p *part) room() int {
	if p.sparse != nil {
		return cap(p.sparse.Val) - len(p.sparse.Val)
	}
	return cap(p.x) - len(p.x)
}

// KeptBytes is the memory of n rows that are kept of a source: of entries each, or dense ones of d
// features.
func KeptBytes(n, d int, entries float64, sparse bool) float64 {
	each := 8 * float64(d)
	if sparse {
		each = 12*entries + 8
	}
	return each * float64(n) * (1 + 1.0/spareShare)
}

// Close ends the adding. raw bounds Σw‖row‖², targets included.
func (r *Rows) Close(raw float64) {
	r.close()
	r.squares = raw + r.lost(raw)
}
