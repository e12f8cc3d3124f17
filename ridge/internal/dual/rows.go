// Package dual solves ridge regression for data with more features than rows. For n rows A of d features and a
// target b, the dual coefficients α solve (AAᵀ + γI)α = b, and the coefficients are Aᵀα. The package never
// allocates d² numbers, nor n·d numbers for sparse rows.
//
// Rows are stored as they are read. To obtain A, they are centred, if there is an intercept, and multiplied by the
// square roots of their weights. This happens only when A is needed.
package dual

import (
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// Rows holds all rows of a source in memory.
type Rows struct {
	Samples
	parts   []part
	entries int              // largest number of entries of a sparse row
	numbers float64          // capacity of the parts
	bytes   uint64           // memory of the rows in bytes; memory that belongs to the source does not count
	columns *columns         // sparse rows stored by columns; nil until needed
	means   []twofold.Number // Xᵀw, nil until needed
	// meanNorm bounds the norm of the vector of column means. It is computed together with means.
	meanNorm float64
	work     combineWork
}

// A part holds consecutive rows. Either all of them are dense, or all are sparse.
type part struct {
	first, n int
	x        []float64 // n×d, nil if sparse
	sparse   *engine.CSR
}

// NewRows returns Rows without rows.
func NewRows(d, t int, intercept bool) *Rows {
	return &Rows{Samples: Samples{d: d, t: t, intercept: intercept}}
}

// Bytes returns the memory of the rows in bytes, without memory that belongs to the source. If all rows are sparse,
// it includes [SparseBytes], the memory for conjugate gradients and measurements.
func (r *Rows) Bytes() uint64 {
	if !r.Sparse() {
		return r.bytes
	}
	return r.bytes + SparseBytes(r.n, r.d, r.NNZ())
}

// SparseBytes returns a bound on the memory in bytes that conjugate gradients need in addition to the rows. There
// are n sparse rows of d features with the given number of entries in all. The memory is for vectors, dense copies
// of some columns, and a sparse copy of all other columns.
func SparseBytes(n, d int, entries float64) uint64 {
	const vectors = mostShares + 4 + 3 // numbers of d-vectors: the sums of the workers, accumulators and results
	heavy := float64(min(mostHeavy, d)) * float64(n)
	return uint64(8*vectors*float64(d) + 12*entries + 2*8*heavy)
}

// Sparse reports whether all rows are sparse.
func (r *Rows) Sparse() bool {
	for _, p := range r.parts {
		if p.sparse == nil {
			return false
		}
	}
	return len(r.parts) > 0
}

// NNZ returns the number of entries of all rows.
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

// Add appends the rows of a valid block. If copyRows is false, r shares memory with the block.
func (r *Rows) Add(b dataset.Block, copyRows bool) {
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
	case copyRows:
		r.append(b)
	case b.Sparse != nil:
		sparse := *b.Sparse
		r.parts = append(r.parts, part{first: r.n, n: b.N, sparse: &sparse})
	default:
		r.parts = append(r.parts, part{first: r.n, n: b.N, x: b.X})
	}
	r.n += b.N
}

// append copies the features of a block to the last part. It begins a new part if the last part has too little
// room, or if only one of block and part is sparse.
func (r *Rows) append(b dataset.Block) {
	numbers := len(b.X)
	if b.Sparse != nil {
		numbers = b.Sparse.NNZ()
	}
	k := len(r.parts) - 1
	if k < 0 ||
		(r.parts[k].sparse == nil) != (b.Sparse == nil) ||
		r.parts[k].room() < numbers {
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
		s.ColIdx = append(s.ColIdx, idx...)
		s.Val = append(s.Val, val...)
		s.RowPtr = append(s.RowPtr, len(s.Val))
	}
	r.bytes += 8 * uint64(b.N)
	s.Rows = p.n
}

// leastPart is the smallest capacity of a new part. A capacity is the number of entries that fit.
const leastPart = 1 << 16

// begin adds an empty part with room for at least the given number of entries.
func (r *Rows) begin(sparse bool, numbers int) {
	p := part{first: r.n}
	room := max(numbers, leastPart, int(r.numbers/spareShare))
	if sparse {
		p.sparse = &engine.CSR{
			Cols:   r.d,
			RowPtr: []int{0},
			ColIdx: make([]int32, 0, room),
			Val:    make([]float64, 0, room),
		}
		r.bytes += 12 * uint64(room)
	} else {
		p.x = make([]float64, 0, room)
		r.bytes += 8 * uint64(room)
	}
	r.numbers += float64(room)
	r.parts = append(r.parts, p)
}

// spareShare determines the capacity of a new part. It is at least 1/spareShare of the capacity of all earlier
// parts together.
const spareShare = 8

// room returns how many more entries fit in the part's memory.
func (p *part) room() int {
	if p.sparse != nil {
		return cap(p.sparse.Val) - len(p.sparse.Val)
	}
	return cap(p.x) - len(p.x)
}

// KeptBytes returns the memory in bytes of n rows that are copied from a source. If sparse is true, each row has
// the given number of entries. Otherwise each row has d features.
func KeptBytes(n, d int, entries float64, sparse bool) float64 {
	each := 8 * float64(d)
	if sparse {
		each = 12*entries + 8
	}
	return each * float64(n) * (1 + 1.0/spareShare)
}

// Reach returns a bound on √Σwᵢxᵢ² for each feature, where x holds its values before centring and w the
// weights of the rows.
func (r *Rows) Reach() []float64 {
	out := make([]float64, r.d)
	for _, p := range r.parts {
		for i := range p.n {
			root := r.Root(p.first + i)
			if p.sparse != nil {
				idx, val := p.sparse.Row(i)
				for k, j := range idx {
					out[j] = math.Hypot(out[j], root*val[k])
				}
				continue
			}
			for j, v := range p.x[i*r.d : (i+1)*r.d] {
				out[j] = math.Hypot(out[j], root*v)
			}
		}
	}
	for j, v := range out {
		out[j] = v * (1 + float64(r.n+8)*roundoff.Eps) * roundoff.Inflate
	}
	return out
}

// Close must be called after the last call of Add. raw is a bound on the weighted sum of squares of all features
// and targets.
func (r *Rows) Close(raw float64) {
	r.close()
	r.squares = raw + r.lost(raw)
}
