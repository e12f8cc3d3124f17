package rows

import (
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
)

// A Reader prepares the rows of a pass, with their features and targets. It multiplies all rows by the square roots
// of their weights. From dense rows it also subtracts the means. It does not centre sparse rows, so that they stay
// sparse.
type Reader struct {
	d, t int
	mean []float64  // d+t; nil without an intercept
	x    []float64  // dense rows, centred and weighted
	root []float64  // √w of the current rows; empty without weights
	own  engine.CSR // sparse rows times √w
}

// NewReader returns a Reader for rows of d features and t targets. mean holds the d+t means that the Reader
// subtracts. If mean is nil, it subtracts nothing.
func NewReader(d, t int, mean []float64) *Reader {
	return &Reader{d: d, t: t, mean: mean}
}

// Mean returns the means that are subtracted from the features. It returns nil if nothing is subtracted.
func (r *Reader) Mean() []float64 {
	if r.mean == nil {
		return nil
	}
	return r.mean[:r.d]
}

// TargetMean returns the mean that is subtracted from target j, or 0 if nothing is subtracted.
func (r *Reader) TargetMean(j int) float64 {
	if r.mean == nil {
		return 0
	}
	return r.mean[r.d+j]
}

// Read returns the prepared features of the N rows of a block. Dense rows are returned in x (N×d, for d features),
// and sparse rows in sparse. The result is valid until the next call, and may share memory with the block.
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

// Weighted returns v times the square root of the weight of row i of the current block.
func (r *Reader) Weighted(i int, v float64) float64 {
	if len(r.root) == 0 {
		return v
	}
	return r.root[i] * v
}

// roots overwrites dst with the square roots of the elements of w, and returns dst.
func roots(dst, w []float64) []float64 {
	dst = dst[:0]
	for _, v := range w {
		dst = append(dst, math.Sqrt(v))
	}
	return dst
}

// scaleRows overwrites dst with the rows of src, each multiplied by its element of root. It reuses the memory of
// dst.
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
