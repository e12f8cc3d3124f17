package fd

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/neumaier"
)

// AppendRow appends one row, of length Dim.
//
// Like every Append it checks the whole argument first: on *[NonFiniteError],
// *[RangeError] and [ErrShape] the sketch is unchanged. The argument is not
// written and not kept.
func (s *Sketch) AppendRow(row []float64) error {
	if len(row) != s.cfg.Dim {
		return fmt.Errorf("%w: row of length %d, sketch of dimension %d", errShape, len(row), s.cfg.Dim)
	}
	return s.AppendRows(1, row, s.cfg.Dim)
}

// AppendRows appends n rows stored row-major in x with leading dimension
// ldx >= Dim: row i is x[i·ldx : i·ldx+Dim].
func (s *Sketch) AppendRows(n int, x []float64, ldx int) error {
	if err := s.ready(); err != nil {
		return err
	}
	d := s.cfg.Dim
	if n < 0 || ldx < d || (n > 0 && len(x) < d) || (n > 1 && (len(x)-d)/ldx < n-1) {
		return fmt.Errorf("%w: %d rows of leading dimension %d in a slice of %d, sketch of dimension %d", errShape, n, ldx, len(x), d)
	}
	s.reserve()
	// Rows for which there is room are copied behind the live ones, where nobody
	// sees them until all are known to be good.
	total, first := s.frob, min(n, s.free())
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
		k, err := s.room()
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
	s.frob, s.count = total, s.count+int64(n)
	return nil
}

// AppendFunc appends n rows that write makes where the sketch keeps its own, so that they are
// not copied: it calls write for one matrix of rows after the other, k×Dim, as many as stay in
// the cache, and write overwrites them with rows first to first+k. Nothing of the matrix is to be
// used after write has returned.
//
// Rows can be checked only once they are made. Where one of them is bad the error is that of any
// Append, and what write made in that call is dropped; what it made before stays appended.
func (s *Sketch) AppendFunc(n int, write func(first int, rows engine.Matrix)) error {
	if err := s.ready(); err != nil {
		return err
	}
	if n < 0 {
		return fmt.Errorf("%w: %d rows", errShape, n)
	}
	d, most := s.cfg.Dim, madeRows(s.cfg.Dim)
	for done := 0; done < n; {
		k, err := s.room()
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
		s.frob, s.count = total, s.count+int64(k)
		done += k
	}
	return nil
}

// madeRows is how many rows AppendFunc has made at a time: those of 128 KiB, which stay in the
// second-level cache with what they are made of, but four at least, which kernels take together.
func madeRows(d int) int {
	const bytes, least = 128 << 10, 4
	return max(bytes/8/d/least*least, least)
}

// Append appends the rows of x, an n×Dim matrix whose rows are samples. A
// *mat.Dense is read in place.
func (s *Sketch) Append(x mat.Matrix) error {
	if err := s.ready(); err != nil {
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
	s.reserve()
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
		if _, err := s.room(); err != nil {
			return err
		}
		dst := s.row(s.rows)
		for j := range dst {
			dst[j] = x.At(i, j)
		}
		s.rows++
	}
	s.frob, s.count = total, s.count+int64(n)
	return nil
}

// AppendSparse appends the rows of x, whose column indices must be below Dim. They stay sparse
// until a shrink, and are shrunk more seldom than others: see SparseRows of [Config].
func (s *Sketch) AppendSparse(x *engine.CSR) error {
	if err := s.fits(x); err != nil {
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
		if err := s.place(idx, val, nil, 0); err != nil {
			return err
		}
	}
	s.frob, s.count = total, s.count+int64(x.Rows)
	return nil
}

// fits refuses what is no sparse block of Dim columns, and all where s is not ready.
func (s *Sketch) fits(x *engine.CSR) error {
	if err := s.ready(); err != nil {
		return err
	}
	d := s.cfg.Dim
	if x == nil {
		return fmt.Errorf("%w: no sparse block", errShape)
	}
	if x.Cols != d || x.Rows < 0 || (x.Rows > 0 && len(x.RowPtr) <= x.Rows) {
		return fmt.Errorf("%w: sparse block of %d columns, sketch of dimension %d", errShape, x.Cols, d)
	}
	return nil
}

// sumBlock is how many squares are summed one by one, in four sums. In a long sum of equal
// terms all roundings go the same way; so the sums of blocks are added in pairs, in halves of the
// row cut at blocks, and the error stays below 8·eps whatever the length.
const sumBlock = engine.BlockOfSquares

// half is where a sum of n > sumBlock terms is cut.
func half(n int) int { return (n/2 + sumBlock - 1) / sumBlock * sumBlock }

// squares returns the squared norm of x.
func squares(x []float64) float64 {
	const most = 64 // blocks at a time
	if len(x) > most*sumBlock {
		h := half(len(x))
		return squares(x[:h]) + squares(x[h:])
	}
	var sums [most]float64
	engine.BlockSquares(x, sums[:])
	return pairs(len(x), sums[:])
}

// pairs adds the sums of blocks of n terms.
func pairs(n int, sums []float64) float64 {
	if n > sumBlock {
		h := half(n)
		return pairs(h, sums) + pairs(n-h, sums[h/sumBlock:])
	}
	return sums[0]
}

// admit checks row i of a call and adds its squared norm to total.
func admit(i int, row []float64, norm2 float64, total *neumaier.Sum) error {
	if err := finite(i, 0, nil, row, norm2); err != nil {
		return err
	}
	return addNorm2(i, norm2, total)
}

// admitSparse is admit for row i of x. Of a bad value and a bad column it reports
// the one that comes first.
func admitSparse(i int, x *engine.CSR, total *neumaier.Sum) error {
	idx, val, shape := CheckRow(i, x)
	norm2 := squares(val)
	if err := finite(i, 0, idx, val, norm2); err != nil {
		return err
	}
	if shape != nil {
		return fmt.Errorf("%w: %v", errShape, shape)
	}
	return addNorm2(i, norm2, total)
}

func addNorm2(i int, norm2 float64, total *neumaier.Sum) error {
	total.Add(norm2)
	if !(total.Value() <= MaxSquares) {
		return &RangeError{Row: i}
	}
	return nil
}

// room returns how many rows fit into the buffer, at least one, shrinking a full
// one first.
func (s *Sketch) room() (int, error) {
	s.reserve()
	if s.free() == 0 {
		if err := s.shrink(); err != nil {
			s.bad = err
			return 0, err
		}
	}
	return s.free(), nil
}

// free is how many rows fit into the buffer as it is, beside the sparse ones that wait.
func (s *Sketch) free() int {
	if s.sparse.Rows == 0 {
		return s.capacity() - s.rows
	}
	return min(s.capacity()-s.rows, s.order()-s.live())
}
