package randsketch

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/neumaier"
)

// maxSquares is the sum of squares that [fd.Sketch] admits too: products are then
// far from overflow.
const maxSquares = 0x1p1000

// An intake checks rows before anything is made of them, and counts them.
type intake struct {
	dim, targets int
	rows         int64
	frob         neumaier.Sum // ‖A‖²_F
	yy           neumaier.Sum // ‖Y‖²_F
}

// admit counts n dense rows, or none at all if one of them is bad.
func (in *intake) admit(n int, x []float64, ldx int, y []float64) error {
	d, t := in.dim, in.targets
	if n < 0 || ldx < d || (n > 0 && len(x) < d) || (n > 1 && (len(x)-d)/ldx < n-1) || (t > 0 && len(y)/t < n) {
		return fmt.Errorf("%w: %d rows of leading dimension %d in slices of %d and %d; the sketch has %d features and %d targets",
			ErrShape, n, ldx, len(x), len(y), d, t)
	}
	next := *in
	for i := range n {
		if err := next.add(i, nil, x[i*ldx:i*ldx+d], y); err != nil {
			return err
		}
	}
	*in = next
	return nil
}

// admitSparse counts the rows of x, or none at all if one of them is bad.
func (in *intake) admitSparse(x *engine.CSR, y []float64) error {
	d, t := in.dim, in.targets
	if x.Cols != d || x.Rows < 0 || (x.Rows > 0 && len(x.RowPtr) <= x.Rows) || (t > 0 && len(y)/t < x.Rows) {
		return fmt.Errorf("%w: sparse block of %d rows and %d columns with %d targets; the sketch has %d features and %d targets",
			ErrShape, x.Rows, x.Cols, len(y), d, t)
	}
	next := *in
	for i := range x.Rows {
		if err := checkIndices(i, x); err != nil {
			return err
		}
		idx, val := x.Row(i)
		if err := next.add(i, idx, val, y); err != nil {
			return err
		}
	}
	*in = next
	return nil
}

// checkIndices refuses a row of x that is not one of a CSR.
func checkIndices(i int, x *engine.CSR) error {
	lo, hi := x.RowPtr[i], x.RowPtr[i+1]
	if lo < 0 || hi < lo || hi > len(x.Val) || hi > len(x.ColIdx) {
		return fmt.Errorf("%w: sparse row %d spans entries %d to %d of %d", ErrShape, i, lo, hi, min(len(x.Val), len(x.ColIdx)))
	}
	last := int32(-1)
	for _, j := range x.ColIdx[lo:hi] {
		if j <= last || int(j) >= x.Cols {
			return fmt.Errorf("%w: sparse row %d has column %d after column %d, of %d", ErrShape, i, j, last, x.Cols)
		}
		last = j
	}
	return nil
}

// add counts row i of a call, with the values val in the columns idx (nil for all).
func (in *intake) add(i int, idx []int32, val, y []float64) error {
	q, err := squares(i, 0, idx, val)
	if err != nil {
		return err
	}
	qy, err := squares(i, in.dim, nil, y[i*in.targets:(i+1)*in.targets])
	if err != nil {
		return err
	}
	in.rows++
	in.frob.Add(q)
	in.yy.Add(qy)
	if !(in.frob.Value()+in.yy.Value() <= maxSquares) {
		return &fd.RangeError{Row: i}
	}
	return nil
}

// squares sums the squares of part of row i, whose first column is col; idx, if
// not nil, are the columns of val.
func squares(i, col int, idx []int32, val []float64) (float64, error) {
	q := floats.Dot(val, val) // not finite if an entry isn't
	if math.IsNaN(q) || math.IsInf(q, 0) {
		for k, v := range val {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				if idx != nil {
					k = int(idx[k])
				}
				return 0, &fd.NonFiniteError{Row: i, Col: col + k, Value: v}
			}
		}
	}
	return q, nil
}
