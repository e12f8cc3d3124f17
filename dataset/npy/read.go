package npy

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/parallel"
)

// chunkBytes is the number of bytes that are read at a time from an array in C order. They fit in the CPU's cache.
const chunkBytes = 1 << 18

// A window is the part of a Fortran-order array that is in memory. It has windowRows rows, or fewer rows if those
// would take more than windowBytes bytes. Larger windows read more adjacent entries of each column at once. Windows
// of more than windowRows rows were not faster.
const (
	windowBytes = 16 << 20
	windowRows  = 1024
)

// stripColumns is the number of columns that are transposed together. The transposed numbers are then written in
// long runs, which was twice as fast as writing single cache lines. tileRows rows of these columns fit in the L1
// cache.
const (
	stripColumns = 16 * columns.Tile
	tileRows     = 16
)

// A rowReader reads an array in C order.
type rowReader struct {
	*input
	columns.Choice
	chunk int    // number of rows read at a time
	done  int64  // number of rows read
	parts []part // parts of a block that are read in parallel
	fault columns.Fault
}

func newRowReader(in *input, c columns.Choice) *rowReader {
	return &rowReader{
		input:  in,
		Choice: c,
		chunk:  int(min(int64(max(1, chunkBytes/in.width())), in.rows)),
		parts:  make([]part, 1),
	}
}

func (r *rowReader) Close() error { return r.close() }

// Skip implements [dataset.Skipper].
func (r *rowReader) Skip(rows int64) (bool, error) {
	if r.at == nil {
		return false, nil
	}
	r.want = 0 // the sum of all entries remains unknown
	r.done += rows
	return true, nil
}

func (r *rowReader) Read(b *dataset.Buffer, rows int) error {
	if err := r.fault.Err(); err != nil {
		return err
	}
	first := r.done
	return r.fault.Delay(&r.Choice, b, first, r.fill(b, rows))
}

// fill reads at most the given number of rows.
func (r *rowReader) fill(b *dataset.Buffer, rows int) error {
	rows = int(min(int64(rows), r.rows-r.done))
	if rows == 0 {
		return r.end()
	}
	if r.at != nil {
		return r.readParts(b, rows)
	}
	r.Reserve(b, rows)
	for b.N < rows {
		n := min(rows-b.N, r.chunk)
		if r.available != nil {
			come := r.available() / r.width()
			if come == 0 && b.N > 0 {
				break
			}
			n = min(n, max(come, 1))
		}
		x, y := r.Grow(b, n)
		if err := r.readPart(&r.parts[0], r.done, x, y, n); err != nil {
			return err
		}
		r.done += int64(n)
	}
	return nil
}

// end checks what follows the last row, and returns io.EOF if the array is correct. For data without random access,
// it returns an error if further bytes follow. Otherwise readHeader has checked this, and end compares the
// checksum.
func (r *rowReader) end() error {
	if r.at != nil && r.want != 0 && r.sum != r.want {
		return r.wrap(zip.ErrChecksum, int(r.rows))
	} else if r.at != nil {
		return io.EOF
	}
	next := make([]byte, len(magic))
	n, err := io.ReadFull(r.data, next)
	if n > 0 {
		return r.excessError(next[:n])
	}
	return r.wrap(err, int(r.rows))
}

// excessError returns the error for bytes after the last row. next are the first of these bytes.
func (in *input) excessError(next []byte) error {
	what := ""
	if string(next) == magic {
		what = ", another array; save each array to its own file, or all with np.savez"
	}
	return &dataset.InputError{
		File: in.name,
		Msg:  fmt.Sprintf("has more bytes than its %d rows, from byte %d on%s", in.rows, in.length(), what),
	}
}

// truncatedError converts an error of reading an array after the given number of complete rows. If err is an end of
// file, the new error says that the array is truncated.
func (in *input) truncatedError(err error, rows int64) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &dataset.InputError{
			File: in.name,
			Msg:  fmt.Sprintf("is truncated: row %d of %d is incomplete", rows+1, in.rows),
		}
	}
	return in.wrap(err, int(rows+1))
}

// check replaces the numbers of categorical columns in x and y by their codes. Unless accepted is true, it first
// looks for numbers that are not finite, and returns an error for the first of them.
func (in *input) check(
	c *columns.Choice,
	x, y []float64,
	firstRow int64,
	accepted bool,
) error {
	if !accepted {
		if i, j, v, bad := c.Find(x, y); bad {
			c.Encode(x[:i*c.Features], y[:i*c.Targets]) // the rows before the error are delivered
			return in.notFinite(firstRow+int64(i), j, v)
		}
	}
	if j := c.Encode(x, y); j >= 0 {
		return &dataset.InputError{
			File:   in.name,
			Column: j + 1,
			Msg:    in.label(j) + " " + prepare.TooManyLevels,
		}
	}
	return nil
}

// notFinite returns the error for an entry v that is not finite. row and column j count from 0.
func (in *input) notFinite(row int64, j int, v float64) error {
	integers := in.isInteger(j)
	msg := fmt.Sprintf("row %d, %s is %v, which is not finite", row+1, in.label(j), v)
	if integers {
		msg = fmt.Sprintf("row %d, %s is an integer beyond 2⁵³, which float64 cannot represent", row+1, in.label(j))
	}
	return &dataset.InputError{
		File:      in.name,
		Line:      int(row) + 1,
		Column:    j + 1,
		Msg:       msg,
		NonFinite: !integers,
		Missing:   v != v && !integers,
	}
}

// A columnReader reads an array in Fortran order.
type columnReader struct {
	*input
	columns.Choice
	used     []int     // columns of the array to read
	x, y     []float64 // rows of the current window, in the layout of a block
	height   int       // number of rows of a window, except for the last one
	first    int64     // row of the array at which the window begins
	held     int       // number of rows in the window
	next     int64     // next row to deliver
	accepted bool      // Find accepts all entries of the window
	fault    columns.Fault
}

func newColumnReader(in *input, c columns.Choice) *columnReader {
	r := &columnReader{input: in, Choice: c}
	for j, k := range c.To {
		if k >= 0 {
			r.used = append(r.used, j)
		}
	}
	const word = 8
	inWindow := max(1, windowBytes/(len(r.used)*word))
	r.height = int(min(windowRows, int64(inWindow), in.rows))
	r.x = make([]float64, r.height*c.Features)
	r.y = make([]float64, r.height*c.Targets)
	return r
}

// A strip is the memory of one goroutine that transposes columns.
type strip struct {
	raw  []byte                           // columns of the window, in the layout of the file
	tile [stripColumns * tileRows]float64 // some rows of raw converted to float64
}

var strips = sync.Pool{New: func() any { return new(strip) }}

func (r *columnReader) Close() error { return r.close() }

// Skip implements [dataset.Skipper].
func (r *columnReader) Skip(rows int64) (bool, error) {
	r.next += rows
	r.first = r.next
	return true, nil
}

// Read appends up to the given number of rows to b. It reads as many windows of the array as necessary.
func (r *columnReader) Read(b *dataset.Buffer, rows int) error {
	switch {
	case r.fault.Err() != nil:
		return r.fault.Err()
	case r.next == r.rows:
		return io.EOF
	}
	first := r.next
	return r.fault.Delay(&r.Choice, b, first, r.fill(b, rows))
}

// fill reads at most the given number of rows.
func (r *columnReader) fill(b *dataset.Buffer, rows int) error {
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
		if err := r.check(&r.Choice, x, y, r.next, r.accepted); err != nil {
			return err
		}
		r.next += int64(n)
	}
	return nil
}

// load reads the next window of rows into memory. It divides the columns into strips, and reads and transposes the
// strips in parallel. A strip is transposed right after it was read, while it is in the CPU's cache.
func (r *columnReader) load() error {
	r.first = r.next
	r.held = int(min(int64(r.height), r.rows-r.first))
	tiles := (len(r.used) + columns.Tile - 1) / columns.Tile
	cores := runtime.GOMAXPROCS(0)
	width := min(stripColumns, (tiles+cores-1)/cores*columns.Tile)
	var refused atomic.Bool
	err := parallel.Do((len(r.used)+width-1)/width, r.held*len(r.used), func(i int) error {
		s := strips.Get().(*strip)
		defer strips.Put(s)
		end := min((i+1)*width, len(r.used))
		accepted, err := r.loadStrip(s, r.used[i*width:end])
		if !accepted {
			refused.Store(true)
		}
		return err
	})
	r.accepted = !refused.Load()
	return err
}

// loadStrip reads the columns js of a window.
func (r *columnReader) loadStrip(s *strip, js []int) (accepted bool, err error) {
	run := r.held * r.size
	s.raw = slices.Grow(s.raw[:0], len(js)*run)[:len(js)*run]
	for k, j := range js {
		to := s.raw[k*run:][:run]
		element := int64(j)*r.rows + r.first
		if n, err := r.at.ReadAt(to, r.start+element*int64(r.size)); n < run {
			return false, r.truncatedError(err, r.first+int64(n/r.size))
		}
	}
	accepted = true
	for lo := 0; lo < r.held; lo += tileRows {
		n := min(tileRows, r.held-lo)
		for k := range js {
			column := s.tile[k*n : (k+1)*n]
			r.decode(column, s.raw[k*run+lo*r.size:])
		}
		accepted = r.Columns(r.x, r.y, js, lo, s.tile[:len(js)*n]) &&
			accepted
	}
	return accepted, nil
}
