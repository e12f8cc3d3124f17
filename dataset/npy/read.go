package npy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/sbinet/npyio/npy"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/internal/little"
	"github.com/fdridge/fdridge/internal/vec"
)

// chunkBytes is how much is read at once of an array in C order: it stays in the
// cache.
const chunkBytes = 1 << 18

// windowBytes is the most memory for rows of an array in Fortran order: the more
// rows, the longer the runs that are read of each column. More than windowRows gain
// nothing.
const (
	windowBytes = 16 << 20
	windowRows  = 1024
)

// stripColumns columns are read and put into rows together. What is written to a row is
// then a long run, which is twice as fast as single lines of the cache in many places.
// tileRows of their rows are decoded at a time, which stay in the nearest cache.
const (
	stripColumns = 16 * columns.Tile
	tileRows     = 16
)

// A rowReader reads an array in C order.
type rowReader struct {
	*input
	columns.Choice
	chunk int       // rows that are read at once
	raw   []byte    // these rows, where they don't go to the block at once
	plain []float64 // the same, decoded
	done  int64     // rows that are read
	parts []part    // of a block, where they are read side by side
}

func newRowReader(in *input, c columns.Choice) *rowReader {
	return &rowReader{input: in, Choice: c, chunk: int(min(int64(max(1, chunkBytes/(in.cols*in.size))), in.rows))}
}

func (r *rowReader) Close() error { return r.close() }

// Skip is that of [dataset.Skipper].
func (r *rowReader) Skip(rows int64) (bool, error) {
	s, ok := r.data.(io.Seeker)
	if !ok {
		return false, nil
	}
	if _, err := s.Seek(rows*int64(r.cols)*int64(r.size), io.SeekCurrent); err != nil {
		return false, r.wrap(err, int(r.done+1))
	}
	r.done += rows
	return true, nil
}

func (r *rowReader) Read(b *dataset.Buffer, rows int) error {
	rows = int(min(int64(rows), r.rows-r.done))
	if rows == 0 {
		return r.end()
	}
	if parts := r.sideBySide(rows); parts > 1 {
		return r.readParts(b, rows, parts)
	}
	r.Reserve(b, rows)
	for b.N < rows {
		n := min(rows-b.N, r.chunk)
		if r.available != nil {
			come := r.available() / (r.cols * r.size)
			if come == 0 && b.N > 0 {
				break
			}
			n = min(n, max(come, 1))
		}
		x, y, err := r.read(b, n)
		if err != nil {
			return err
		}
		if err := r.check(&r.Choice, x, y, r.done); err != nil {
			return err
		}
		r.done += int64(n)
	}
	return nil
}

// read appends the next n rows: float64 as they lie in the file go straight to where their
// features belong.
func (r *rowReader) read(b *dataset.Buffer, n int) (x, y []float64, err error) {
	if r.asIs {
		if raw := little.Bytes(r.Whole(b, n)); len(raw) > 0 {
			if err := r.fill(raw); err != nil {
				return nil, nil, err
			}
			x, y = r.Settle(b, n)
			return x, y, nil
		}
	}
	r.raw, r.plain = slices.Grow(r.raw[:0], n*r.cols*r.size)[:n*r.cols*r.size], vec.Grow(r.plain, n*r.cols)
	if err := r.fill(r.raw); err != nil {
		return nil, nil, err
	}
	r.decode(r.plain, r.raw)
	x, y = r.Grow(b, n)
	r.Rows(x, y, r.plain)
	return x, y, nil
}

// fill reads the next entries.
func (r *rowReader) fill(raw []byte) error {
	got, err := io.ReadFull(r.data, raw)
	if err != nil {
		return r.short(err, r.done+int64(got/(r.cols*r.size)))
	}
	return nil
}

// end returns io.EOF where the rows are all there is.
func (r *rowReader) end() error {
	next := make([]byte, len(npy.Magic))
	n, err := io.ReadFull(r.data, next)
	if n > 0 {
		return r.excess(next[:n])
	}
	return r.wrap(err, int(r.rows))
}

// excess reports bytes behind the last row, the first of which are next.
func (in *input) excess(next []byte) error {
	what := ""
	if bytes.Equal(next, npy.Magic[:]) {
		what = ", another array; give each a file of its own, or save them all with np.savez"
	}
	return &dataset.InputError{File: in.name, Msg: fmt.Sprintf("has more bytes than its %d rows, from byte %d on%s", in.rows, in.length(), what)}
}

// short reports an array that ends before its last row.
func (in *input) short(err error, whole int64) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &dataset.InputError{File: in.name, Msg: fmt.Sprintf("is truncated: row %d of %d is not whole", whole+1, in.rows)}
	}
	return in.wrap(err, int(whole+1))
}

// check refuses rows with an entry that is not finite, and puts codes in the place of categories.
// The first of them is row first of the array, counted from 0.
func (in *input) check(c *columns.Choice, x, y []float64, first int64) error {
	if i, j, v, bad := c.Find(x, y); bad {
		return in.notFinite(first+int64(i), j, v)
	}
	if j := c.Encode(x); j >= 0 {
		return &dataset.InputError{File: in.name, Column: j + 1, Msg: fmt.Sprintf("column %d %s", j+1, columns.TooManyLevels)}
	}
	return nil
}

// notFinite refuses an entry, in a row and a column from 0.
func (in *input) notFinite(row int64, j int, v float64) error {
	msg := fmt.Sprintf("row %d, column %d is %v, which is not finite", row+1, j+1, v)
	if in.integers {
		msg = fmt.Sprintf("row %d, column %d is an integer beyond 2⁵³, which float64 does not hold", row+1, j+1)
	}
	return &dataset.InputError{File: in.name, Line: int(row) + 1, Column: j + 1, Msg: msg, NonFinite: !in.integers, Missing: v != v && !in.integers}
}

// A columnReader reads an array in Fortran order.
type columnReader struct {
	*input
	columns.Choice
	used   []int     // columns that are read
	x, y   []float64 // a window: some rows, as a block has them
	strip  []byte    // the same rows of stripColumns columns, as the file has them
	tile   []float64 // a part of that, decoded
	height int       // rows of a whole window
	first  int64     // row of the array the window begins with
	held   int       // rows in the window
	next   int64     // row to hand out
	finite bool      // all entries of the window are
}

func newColumnReader(in *input, c columns.Choice) *columnReader {
	r := &columnReader{input: in, Choice: c}
	for j, k := range c.To {
		if k >= 0 {
			r.used = append(r.used, j)
		}
	}
	const word = 8
	r.height = int(min(windowRows, int64(max(1, windowBytes/(len(r.used)*word))), in.rows))
	r.x, r.y = make([]float64, r.height*c.Features), make([]float64, r.height*c.Targets)
	r.strip = make([]byte, min(stripColumns, len(r.used))*r.height*in.size)
	r.tile = make([]float64, stripColumns*tileRows)
	return r
}

func (r *columnReader) Close() error { return r.close() }

// Skip is that of [dataset.Skipper].
func (r *columnReader) Skip(rows int64) (bool, error) {
	r.next += rows
	r.first = r.next
	return true, nil
}

// Read fills a block from as many windows as it takes.
func (r *columnReader) Read(b *dataset.Buffer, rows int) error {
	if r.next == r.rows {
		return io.EOF
	}
	r.Reserve(b, int(min(int64(rows), r.rows-r.next)))
	for b.N < rows && r.next < r.rows {
		if r.next == r.first+int64(r.held) {
			if err := r.load(); err != nil {
				return err
			}
		}
		from := int(r.next - r.first)
		n := min(rows-b.N, r.held-from)
		x, y := r.Grow(b, n)
		copy(x, r.x[from*r.Features:])
		copy(y, r.y[from*r.Targets:])
		if !r.finite || r.Category != nil {
			if err := r.check(&r.Choice, x, y, r.next); err != nil {
				return err
			}
		}
		r.next += int64(n)
	}
	return nil
}

// load reads the next window, a strip of columns at a time: it is put into rows while
// it is in the cache.
func (r *columnReader) load() error {
	r.first = r.next
	r.held = int(min(int64(r.height), r.rows-r.first))
	r.finite = true
	for i := 0; i < len(r.used); i += stripColumns {
		js := r.used[i:min(i+stripColumns, len(r.used))]
		run := r.held * r.size
		for k, j := range js {
			to := r.strip[k*run:][:run]
			if n, err := r.at.ReadAt(to, r.start+(int64(j)*r.rows+r.first)*int64(r.size)); n < run {
				return r.short(err, r.first+int64(n/r.size))
			}
		}
		for lo := 0; lo < r.held; lo += tileRows {
			n := min(tileRows, r.held-lo)
			for k := range js {
				r.decode(r.tile[k*n:(k+1)*n], r.strip[k*run+lo*r.size:])
			}
			r.finite = r.Columns(r.x, r.y, js, lo, r.tile[:len(js)*n]) && r.finite
		}
	}
	return nil
}
