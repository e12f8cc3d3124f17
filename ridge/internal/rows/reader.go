package rows

import (
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
)

// A Reader makes rows of [A Y] of the blocks of a pass: dense ones less means that are
// known, times the roots of their weights; sparse ones times the roots alone, so that
// they stay sparse.
type Reader struct {
	d, t int
	mean []float64  // d+t, nil without intercept
	x    []float64  // dense rows, centred and weighted
	root []float64  // √w of the rows at hand, empty where all count once
	own  engine.CSR // sparse rows times √w
}

// NewReader makes the reader of rows of d features and t targets that are centred by
// mean (d+t), nil for none.
func NewReader(d, t int, mean []float64) *Reader { return &Reader{d: d, t: t, mean: mean} }

// Mean is that of the features, nil where nothing is subtracted.
func (r *Reader) Mean() []float64 {
	if r.mean == nil {
		return nil
	}
	return r.mean[:r.d]
}

// TargetMean is what is subtracted of target j.
func (r *Reader) TargetMean(j int) float64 {
	if r.mean == nil {
		return 0
	}
	return r.mean[r.d+j]
}

// Read returns the rows of a block, dense (N×d) or sparse, valid until the next call; it
// may be the block's own memory.
func (r *Reader) Read(b dataset.Block) (x []float64, sparse *engine.CSR) {
	r.root = roots(r.root, b.W)
	switch {
	case b.Sparse != nil && len(r.root) > 0:
		scaleRows(&r.own, b.Sparse, r.root)
		return nil, &r.own
	case b.Sparse != nil:
		return nil, b.Sparse
	case r.mean == nil && len(r.root) == 0:
		return b.X, nil
	}
	d := r.d
	r.x = vec.Grow(r.x, b.N*d)
	for i := range b.N {
		src, dst := b.X[i*d:(i+1)*d], r.x[i*d:(i+1)*d]
		copy(dst, src)
		if r.mean != nil {
			vec.Axpy(-1, r.mean[:d], dst)
		}
		if len(r.root) > 0 {
			vec.Scale(r.root[i], dst)
		}
	}
	return r.x, nil
}

// Weighted is v times the root of the weight of row i of the block last read.
func (r *Reader) Weighted(i int, v float64) float64 {
	if len(r.root) == 0 {
		return v
	}
	return r.root[i] * v
}

// roots overwrites dst with the roots of w: as many as there are weights.
func roots(dst, w []float64) []float64 {
	dst = dst[:0]
	for _, v := range w {
		dst = append(dst, math.Sqrt(v))
	}
	return dst
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
