package rows

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/shape"
)

// ErrShape is [engine.ErrShape] in the words of package ridge.
var ErrShape = fmt.Errorf("ridge: %w", engine.ErrShape)

// Unfit is an error of rows, or of numbers of something, that do not fit: it is
// [engine.ErrShape], and says what it is told to say.
func Unfit(format string, args ...any) error { return &unfit{fmt.Sprintf(format, args...)} }

type unfit struct{ reason string }

func (e *unfit) Error() string { return "ridge: " + e.reason }
func (e *unfit) Is(target error) bool {
	return target == engine.ErrShape || target == engine.ErrInput
}

// MaxSquares keeps sums over all rows within what [fd.Sketch] admits, and
// MaxWeight keeps the sum of the weights finite.
const (
	MaxSquares = fd.MaxSquares / 4
	MaxWeight  = 0x1p500
)

// CheckBlock refuses a block that is not of d features and t targets, or holds what
// no sum can, and returns raw plus the weighted sum of its squares. Errors count
// rows from first.
func CheckBlock(b dataset.Block, d, t int, first int, raw float64) (float64, error) {
	if err := CheckShape(b, d, t, first); err != nil {
		return 0, err
	}
	for i := 0; i < b.N; i += checkedRows {
		var err error
		if raw, err = checkRows(b, i, min(i+checkedRows, b.N), d, t, first, raw); err != nil {
			return 0, err
		}
	}
	return raw, nil
}

// checkedRows is how many rows are looked at together: while the first is, the others come.
const checkedRows = 4

// checkRows is CheckBlock for rows lo to hi, checkedRows at most.
func checkRows(b dataset.Block, lo, hi, d, t, first int, raw float64) (float64, error) {
	var norms [checkedRows]float64
	if b.Sparse == nil {
		norms = engine.SquaredNorms(engine.View(hi-lo, d, b.X[lo*d:hi*d]))
	}
	for i := lo; i < hi; i++ {
		row, q := first+i, norms[i-lo]
		if err := CheckWeight(b, i, row, d+t); err != nil {
			return 0, err
		}
		qy, err := fd.SquaredNorm(row, d, nil, b.Y[i*t:(i+1)*t])
		if err != nil {
			return 0, err
		}
		if b.Sparse != nil || math.IsNaN(q) || math.IsInf(q, 0) {
			idx, val, err := Features(b, i, d)
			if err != nil {
				return 0, err
			}
			if q, err = fd.SquaredNorm(row, 0, idx, val); err != nil {
				return 0, err
			}
		}
		if raw += b.Weight(i) * (q + qy); !(raw <= MaxSquares) || !(q+qy <= MaxSquares) {
			return 0, &fd.RangeError{Row: row}
		}
	}
	return raw, nil
}

// CheckShape refuses a block that is not of d features and t targets, or whose rows are
// not all there.
func CheckShape(b dataset.Block, d, t, first int) error {
	dense, sparse := b.Sparse == nil, b.Sparse
	if b.N < 0 || !shape.IsProduct(len(b.Y), b.N, t) || (b.W != nil && len(b.W) != b.N) ||
		(dense && !shape.IsProduct(len(b.X), b.N, d)) ||
		(!dense && (sparse.Rows != b.N || sparse.Cols != d || len(sparse.RowPtr) != b.N+1)) {
		return fmt.Errorf("%w: block of %d rows at row %d, with %d weights, is not of %d features and %d targets", ErrShape, b.N, first+1, len(b.W), d, t)
	}
	return nil
}

// A weightError reports a weight that is negative or not finite. To those that look by
// errors.As it is the *[fd.NonFiniteError] of the column behind features and targets.
type weightError struct{ at fd.NonFiniteError }

func (e *weightError) Error() string {
	return fmt.Sprintf("ridge: row %d has the weight %v; a weight must be finite and not negative", e.at.Row+1, e.at.Value)
}
func (e *weightError) Unwrap() error { return &e.at }

// CheckWeight refuses the weight of row i of a block, called row and col in errors.
func CheckWeight(b dataset.Block, i, row, col int) error {
	w := b.Weight(i)
	if !(w >= 0) || math.IsInf(w, 0) {
		return &weightError{fd.NonFiniteError{Row: row, Col: col, Value: w}}
	}
	if w > MaxWeight {
		return &fd.RangeError{Row: row}
	}
	return nil
}

// Features returns those of row i of a block of d, and their columns if they are sparse,
// once these are known to be columns.
func Features(b dataset.Block, i, d int) (idx []int32, val []float64, err error) {
	if b.Sparse == nil {
		return nil, b.X[i*d : (i+1)*d], nil
	}
	if idx, val, err = fd.CheckRow(i, b.Sparse); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrShape, err)
	}
	return idx, val, nil
}

// CheckFinite looks for an entry of row i that is not finite.
func CheckFinite(b dataset.Block, i, d, t, row int) error {
	if _, err := fd.SquaredNorm(row, d, nil, b.Y[i*t:(i+1)*t]); err != nil {
		return err
	}
	idx, val, err := Features(b, i, d)
	if err == nil {
		_, err = fd.SquaredNorm(row, 0, idx, val)
	}
	return err
}

// Since cuts off the rows before row first.
func Since(first int64, b dataset.Block, d, t int) dataset.Block {
	if first <= b.First {
		return b
	}
	return b.Cut(int(min(first-b.First, int64(b.N))), b.N, d, t, new(engine.CSR))
}
