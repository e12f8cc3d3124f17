package ridge

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
)

// maxSquares keeps sums over all rows within what [fd.Sketch] admits, and
// maxWeight keeps the sum of the weights finite.
const (
	maxSquares = fd.MaxSquares / 4
	maxWeight  = 0x1p500
)

// checkBlock refuses a block that is not of d features and t targets, or holds what
// no sum can, and returns raw plus the weighted sum of its squares. Errors count
// rows from first.
func checkBlock(b dataset.Block, d, t int, first int, raw float64) (float64, error) {
	dense, sparse := b.Sparse == nil, b.Sparse
	switch {
	case b.N < 0 || !isProduct(len(b.Y), b.N, t) || (b.W != nil && len(b.W) != b.N),
		dense && !isProduct(len(b.X), b.N, d),
		!dense && (sparse.Rows != b.N || sparse.Cols != d || len(sparse.RowPtr) != b.N+1):
		return 0, fmt.Errorf("%w: block of %d rows at row %d, with %d weights, is not of %d features and %d targets", ErrShape, b.N, first, len(b.W), d, t)
	}
	for i := range b.N {
		row, w := first+i, 1.0
		if b.W != nil {
			if w = b.W[i]; !(w >= 0) || math.IsInf(w, 0) {
				return 0, &fd.NonFiniteError{Row: row, Col: d + t, Value: w}
			}
			if w > maxWeight {
				return 0, &fd.RangeError{Row: row}
			}
		}
		var idx []int32
		val := b.Y[i*t : (i+1)*t]
		qy, err := fd.SquaredNorm(row, d, nil, val)
		if err != nil {
			return 0, err
		}
		if dense {
			val = b.X[i*d : (i+1)*d]
		} else {
			if idx, val, err = fd.CheckRow(i, sparse); err != nil {
				return 0, fmt.Errorf("%w: %w", ErrShape, err)
			}
		}
		q, err := fd.SquaredNorm(row, 0, idx, val)
		if err != nil {
			return 0, err
		}
		if raw += w * (q + qy); !(raw <= maxSquares) || !(q+qy <= maxSquares) {
			return 0, &fd.RangeError{Row: row}
		}
	}
	return raw, nil
}

// isProduct reports n = a·b for a, b >= 0, whatever their size.
func isProduct(n, a, b int) bool {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return hi == 0 && lo == uint64(n)
}
