package rows

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/vec"
)

// ErrShape is [engine.ErrShape] with the prefix of package ridge.
var ErrShape = fmt.Errorf("ridge: %w", engine.ErrShape)

// Unfit returns an error with the given message. The error matches [engine.ErrShape] and [engine.ErrInput] with
// errors.Is.
func Unfit(format string, args ...any) error {
	return &unfit{fmt.Sprintf(format, args...)}
}

type unfit struct{ reason string }

func (e *unfit) Error() string { return "ridge: " + e.reason }
func (e *unfit) Is(target error) bool {
	return target == engine.ErrShape || target == engine.ErrInput
}

// MaxSquares is the largest accepted sum of squares over all rows. It is below [fd.MaxSquares], the limit of
// [fd.Sketch]. MaxWeight is the largest accepted weight.
const (
	MaxSquares = fd.MaxSquares / 4
	MaxWeight  = 0x1p500
)

// CheckBlock validates a block of d features and t targets: its shape, and that all entries and sums are finite. It
// returns raw, the sum of squares of earlier blocks, plus the weighted sum of squares of this block. The argument
// firstRow is the index of the block's first row, for error messages.
func CheckBlock(b dataset.Block, d, t int, firstRow int, raw float64) (float64, error) {
	if err := CheckShape(b, d, t, firstRow); err != nil {
		return 0, err
	}
	for i := 0; i < b.N; i += checkedRows {
		var err error
		raw, err = checkRows(b, i, min(i+checkedRows, b.N), d, t, firstRow, raw)
		if err != nil {
			return 0, err
		}
	}
	return raw, nil
}

// checkedRows is the number of rows that are checked together, because [engine.SquaredNorms] computes their norms
// together.
const checkedRows = 4

// checkRows does the work of CheckBlock for rows lo to hi−1 of a block whose shape is valid.
func checkRows(
	b dataset.Block,
	lo, hi, d, t, firstRow int,
	raw float64,
) (float64, error) {
	var norms [checkedRows]float64
	if b.Sparse == nil {
		norms = engine.SquaredNorms(engine.View(hi-lo, d, b.X[lo*d:hi*d]))
	}
	targets := engine.SquaredNorms(engine.View(hi-lo, t, b.Y[lo*t:hi*t]))
	for i := lo; i < hi; i++ {
		row := firstRow + i
		q := norms[i-lo]
		qy := targets[i-lo]
		if b.W != nil {
			if err := CheckWeight(b, i, row, d+t); err != nil {
				return 0, err
			}
		}
		if math.IsNaN(qy) || math.IsInf(qy, 0) {
			var err error
			qy, err = fd.SquaredNorm(row, d, nil, b.Y[i*t:(i+1)*t])
			if err != nil {
				return 0, err
			}
		}
		if b.Sparse != nil ||
			math.IsNaN(q) ||
			math.IsInf(q, 0) {
			idx, val, err := Features(b, i, d)
			if err != nil {
				return 0, err
			}
			q, err = fd.SquaredNorm(row, 0, idx, val)
			if err != nil {
				return 0, err
			}
		}
		raw += b.Weight(i) * (q + qy)
		if !(raw <= MaxSquares) || !(q+qy <= MaxSquares) {
			return 0, &fd.RangeError{Row: row}
		}
	}
	return raw, nil
}

// CheckShape returns an error if the block does not have d features and t targets. It also returns an error if
// the lengths of the block's slices do not match its number of rows.
func CheckShape(b dataset.Block, d, t, firstRow int) error {
	dense := b.Sparse == nil
	sparse := b.Sparse
	if b.N < 0 ||
		!vec.IsProduct(len(b.Y), b.N, t) ||
		(b.W != nil && len(b.W) != b.N) ||
		(dense && !vec.IsProduct(len(b.X), b.N, d)) ||
		(!dense && (sparse.Rows != b.N || sparse.Cols != d || len(sparse.RowPtr) != b.N+1)) {
		return fmt.Errorf(
			"%w: block of %d rows at row %d, with %d weights, is not of %d features and %d targets",
			ErrShape,
			b.N,
			firstRow+1,
			len(b.W),
			d,
			t,
		)
	}
	return nil
}

// A weightError reports a weight that is negative or not finite. It wraps a *[fd.NonFiniteError], whose column
// number is the number of features and targets.
type weightError struct{ at fd.NonFiniteError }

func (e *weightError) Error() string {
	return fmt.Sprintf(
		"ridge: row %d has the weight %v; a weight must be finite and not negative",
		e.at.Row+1,
		e.at.Value,
	)
}
func (e *weightError) Unwrap() error { return &e.at }

// CheckWeight returns an error if the weight of row i of a block is invalid. row and col are the row and column
// numbers that the error contains.
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

// Features returns the d features of row i of a block. For a dense row, val has all features and idx is nil. For a
// sparse row, idx has the column indices and val has the values. Features returns an error if the column indices of
// a sparse row are invalid.
func Features(b dataset.Block, i, d int) (idx []int32, val []float64, err error) {
	if b.Sparse == nil {
		return nil, b.X[i*d : (i+1)*d], nil
	}
	idx, val, err = fd.CheckRow(i, b.Sparse)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrShape, err)
	}
	return idx, val, nil
}

// CheckFinite returns an error if row i of a block has an entry that is not finite. row is the row number that the
// error contains.
func CheckFinite(b dataset.Block, i, d, t, row int) error {
	y := b.Y[i*t : (i+1)*t]
	if _, err := fd.SquaredNorm(row, d, nil, y); err != nil {
		return err
	}
	idx, val, err := Features(b, i, d)
	if err == nil {
		_, err = fd.SquaredNorm(row, 0, idx, val)
	}
	return err
}

// Since returns the rows of block b from row number firstRow of the source onwards.
func Since(firstRow int64, b dataset.Block, d, t int) dataset.Block {
	if firstRow <= b.First {
		return b
	}
	known := min(firstRow-b.First, int64(b.N))
	return b.Cut(int(known), b.N, d, t, new(engine.CSR))
}
