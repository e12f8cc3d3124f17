package randsketch

import (
	"fmt"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/twofold"
)

// An intake checks rows before they are used, counts them and sums their squares.
type intake struct {
	dim, targets int
	rows         int64
	frob         twofold.Total // ‖A‖²_F
	yy           twofold.Total // ‖Y‖²_F
}

// admit checks n dense rows and adds them to the counts. If a row is invalid, no row is counted.
func (in *intake) admit(n int, x []float64, ldx int, y []float64) error {
	d, t := in.dim, in.targets
	if n < 0 ||
		ldx < d ||
		(n > 0 && len(x) < d) ||
		(n > 1 && (len(x)-d)/ldx < n-1) ||
		(t > 0 && len(y)/t < n) {
		return fmt.Errorf(
			"%w: %d rows of leading dimension %d in slices of %d and %d; the sketch has %d features and %d targets",
			errShape,
			n,
			ldx,
			len(x),
			len(y),
			d,
			t,
		)
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

// admitSparse checks the rows of x and adds them to the counts. If a row is invalid, no row is counted.
func (in *intake) admitSparse(x *engine.CSR, y []float64) error {
	d, t := in.dim, in.targets
	if x.Cols != d ||
		x.Rows < 0 ||
		(x.Rows > 0 && len(x.RowPtr) <= x.Rows) ||
		(t > 0 && len(y)/t < x.Rows) {
		return fmt.Errorf(
			"%w: sparse block of %d rows and %d columns with %d targets; the sketch has %d features and %d targets",
			errShape,
			x.Rows,
			x.Cols,
			len(y),
			d,
			t,
		)
	}
	next := *in
	for i := range x.Rows {
		idx, val, err := fd.CheckRow(i, x)
		if err != nil {
			return fmt.Errorf("%w: %v", errShape, err)
		}
		if err := next.add(i, idx, val, y); err != nil {
			return err
		}
	}
	*in = next
	return nil
}

// add checks row i of a call and adds the squares of its entries and of its targets y. The argument val holds the
// entries in the columns idx, or in all columns if idx is nil.
func (in *intake) add(i int, idx []int32, val, y []float64) error {
	q, err := fd.SquaredNorm(i, 0, idx, val)
	if err != nil {
		return err
	}
	targets := y[i*in.targets : (i+1)*in.targets]
	qy, err := fd.SquaredNorm(i, in.dim, nil, targets)
	if err != nil {
		return err
	}
	in.rows++
	in.frob.Add(q)
	in.yy.Add(qy)
	if !(in.frob.Value()+in.yy.Value() <= fd.MaxSquares) {
		return &fd.RangeError{Row: i}
	}
	return nil
}

// underflow bounds the error of ‖A‖²_F from squares that are smaller than the smallest normal number.
func (in *intake) underflow() float64 {
	return float64(in.rows) * float64(in.dim) * 0x1p-1022
}
