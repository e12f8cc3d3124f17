package npy

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/internal/parallel"
)

// A sparseRows converts rows of a sparse matrix to rows of a block. Readers of the matrix formats use it.
type sparseRows struct {
	*sparse
	columns.Choice
	files []*vector
	done  int64 // number of rows appended or skipped
	order []int
	idx   []int32
	val   []float64
}

// vectors opens arrays of the archive. Close closes them.
func (s *sparseRows) vectors(was dataset.Stamp, members ...string) error {
	for _, member := range members {
		v, err := openVector(s.name, member, was)
		if err != nil {
			return errors.Join(err, s.Close())
		}
		s.files = append(s.files, v)
	}
	return nil
}

// Close closes the arrays.
func (s *sparseRows) Close() error {
	var err error
	for _, v := range s.files {
		err = errors.Join(err, v.close())
	}
	s.files = nil
	return err
}

// end checks that the arrays end as they should. If they do, it returns io.EOF.
func (s *sparseRows) end() error {
	for _, v := range s.files {
		if err := v.end(); err != nil && err != io.EOF {
			return err
		}
	}
	return io.EOF
}

// add appends the next row of the matrix to b. val[k] is the value of the row in column idx[k].
func (s *sparseRows) add(
	b *dataset.Buffer,
	idx []int32,
	val []float64,
	integers bool,
) error {
	row := s.done
	s.done++
	last := int32(-1)
	isPlain := s.To == nil
	for k, j := range idx {
		if j < 0 || int(j) >= s.cols {
			return &dataset.InputError{
				File: s.name,
				Line: int(row) + 1,
				Msg:  fmt.Sprintf("is damaged: row %d has a value in column %d of %d", row+1, int(j)+1, s.cols),
			}
		}
		v := val[k]
		if v-v != 0 {
			return s.notFinite(row, j, v, integers)
		}
		isPlain = isPlain && j > last && v != 0
		last = j
	}
	if isPlain {
		b.CSR.ColIdx = append(b.CSR.ColIdx, idx...)
		b.CSR.Val = append(b.CSR.Val, val...)
		b.EndRow()
		return nil
	}
	return s.addSorted(b, idx, val)
}

// addSorted appends a row of the matrix to b. It sorts the values by column, adds values of the same column, and
// omits zeros. Targets go to b.Y.
func (s *sparseRows) addSorted(b *dataset.Buffer, idx []int32, val []float64) error {
	at := len(b.Y)
	b.Y = slices.Grow(b.Y, s.Targets)[:at+s.Targets]
	clear(b.Y[at:])
	s.idx = s.idx[:0]
	s.val = s.val[:0]
	s.order = s.order[:0]
	for k, j := range idx {
		to := int(j)
		if s.To != nil {
			to = s.To[j]
		}
		switch {
		case to < 0:
		case to >= s.Features:
			b.Y[at+to-s.Features] += val[k]
		default:
			s.order = append(s.order, len(s.idx))
			s.idx = append(s.idx, int32(to))
			s.val = append(s.val, val[k])
		}
	}
	slices.SortStableFunc(s.order, func(i, k int) int {
		return int(s.idx[i]) - int(s.idx[k])
	})
	for i := 0; i < len(s.order); {
		j := s.idx[s.order[i]]
		sum := 0.0
		for ; i < len(s.order) && s.idx[s.order[i]] == j; i++ {
			sum += s.val[s.order[i]]
		}
		if sum-sum != 0 {
			return s.notFinite(s.done-1, j, sum, false)
		}
		if sum != 0 {
			b.CSR.ColIdx = append(b.CSR.ColIdx, j)
			b.CSR.Val = append(b.CSR.Val, sum)
		}
	}
	b.EndRow()
	if j := s.Encode(nil, b.Y[at:]); j >= 0 {
		return &dataset.InputError{
			File:   s.name,
			Line:   int(s.done),
			Column: j + 1,
			Msg:    fmt.Sprintf("row %d, column %d is not a label", s.done, j+1),
		}
	}
	return nil
}

// notFinite returns the error for a value v that is not finite. row and column j count from 0.
func (s *sparseRows) notFinite(row int64, j int32, v float64, integers bool) error {
	in := input{name: s.name, header: header{kind: kind{integers: integers}}}
	return in.notFinite(row, int(j), v)
}

// A pointerReader reads sparse matrices in the formats csr and bsr, which store their rows in order.
type pointerReader struct {
	*sparseRows
	pointers, indices, data *vector
	at                      int64   // index of the next value or block
	ends                    []int64 // for each row read ahead, the index after its last value or block
	blocks                  []int32 // columns of the values or blocks in memory
	values                  []float64
	rowIdx                  []int32 // columns of a row of blocks
	rowVal                  []float64
	inner                   int // row of the next row of blocks; 0 at its beginning
}

func newPointerReader(rows *sparseRows, was dataset.Stamp) (dataset.Reader, error) {
	if err := rows.vectors(was, "indptr", "indices", "data"); err != nil {
		return nil, err
	}
	r := &pointerReader{
		sparseRows: rows,
		pointers:   rows.files[0],
		indices:    rows.files[1],
		data:       rows.files[2],
	}
	want := r.rows/int64(r.height) + 1
	if r.pointers.rows != want || r.indices.rows != r.count {
		err := r.fail(
			"is damaged: indptr has %d entries instead of %d, indices has %d and data %d",
			r.pointers.rows,
			want,
			r.indices.rows,
			r.count,
		)
		return nil, errors.Join(err, r.Close())
	}
	var first [1]int64
	err := r.pointers.ints(first[:])
	if err == nil && first[0] != 0 {
		err = r.fail("is damaged: indptr begins with %d instead of 0", first[0])
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Unchanged implements [dataset.Witness].
func (r *pointerReader) Unchanged() error { return r.pointers.unchanged() }

// Skip implements [dataset.Skipper] for matrices that are not compressed.
func (r *pointerReader) Skip(rows int64) (bool, error) {
	for _, v := range r.files {
		if v.at == nil {
			return false, nil
		}
	}
	var first [1]int64
	r.pointers.seek(rows / int64(r.height))
	if err := r.pointers.ints(first[:]); err != nil {
		return false, err
	}
	if first[0] < 0 || first[0] > r.count {
		return false, r.pointerError(rows/int64(r.height), first[0])
	}
	r.at = first[0]
	r.indices.seek(r.at)
	r.data.seek(r.at * int64(r.height*r.width))
	r.done = rows
	r.inner = int(rows % int64(r.height))
	return true, nil
}

func (r *pointerReader) pointerError(i, end int64) error {
	return r.fail("is damaged: entry %d of indptr is %d", i+1, end)
}

// blockValues is a number of values. Read appends no more rows to a block that has at least so many.
const blockValues = 1 << 16

// Read appends rows until the block has enough values.
func (r *pointerReader) Read(b *dataset.Buffer, rows int) error {
	if r.done == r.rows {
		return r.end()
	}
	for b.N < rows && r.done < r.rows && len(b.CSR.Val) < blockValues {
		n, err := r.peek((rows - b.N + r.height - 1) / r.height)
		if err != nil {
			return err
		}
		if err := r.rowsOf(b, n, rows); err != nil {
			return err
		}
	}
	return nil
}

// peek returns the number of rows whose values will be read together. These rows have at most blockValues values,
// or they are a single row with more values. If no ends of rows are in memory, peek first reads the ends of up to
// the given number of rows. For a bsr matrix, a row means a row of blocks.
func (r *pointerReader) peek(rows int) (n int, err error) {
	if len(r.ends) == 0 {
		r.ends = slices.Grow(r.ends, rows)[:min(int64(rows), r.pointers.rows-r.pointers.next)]
		at := r.pointers.next
		if err := r.pointers.ints(r.ends); err != nil {
			return 0, err
		}
		last := r.at
		for i, end := range r.ends {
			if end < last || end > r.count {
				return 0, r.pointerError(at+int64(i), end)
			}
			last = end
		}
	}
	size := int64(r.height * r.width)
	for n = 1; n < len(r.ends) &&
		n < rows &&
		(r.ends[n]-r.at)*size <= blockValues; n++ {
	}
	if r.format == "bsr" {
		n = 1
	}
	if (r.ends[0]-r.at)*size > maxRowValues {
		return 0, r.fail("has %d values in row %d, more than %d", (r.ends[0]-r.at)*size, r.done+1, maxRowValues)
	}
	return n, nil
}

// rowsOf appends the next rows, whose ends peek has read, to b. For a csr matrix it appends n rows. For a bsr
// matrix it appends rows from the next row of blocks, until b has the given number of rows.
func (r *pointerReader) rowsOf(b *dataset.Buffer, n, rows int) error {
	if r.inner == 0 || len(r.values) == 0 { // after Skip, the row of blocks is not in memory
		if err := r.load(int(r.ends[n-1] - r.at)); err != nil {
			return err
		}
	}
	if r.format == "bsr" {
		return r.blockRows(b, rows)
	}
	from := 0
	for _, end := range r.ends[:n] {
		to := from + int(end-r.at)
		r.at = end
		if err := r.add(b, r.blocks[from:to], r.values[from:to], r.data.integers); err != nil {
			return err
		}
		from = to
	}
	r.ends = r.ends[n:]
	return nil
}

// blockRows appends rows of the current row of blocks, until b has the given number of rows or the row of blocks
// ends.
func (r *pointerReader) blockRows(b *dataset.Buffer, rows int) error {
	for ; r.inner < r.height && b.N < rows; r.inner++ {
		r.rowIdx = r.rowIdx[:0]
		r.rowVal = r.rowVal[:0]
		for k, block := range r.blocks {
			from := (k*r.height + r.inner) * r.width
			r.rowVal = append(r.rowVal, r.values[from:from+r.width]...)
			for j := int64(block) * int64(r.width); len(r.rowIdx) < len(r.rowVal); j++ {
				r.rowIdx = append(r.rowIdx, int32(max(-1, min(j, int64(r.cols)))))
			}
		}
		if err := r.add(b, r.rowIdx, r.rowVal, r.data.integers); err != nil {
			return err
		}
	}
	if r.inner == r.height {
		r.inner = 0
		r.at = r.ends[0]
		r.ends = r.ends[1:]
	}
	return nil
}

// load reads the next count values, or blocks of values, and the columns to which they belong. It reads the values
// and the columns in parallel.
func (r *pointerReader) load(count int) error {
	size := r.height * r.width
	return parallel.Do(2, count*(size+1), func(i int) (err error) {
		if i == 0 {
			r.blocks, err = r.indices.columns(r.blocks[:0], count)
		} else {
			r.values, err = r.data.floats(r.values[:0], count*size)
		}
		return err
	})
}

// columns appends the next n numbers of the array to dst as column indices. A number that cannot be a column index
// becomes −1.
func (v *vector) columns(dst []int32, n int) ([]int32, error) {
	var all [1024]int64
	for n > 0 {
		k := min(n, len(all))
		if err := v.ints(all[:k]); err != nil {
			return dst, err
		}
		for _, j := range all[:k] {
			if j < 0 || j > maxSparseColumns {
				j = -1
			}
			dst = append(dst, int32(j))
		}
		n -= k
	}
	return dst, nil
}
