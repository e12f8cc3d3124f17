package fd

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
)

// AppendRow appends a copy of row, which must have one element for each of the Dim columns.
//
// All Append methods except [Sketch.AppendFunc] check their arguments before they change the sketch. If they
// return a *[NonFiniteError], a *[RangeError] or [ErrShape], the sketch is unchanged.
func (s *Sketch) AppendRow(row []float64) error {
	if len(row) != s.cfg.Dim {
		return fmt.Errorf("%w: row of length %d, sketch of dimension %d", errShape, len(row), s.cfg.Dim)
	}
	return s.AppendRows(1, row, s.cfg.Dim)
}

// AppendRows appends n rows of the matrix x. Row i is x[i·ldx : i·ldx+Dim]. The distance ldx between the starts of
// two rows must be at least Dim, the number of columns.
func (s *Sketch) AppendRows(n int, x []float64, ldx int) error {
	if err := s.checkReady(); err != nil {
		return err
	}
	d := s.cfg.Dim
	if n < 0 ||
		ldx < d ||
		(n > 0 && len(x) < d) ||
		(n > 1 && (len(x)-d)/ldx < n-1) {
		return fmt.Errorf(
			"%w: %d rows of leading dimension %d in a slice of %d, sketch of dimension %d",
			errShape,
			n,
			ldx,
			len(x),
			d,
		)
	}
	s.allocate()
	// Copy as many rows as fit into the buffer. s.rows is increased only after all n rows have been checked, so
	// that an error leaves the sketch unchanged.
	total := s.frob
	first := min(n, s.freeRows())
	for i := range n {
		row := x[i*ldx : i*ldx+d]
		if i < first {
			copy(s.row(s.rows+i), row)
		}
		if err := admit(i, row, squares(row), &total); err != nil {
			return err
		}
	}
	s.rows += first
	for done := first; done < n; {
		k, err := s.makeRoom()
		if err != nil {
			return err
		}
		k = min(k, n-done)
		for i := range k {
			copy(s.row(s.rows+i), x[(done+i)*ldx:])
		}
		s.rows += k
		done += k
	}
	s.frob = total
	s.count += int64(n)
	return nil
}

// AppendFunc appends n rows that the function write generates in the memory of the sketch. It calls write for
// blocks of k rows, where k is small enough for the second-level cache. Each call must fill its argument block, a
// k×Dim matrix. The rows of block are the rows firstRow to firstRow+k−1 of the n rows. write must not use the
// memory of block after it has returned.
//
// AppendFunc checks each block after write returns. If a row is invalid, it discards the block and returns the same
// error as the other Append methods. The rows of earlier blocks remain in the sketch.
func (s *Sketch) AppendFunc(n int, write func(firstRow int, block engine.Matrix)) error {
	if err := s.checkReady(); err != nil {
		return err
	}
	if n < 0 {
		return fmt.Errorf("%w: %d rows", errShape, n)
	}
	d := s.cfg.Dim
	most := chunkRows(s.cfg.Dim)
	for done := 0; done < n; {
		k, err := s.makeRoom()
		if err != nil {
			return err
		}
		k = min(k, n-done, most)
		write(done, engine.Strided(k, d, s.buf[s.rows*s.ld:], s.ld))
		total := s.frob
		for i := range k {
			row := s.row(s.rows + i)
			if err := admit(done+i, row, squares(row), &total); err != nil {
				return err
			}
		}
		s.rows += k
		s.frob = total
		s.count += int64(k)
		done += k
	}
	return nil
}

// chunkRows returns the number of rows of d columns in a block of AppendFunc. It is the largest multiple of four
// with which a block fits in 128 KiB, but at least four. It is a multiple of four, because kernels process four
// rows together.
func chunkRows(d int) int {
	const bytes, least = 128 << 10, 4
	return max(bytes/8/d/least*least, least)
}

// Append appends the rows of x, an n×Dim matrix whose rows are samples. If x is a mat.RawMatrixer, for example
// a *mat.Dense, Append reads its elements directly from its memory.
func (s *Sketch) Append(x mat.Matrix) error {
	if err := s.checkReady(); err != nil {
		return err
	}
	if dense, ok := x.(*mat.Dense); x == nil || (ok && dense == nil) {
		return fmt.Errorf("%w: no matrix", errShape)
	}
	n, d := x.Dims()
	if d != s.cfg.Dim {
		return fmt.Errorf("%w: matrix of %d columns, sketch of dimension %d", errShape, d, s.cfg.Dim)
	}
	if raw, ok := x.(mat.RawMatrixer); ok {
		r := raw.RawMatrix()
		return s.AppendRows(n, r.Data, r.Stride)
	}
	s.allocate()
	total, row := s.frob, s.ws.row
	for i := range n {
		for j := range row {
			row[j] = x.At(i, j)
		}
		if err := admit(i, row, squares(row), &total); err != nil {
			return err
		}
	}
	for i := range n {
		if _, err := s.makeRoom(); err != nil {
			return err
		}
		dst := s.row(s.rows)
		for j := range dst {
			dst[j] = x.At(i, j)
		}
		s.rows++
	}
	s.frob = total
	s.count += int64(n)
	return nil
}

// AppendSparse appends the rows of x, whose column indices must be below Dim. The sketch stores the rows in sparse
// form until the next shrink. Config.SparseRows limits the number of sparse rows in the sketch.
func (s *Sketch) AppendSparse(x *engine.CSR) error {
	if err := s.checkBlock(x); err != nil {
		return err
	}
	total := s.frob
	for i := range x.Rows {
		if err := admitSparse(i, x, &total); err != nil {
			return err
		}
	}
	for i := range x.Rows {
		idx, val := x.Row(i)
		if err := s.placeSparse(idx, val, nil, 0); err != nil {
			return err
		}
	}
	s.frob = total
	s.count += int64(x.Rows)
	return nil
}

// checkBlock returns an error if x is nil, does not have Dim columns, or has too few row pointers. It also returns
// an error if s cannot be used.
func (s *Sketch) checkBlock(x *engine.CSR) error {
	if err := s.checkReady(); err != nil {
		return err
	}
	d := s.cfg.Dim
	if x == nil {
		return fmt.Errorf("%w: no sparse block", errShape)
	}
	if x.Cols != d ||
		x.Rows < 0 ||
		(x.Rows > 0 && len(x.RowPtr) <= x.Rows) {
		return fmt.Errorf("%w: sparse block of %d columns, sketch of dimension %d", errShape, x.Cols, d)
	}
	return nil
}

// sumBlock is the number of squares in a block. The squares of a block are added to four partial sums, one after
// the other. The sums of the blocks are then added pairwise. [SquaresError] bounds the error of the result.
const sumBlock = engine.BlockOfSquares

// SquaresError returns a bound on the relative error of the squared norm that a sketch computes for a row of n
// numbers. The unit of the bound is 2⁻⁵². A sketch adds these squared norms to get [Bound].Frobenius2. A term of
// the squared norm is rounded
//
//   - once in its product
//   - at most min(n, engine.BlockOfSquares)/4 + 2 times in its partial sum
//   - twice when the four partial sums are added
//   - once for each doubling of the number of blocks
func SquaresError(n int) float64 {
	blocks := max(n+sumBlock-1, sumBlock) / sumBlock
	within := float64(min(n, sumBlock)/4 + 5)
	across := math.Ceil(math.Log2(float64(blocks)))
	return (within + across) / 2
}

// half returns the position at which a sum of n terms is split. It is n/2, rounded up to a multiple of sumBlock. n
// must be larger than sumBlock.
func half(n int) int {
	return (n/2 + sumBlock - 1) / sumBlock * sumBlock
}

// squares returns the squared norm of x.
func squares(x []float64) float64 {
	const most = 64 // blocks at a time
	if len(x) > most*sumBlock {
		h := half(len(x))
		return squares(x[:h]) + squares(x[h:])
	}
	var sums [most]float64
	engine.BlockSquares(x, sums[:])
	return addPairwise(len(x), sums[:])
}

// addPairwise adds the elements of sums pairwise. sums has one element for each block of a sum of n terms.
func addPairwise(n int, sums []float64) float64 {
	if n > sumBlock {
		h := half(n)
		return addPairwise(h, sums) + addPairwise(n-h, sums[h/sumBlock:])
	}
	return sums[0]
}

// admit adds norm2, the squared norm of row, to total. It returns an error if a value of row is not finite, or if
// total exceeds [MaxSquares]. The error names the row number i.
func admit(i int, row []float64, norm2 float64, total *twofold.Total) error {
	if err := checkFinite(i, 0, nil, row, norm2); err != nil {
		return err
	}
	return addNorm2(i, norm2, total)
}

// admitSparse checks the column indices and the values of row i of x, and adds the squared norm of the row to total.
// It returns an error for the first invalid entry of the row, or if total exceeds [MaxSquares].
func admitSparse(i int, x *engine.CSR, total *twofold.Total) error {
	idx, val, shape := CheckRow(i, x)
	norm2 := squares(val)
	if err := checkFinite(i, 0, idx, val, norm2); err != nil {
		return err
	}
	if shape != nil {
		return fmt.Errorf("%w: %v", errShape, shape)
	}
	return addNorm2(i, norm2, total)
}

func addNorm2(i int, norm2 float64, total *twofold.Total) error {
	total.Add(norm2)
	if !(total.Value() <= MaxSquares) {
		return &RangeError{Row: i}
	}
	return nil
}

// makeRoom returns the number of free rows in the buffer. If the buffer is full, makeRoom first shrinks the sketch,
// so that the result is at least one.
func (s *Sketch) makeRoom() (int, error) {
	s.allocate()
	if s.freeRows() == 0 {
		if err := s.shrink(); err != nil {
			s.bad = err
			return 0, err
		}
	}
	return s.freeRows(), nil
}

// freeRows returns the number of dense rows that can still be added to the buffer.
func (s *Sketch) freeRows() int {
	if s.sparse.Rows == 0 {
		return s.capacity() - s.rows
	}
	return min(s.capacity()-s.rows, s.order()-s.live())
}
