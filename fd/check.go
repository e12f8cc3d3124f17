package fd

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/engine"
)

// MaxSquares = 2¹⁰⁰⁰ is the largest ‖A‖²_F that a [Sketch] admits. It keeps every product
// of a shrink, and the eigensolver's own sums, far from overflow.
const MaxSquares = 0x1p1000

// CheckRow returns row i of x, as x.Row does, where it is what [engine.CSR]
// promises: its entries are among those of x, and its columns increase and are
// below x.Cols. Otherwise the error says what is wrong, for the caller to wrap in
// its package's ErrShape, and idx and val are the entries before the first bad
// one. The values are not looked at. It needs i < x.Rows < len(x.RowPtr).
func CheckRow(i int, x *engine.CSR) (idx []int32, val []float64, err error) {
	lo, hi := x.RowPtr[i], x.RowPtr[i+1]
	if lo < 0 || hi < lo || hi > len(x.Val) || hi > len(x.ColIdx) {
		return nil, nil, fmt.Errorf("sparse row %d spans entries %d to %d of %d", i+1, lo, hi, min(len(x.Val), len(x.ColIdx)))
	}
	idx, val = x.Row(i)
	last := int32(-1)
	for k, j := range idx {
		if j <= last || int(j) >= x.Cols {
			return idx[:k], val[:k], fmt.Errorf("sparse row %d has column %d after column %d, of %d", i+1, j, last, x.Cols)
		}
		last = j
	}
	return idx, val, nil
}

// SquaredNorm returns Σ val², summed by gonum's floats.Dot. The values are part of
// row row of a call: of the columns col, col+1, …, or, if idx is not nil, of
// col+idx[0], col+idx[1], …. The first that is not finite is a *[NonFiniteError].
// The sum may overflow; see [MaxSquares].
func SquaredNorm(row, col int, idx []int32, val []float64) (float64, error) {
	norm2 := floats.Dot(val, val)
	if err := finite(row, col, idx, val, norm2); err != nil {
		return 0, err
	}
	return norm2, nil
}

// finite looks for an entry that is not finite where the squared norm is not,
// which it never is if an entry isn't.
func finite(row, col int, idx []int32, val []float64, norm2 float64) error {
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
