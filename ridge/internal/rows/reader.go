package rows

import (
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
)

// A Reader turns the blocks of a pass into rows of [A Y]. It multiplies all rows by the square roots of their weights.
// From dense rows it also subtracts the means. It does not centre sparse rows, so that they stay sparse.
type Reader struct {
	d, t int
	mean []float64  // d+t; nil without an intercept
	x    []float64  // dense rows, centred and weighted
	root []float64  // √w of the current rows; empty without weights
	own  engine.CSR // sparse rows times √w
}

// NewReader returns a Reader for rows of d features and t targets. mean holds the d+t means to subtract; nil means
// that nothing is subtracted.
func NewReader(d, t int, mean []float64) *Reader {
	return &Reader{d: d, t: t, mean: mean}
}

// Mean returns the means of the features that are subtracted, or nil.
func (r *Reader) Mean() []float64 {
	if r.mean == nil {
		return nil
	}
	return r.mean[:r.d]
}

// TargetMean returns the mean that is subtracted from target j.
func (r *Reader) TargetMean(j int) float64 {
	if r.mean == nil {
		return 0
	}
	return r.mean[r.d+j]
}

// Read returns the rows of a block, either dense in x (N×d) or sparse. They are valid until the next call, and
// may share memory with the block.
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
		src := b.X[i*d : (i+1)*d]
		dst := r.x[i*d : (i+1)*d]
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

// Weighted returns v times √w, for the weight w of row i of the current block.
func (r *Reader) Weighted(i int, v float64) float64 {
	if len(r.root) == 0 {
		return v
	}
	return r.root[i] * v
}

// roots overwrites dst with the square roots of w and returns it.
func roots(dst, w []float64) []float64 {
	dst = dst[:0]
	for _, v := range w {
		dst = append(dst, math.Sqrt(v))
	}
	return dst
}

// scaleRows overwrites dst, in its memory, with src's rows times root.
func scaleRows(dst, src *engine.CSR, root []float64) {
	dst.Rows, dst.Cols = src.Rows, src.Cols
	dst.RowPtr = append(dst.RowPtr[:0], 0)
	dst.ColIdx = dst.ColIdx[:0]
	dst.Val = dst.Val[:0]
	for i := range src.Rows {
		idx, val := src.Row(i)
		dst.ColIdx = append(dst.ColIdx, idx...)
		for _, v := range val {
			dst.Val = append(dst.Val, root[i]*v)
		}
		dst.RowPtr = append(dst.RowPtr, len(dst.Val))
	}
}
