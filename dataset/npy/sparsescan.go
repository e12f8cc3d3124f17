package npy

import (
	"errors"
	"io"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/parallel"
)

// A scanReader reads sparse matrices in the formats csc and coo, which do not store their values in the order of
// the rows. It keeps a window of consecutive rows in memory, and reads the whole matrix once for each window. If
// one window is not enough, it first reads the matrix to count the values in buckets of rows, and makes the windows
// from buckets.
type scanReader struct {
	*sparseRows
	was      dataset.Stamp
	witness  *vector // an array that is open during the whole pass
	buckets  []int64 // number of values in each bucket, or nil
	shift    int     // a bucket has 2^shift rows
	lo, hi   int64   // rows of the window
	starts   []int   // starts[i] is the index in order of the first value of row lo+i; the last element is the end
	order    []int32 // the values of the window in the order of the rows
	rowOf    []int32 // row of each value, from lo on
	colOf    []int32
	valOf    []float64
	integers bool
	rowIdx   []int32
	rowVal   []float64
}

// Limits of a window, the rows that are in memory. It has about mostRows rows and at most mostValues values, or a
// single bucket of rows with more values. They are variables because tests set smaller limits.
var (
	mostValues = int64(1 << 23)
	mostRows   = int64(1 << 22)
)

// mostBuckets is the largest number of buckets.
const mostBuckets = 1 << 16

func newScanReader(rows *sparseRows, was dataset.Stamp) (dataset.Reader, error) {
	witness, err := openVector(rows.name, "shape", was)
	if err != nil {
		return nil, err
	}
	return &scanReader{sparseRows: rows, was: was, witness: witness}, nil
}

// Close closes the archive.
func (r *scanReader) Close() error {
	return errors.Join(r.sparseRows.Close(), r.witness.close())
}

// Unchanged implements [dataset.Witness].
func (r *scanReader) Unchanged() error { return r.witness.unchanged() }

// Skip implements [dataset.Skipper].
func (r *scanReader) Skip(rows int64) (bool, error) {
	r.done, r.hi = rows, rows
	return true, nil
}

// Read appends rows until the block has enough values.
func (r *scanReader) Read(b *dataset.Buffer, rows int) error {
	if r.done == r.rows {
		return io.EOF
	}
	for b.N < rows && r.done < r.rows && len(b.CSR.Val) < blockValues {
		if r.done == r.hi {
			if err := r.load(); err != nil {
				return err
			}
		}
		at := int(r.done - r.lo)
		r.rowIdx = r.rowIdx[:0]
		r.rowVal = r.rowVal[:0]
		for _, k := range r.order[r.starts[at]:r.starts[at+1]] {
			r.rowIdx = append(r.rowIdx, r.colOf[k])
			r.rowVal = append(r.rowVal, r.valOf[k])
		}
		if err := r.add(b, r.rowIdx, r.rowVal, r.integers); err != nil {
			return err
		}
	}
	return nil
}

// load reads the values of the window of rows that begins at the next row. It first chooses the end of the window.
func (r *scanReader) load() error {
	if r.buckets == nil && (r.count > mostValues || r.rows > mostRows) {
		for r.rows>>r.shift >= mostBuckets {
			r.shift++
		}
		r.buckets = make([]int64, r.rows>>r.shift+1)
		err := r.scan(func(rows []int64, _ []int32, _ []float64) {
			for _, i := range rows {
				r.buckets[i>>r.shift]++
			}
		})
		if err != nil {
			return err
		}
	}
	r.lo, r.hi = r.done, r.rows
	if r.buckets != nil {
		k := r.lo >> r.shift
		values := r.buckets[k]
		if values > maxRowValues {
			return r.fail(
				"has %d values in the rows from %d on, more than %d; convert it to csr: scipy.sparse.save_npz(file, x.tocsr())",
				values,
				r.lo+1,
				maxRowValues,
			)
		}
		for k++; k < int64(len(r.buckets)) &&
			values+r.buckets[k] <= mostValues &&
			k<<r.shift-r.lo < mostRows; k++ {
			values += r.buckets[k]
		}
		r.hi = min(k<<r.shift, r.rows)
	}
	r.rowOf = r.rowOf[:0]
	r.colOf = r.colOf[:0]
	r.valOf = r.valOf[:0]
	err := r.scan(func(rows []int64, cols []int32, values []float64) {
		for k, i := range rows {
			if i >= r.lo && i < r.hi {
				r.rowOf = append(r.rowOf, int32(i-r.lo))
				r.colOf = append(r.colOf, cols[k])
				r.valOf = append(r.valOf, values[k])
			}
		}
	})
	if err == nil {
		r.sort()
	}
	return err
}

// sort sorts the values of the window by row. It keeps the order of the values of a row.
func (r *scanReader) sort() {
	n := int(r.hi - r.lo)
	r.starts = slices.Grow(r.starts[:0], n+1)[:n+1]
	clear(r.starts)
	for _, i := range r.rowOf {
		r.starts[i+1]++
	}
	for i := range n {
		r.starts[i+1] += r.starts[i]
	}
	r.order = slices.Grow(r.order[:0], len(r.rowOf))[:len(r.rowOf)]
	for k, i := range r.rowOf {
		r.order[r.starts[i]] = int32(k)
		r.starts[i]++
	}
	copy(r.starts[1:], r.starts) // starts[i] is now the end of row i
	r.starts[0] = 0
}

// scan reads the whole matrix in pieces. For each piece it calls visit with the row, the column and the value of
// each stored entry. The column is −1 if the file states an impossible one.
func (r *scanReader) scan(visit func(rows []int64, cols []int32, values []float64)) (err error) {
	second := "indptr"
	first := "indices"
	switch {
	case r.coords:
		first, second = "coords", "coords"
	case r.format == "coo":
		first, second = "row", "col"
	}
	if err := r.vectors(r.was, first, "data", second); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, r.sparseRows.Close())
	}()
	index := r.files[0]
	data := r.files[1]
	columns := r.files[2]
	r.integers = data.integers
	rowCount, want := r.count, r.count
	switch {
	case r.format == "csc":
		want = int64(r.cols) + 1
	case r.coords:
		rowCount, want = 2*r.count, 2*r.count
	}
	if index.rows != rowCount || data.rows != r.count || columns.rows != want {
		return r.fail(
			"is damaged: %s has %d entries, data %d and %s %d",
			first,
			index.rows,
			data.rows,
			second,
			columns.rows,
		)
	}
	if r.coords { // the rows precede the columns
		if err := columns.skip(r.count); err != nil {
			return err
		}
	}
	p := pointers{v: columns, column: -1}
	rows := make([]int64, maxPiece)
	cols := make([]int32, 0, maxPiece)
	values := make([]float64, 0, maxPiece)
	for left := r.count; left > 0; {
		n := int(min(left, maxPiece))
		left -= int64(n)
		err := parallel.Do(3, 3*n, func(i int) (err error) {
			switch {
			case i == 0:
				err = index.ints(rows[:n])
			case i == 1:
				values, err = data.floats(values[:0], n)
			case r.format == "coo":
				cols, err = columns.columns(cols[:0], n)
			default:
				cols, err = p.columns(cols[:0], n)
			}
			return err
		})
		if err != nil {
			return err
		}
		n = len(cols) // csc may have more values than its pointers state
		for k, i := range rows[:n] {
			if i < 0 || i >= r.rows {
				return r.fail("is damaged: value %d is in row %d of %d", r.count-left-int64(n-k)+1, i+1, r.rows)
			}
		}
		visit(rows[:n], cols, values[:n])
		if n < maxPiece {
			break
		}
	}
	if err := r.end(); err != io.EOF {
		return err
	}
	return nil
}

// A pointers finds the column of each value of a csc matrix. The file stores only where the values of each column
// end.
type pointers struct {
	v      *vector
	ahead  []int64 // pointers that were read
	column int32   // the column of the next value
	at     int64   // index of the next value
	end    int64   // index after the last value of the column
}

// columns appends the columns of the next n values to dst. If fewer than n values are left, it appends fewer.
func (p *pointers) columns(dst []int32, n int) ([]int32, error) {
	for n > 0 {
		for p.at == p.end {
			if len(p.ahead) == 0 {
				if p.v.next == p.v.rows {
					return dst, nil
				}
				isFirst := p.v.next == 0
				p.ahead = make([]int64, min(p.v.rows-p.v.next, maxPiece))
				if err := p.v.ints(p.ahead); err != nil {
					return dst, err
				}
				if isFirst && p.ahead[0] != 0 {
					return dst, p.error()
				}
				if isFirst {
					p.ahead = p.ahead[1:]
					continue
				}
			}
			if p.ahead[0] < p.end {
				return dst, p.error()
			}
			p.end = p.ahead[0]
			p.ahead = p.ahead[1:]
			p.column++
		}
		k := int(min(int64(n), p.end-p.at))
		for range k {
			dst = append(dst, p.column)
		}
		n -= k
		p.at += int64(k)
	}
	return dst, nil
}

func (p *pointers) error() error {
	return &dataset.InputError{File: p.v.name, Msg: "is damaged: its entries decrease, or do not begin with 0"}
}
