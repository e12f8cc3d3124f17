package paper

import (
	"context"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
)

// maxSquares is what the squares of all rows may sum to, as in package ridge.
const maxSquares = fd.MaxSquares / 4

// triangle streams the triangular factor of the rows [A Y], q = d+t wide, as an exact
// fit by QR does: it stacks rows below the factor of those before and factors again.
// Its first d rows and columns are R of A = QR.
//
// J. Demmel et al., "Communication-optimal parallel and sequential QR and LU
// factorizations" (2012).
type triangle struct {
	be      engine.Backend
	d, q    int
	stack   []float64 // the factor above the rows that are to be folded in
	fill    int       // these rows
	rows    int       // all rows seen
	squares float64   // the sum of theirs
	work    []float64
}

// newTriangle refuses what takes more than 8 GiB.
func newTriangle(be engine.Backend, d, t int) (*triangle, error) {
	const leastRows, most = 256, 8 << 30
	q := d + t
	if need := 24 * (float64(q) + leastRows) * float64(q); need > most {
		return nil, &ridge.SizeError{Dim: d, Bytes: uint64(need), Limit: most}
	}
	rows := q + max(leastRows, q)
	return &triangle{be: be, d: d, q: q, stack: make([]float64, rows*q), work: make([]float64, be.QRWork(rows, q))}, nil
}

// factor makes one pass over src and returns R, d×d with zeros below the diagonal. A
// row of weight w is taken √w times.
func factor(ctx context.Context, src dataset.Source, be engine.Backend) ([]float64, error) {
	_, d, t := src.Dims()
	if d < 1 || t < 1 {
		return nil, fmt.Errorf("paper: %w: %d features and %d targets", ridge.ErrShape, d, t)
	}
	f, err := newTriangle(be, d, t)
	if err != nil {
		return nil, err
	}
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for i := range b.N {
			if err := f.add(b, i); err != nil {
				return nil, err
			}
		}
	}
	if f.rows == 0 {
		return nil, ridge.ErrEmpty
	}
	f.fold()
	r := make([]float64, d*d)
	for i := range d {
		copy(r[i*d:(i+1)*d], f.stack[i*f.q:])
	}
	return r, nil
}

// add takes in row i of a block.
func (f *triangle) add(b dataset.Block, i int) error {
	from := (f.q + f.fill) * f.q
	row, t := f.stack[from:from+f.q], f.q-f.d
	copy(row[f.d:], b.Y[i*t:(i+1)*t])
	if b.Sparse == nil {
		copy(row, b.X[i*f.d:(i+1)*f.d])
	} else {
		clear(row[:f.d])
		idx, val, err := fd.CheckRow(i, b.Sparse)
		if err != nil {
			return fmt.Errorf("paper: %w: %w", ridge.ErrShape, err)
		}
		for k, j := range idx {
			row[j] = val[k]
		}
	}
	if b.W != nil {
		root := math.Sqrt(b.W[i])
		for j := range row {
			row[j] *= root
		}
	}
	var err error
	if f.squares, err = addSquares(f.squares, f.rows, row); err != nil {
		return err
	}
	f.rows++
	if f.fill++; from+2*f.q > len(f.stack) {
		f.fold()
	}
	return nil
}

// fold replaces the factor by that of itself and the rows below it.
func (f *triangle) fold() {
	q := f.q
	f.be.QR(engine.View(q+f.fill, q, f.stack), f.work)
	for i := range q {
		clear(f.stack[i*q : i*q+i])
	}
	f.fill = 0
}

// addSquares returns the sum of the squares of a row, which errors call by its
// number, and of those before it.
func addSquares(sum float64, number int, row []float64) (float64, error) {
	q, err := fd.SquaredNorm(number, 0, nil, row)
	if err != nil {
		return 0, err
	}
	if sum += q; !(sum <= maxSquares) {
		return 0, &fd.RangeError{Row: number}
	}
	return sum, nil
}

// checkRows holds n contiguous rows to finite entries and to the range of a sketch.
func checkRows(n int, x []float64) (err error) {
	c, sum := len(x)/n, 0.0
	for i := range n {
		if sum, err = addSquares(sum, i, x[i*c:(i+1)*c]); err != nil {
			return err
		}
	}
	return nil
}
