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
	d := s.cfg.Dim
	if n < 0 || ldx < d || (n > 0 && len(x) < d) || (n > 1 && (len(x)-d)/ldx < n-1) {
		return fmt.Errorf("%w: %d rows of leading dimension %d in a slice of %d, sketch of dimension %d", errShape, n, ldx, len(x), d)
	}
	if s.bad != nil {
		return s.bad
	}
	s.reserve()
	// Rows for which there is room are copied behind the live ones, where nobody
	// sees them until all are known to be good, and checked while they are read.
	total, first := s.frob, min(n, s.capacity()-s.rows)
	for i := range n {
		row := x[i*ldx : i*ldx+d]
		var norm2 float64
		if i < first {
			norm2 = copyNorm2(s.row(s.rows+i), row)
		} else {
			norm2 = squares(row)
		}
		if err := admit(i, row, norm2, &total); err != nil {
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

// Append appends the rows of x, an n×Dim matrix whose rows are samples. A
// *mat.Dense is read in place.
func (s *Sketch) Append(x mat.Matrix) error {
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
	if s.bad != nil {
		return s.bad
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

// AppendSparse appends the rows of x, whose column indices must be below Dim.
func (s *Sketch) AppendSparse(x *engine.CSR) error {
	d := s.cfg.Dim
	if x == nil {
		return fmt.Errorf("%w: no sparse block", errShape)
	}
	if x.Cols != d || x.Rows < 0 || (x.Rows > 0 && len(x.RowPtr) <= x.Rows) {
		return fmt.Errorf("%w: sparse block of %d columns, sketch of dimension %d", errShape, x.Cols, d)
	}
	if s.bad != nil {
		return s.bad
	}
	total := s.frob
	for i := range x.Rows {
		if err := admitSparse(i, x, &total); err != nil {
			return err
		}
	}
	for i := range x.Rows {
		if _, err := s.room(); err != nil {
			return err
		}
		dst := s.row(s.rows)
		clear(dst)
		idx, val := x.Row(i)
		for k, j := range idx {
			dst[j] = val[k]
		}
		s.rows++
	}
	s.frob, s.count = total, s.count+int64(x.Rows)
	return nil
}

// sumBlock is how many squares are summed one by one, in four sums. In a long sum of equal
// terms all roundings go the same way; so a longer row is cut in halves, down to blocks of
// 256, and the error stays below 8·eps whatever the length.
const sumBlock = 256

// half is where a sum of n > sumBlock terms is cut.
func half(n int) int { return (n/2 + sumBlock - 1) / sumBlock * sumBlock }

// squares returns the squared norm of x.
func squares(x []float64) float64 {
	if len(x) > sumBlock {
		h := half(len(x))
		return squares(x[:h]) + squares(x[h:])
	}
	return squaresOfBlock(x)
}

func squaresOfBlock(x []float64) float64 {
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		v := x[i : i+4 : i+4]
		s0 += v[0] * v[0]
		s1 += v[1] * v[1]
		s2 += v[2] * v[2]
		s3 += v[3] * v[3]
	}
	for ; i < len(x); i++ {
		s0 += x[i] * x[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// copyNorm2 copies src to dst and returns its squared norm, the same bits as
// squares: it reads the row once.
func copyNorm2(dst, src []float64) float64 {
	if len(src) > sumBlock {
		h := half(len(src))
		return copyNorm2(dst[:h], src[:h]) + copyNorm2(dst[h:], src[h:])
	}
	return copyNorm2OfBlock(dst, src)
}

func copyNorm2OfBlock(dst, src []float64) float64 {
	dst = dst[:len(src)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(src); i += 4 {
		x, y := src[i:i+4:i+4], dst[i:i+4:i+4]
		a, b, c, d := x[0], x[1], x[2], x[3]
		y[0], y[1], y[2], y[3] = a, b, c, d
		s0 += a * a
		s1 += b * b
		s2 += c * c
		s3 += d * d
	}
	for ; i < len(src); i++ {
		dst[i] = src[i]
		s0 += src[i] * src[i]
	}
	return (s0 + s1) + (s2 + s3)
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
	if s.rows == s.capacity() {
		if err := s.shrink(); err != nil {
			s.bad = err
			return 0, err
		}
	}
	return s.capacity() - s.rows, nil
}
