package fd

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/engine"
)

// MaxSquares is the largest sum of squares of all rows that a [Sketch] accepts, 2¹⁰⁰⁰. With this limit, no
// product of a shrink and no sum of the eigensolver overflows.
const MaxSquares = 0x1p1000

// CheckRow returns row i of x, as x.Row does, but first checks the requirements of [engine.CSR]. The entries of the
// row must lie within x.ColIdx and x.Val. The column indices of the row must increase and be below x.Cols. CheckRow
// does not check the values.
//
// If CheckRow returns an error, idx and val are the entries before the first invalid entry. The error does not
// match [ErrShape]. A caller that received x as an argument wraps the error in the ErrShape of its package.
// CheckRow requires i < x.Rows < len(x.RowPtr).
func CheckRow(i int, x *engine.CSR) (idx []int32, val []float64, err error) {
	lo, hi := x.RowPtr[i], x.RowPtr[i+1]
	if lo < 0 || hi < lo || hi > len(x.Val) || hi > len(x.ColIdx) {
		return nil, nil, fmt.Errorf(
			"sparse row %d spans entries %d to %d of %d",
			i+1,
			lo,
			hi,
			min(len(x.Val), len(x.ColIdx)),
		)
	}
	idx, val = x.Row(i)
	last := int32(-1)
	for k, j := range idx {
		if j <= last || int(j) >= x.Cols {
			return idx[:k], val[:k], fmt.Errorf(
				"sparse row %d has column %d after column %d, of %d",
				i+1,
				j,
				last,
				x.Cols,
			)
		}
		last = j
	}
	return idx, val, nil
}

// SquaredNorm returns Σ val[k]², computed by gonum's floats.Dot. The sum may overflow; see [MaxSquares]. If a value
// is not finite, SquaredNorm returns a *[NonFiniteError] for the first such value.
//
// The Row of the error is row. For val[k], the Col of the error is col+idx[k], or col+k if idx is nil.
func SquaredNorm(row, col int, idx []int32, val []float64) (float64, error) {
	norm2 := floats.Dot(val, val)
	if err := checkFinite(row, col, idx, val, norm2); err != nil {
		return 0, err
	}
	return norm2, nil
}

// checkFinite returns a *[NonFiniteError] for the first value that is not finite. norm2 must be the sum of the
// squared values. If norm2 is finite, all values are finite.
func checkFinite(row, col int, idx []int32, val []float64, norm2 float64) error {
	if !math.IsNaN(norm2) && !math.IsInf(norm2, 0) {
		return nil
	}
	for k, v := range val {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			if idx != nil {
				k = int(idx[k])
			}
			return &NonFiniteError{Row: row, Col: col + k, Value: v}
		}
	}
	return nil
}
