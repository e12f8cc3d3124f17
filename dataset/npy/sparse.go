package npy

import (
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/internal/errtext"
)

// The layout of scipy's sparse matrices is described in the manual of scipy.sparse. An archive has the arrays
//
//	format   the text csr, csc, bsr or coo
//	shape    the numbers of rows and columns
//	data     the values
//	csr      indices, the column of each value; indptr, for each row the index of its first value
//	csc      indices, the row of each value; indptr, for each column the index of its first value
//	bsr      like csr, for blocks of several rows and columns
//	coo      row and col, the position of each value; or coords, all rows and then all columns
//
// Values at the same position are added. The order of the values is arbitrary, within a row or column of csr, csc and
// bsr, and within the matrix of coo.

// A sparse describes a sparse matrix in an archive.
type sparse struct {
	name   string
	format string
	rows   int64
	cols   int
	count  int64 // number of values, or of blocks
	coords bool  // coo has the array coords
	height int   // rows of a block of bsr, otherwise 1
	width  int   // columns of a block of bsr, otherwise 1
	stamp  dataset.Stamp
}

// Limits on a sparse matrix, which bound the memory needed to read it.
const (
	maxSparseColumns = math.MaxInt32 // column numbers have 32 bits
	maxRowValues     = 1 << 24       // values of a row, or of rows that are read together
)

// isSparse reports whether names, the arrays of an archive, include the arrays that scipy.sparse.save_npz writes.
func isSparse(names []string) bool {
	return slices.Contains(names, "format") &&
		slices.Contains(names, "shape") &&
		slices.Contains(names, "data")
}

// openSparse returns a source of the rows of a sparse matrix in an archive.
func openSparse(name string, opts Options) (*dataset.Stream, error) {
	m, err := describeSparse(name)
	if err != nil {
		return nil, err
	}
	if !opts.Cells.WithoutLabels().OnlyNumbers() {
		return nil, m.fail(
			"is a sparse matrix, whose rows have no missing values (absent entries are zero) and no categories",
		)
	}
	choice, err := m.choose(opts)
	if err != nil {
		return nil, m.fail("%v", err)
	}
	var s *dataset.Stream
	s = dataset.NewStream(m.rows, choice.Features, choice.Targets, true, func() (dataset.Reader, error) {
		return m.open(choice, s.Stamp)
	})
	s.Stamp = m.stamp
	return s, nil
}

func (m *sparse) fail(format string, args ...any) error {
	return &dataset.InputError{File: m.name, Msg: fmt.Sprintf(format, args...)}
}

// choose returns the columns that opts selects as features and targets. If opts selects no columns, all columns are
// features, and choice.To is nil.
func (m *sparse) choose(opts Options) (choice columns.Choice, err error) {
	if len(opts.Targets)+len(opts.Columns) == 0 {
		return columns.Choice{Features: m.cols}, nil
	}
	if m.cols > maxColumns {
		return choice, fmt.Errorf("has %d columns; to select columns, they must be at most %d", m.cols, maxColumns)
	}
	names := columns.Numbers(m.cols)
	choice, err = columns.Choose(names, false, opts.Targets, opts.Columns)
	if err != nil {
		return choice, err
	}
	return choice, choice.Read(opts.Cells, names, false)
}

// describeSparse reads what describes a sparse matrix: the arrays format and shape, and the headers of other
// arrays.
func describeSparse(name string) (*sparse, error) {
	m := &sparse{name: name, height: 1, width: 1}
	text, err := memberText(name, "format")
	if err != nil {
		return nil, err
	}
	m.format = text
	if !slices.Contains([]string{"csr", "csc", "bsr", "coo"}, m.format) {
		return nil, m.fail(
			"holds a sparse matrix of scipy in the format %q; convert it to csr: scipy.sparse.save_npz(file, x.tocsr())",
			errtext.Excerpt(m.format),
		)
	}
	shape, err := m.shape()
	if err != nil {
		return nil, err
	}
	switch {
	case shape[0] == 0:
		return nil, m.fail("has no rows")
	case shape[0] < 0 || shape[1] < 1 || shape[1] > maxSparseColumns:
		return nil, m.fail("has shape %v; the columns must be 1 to %d", shape, maxSparseColumns)
	}
	isScanned := m.format == "csc" || m.format == "coo"
	if isScanned && shape[0] > mostBuckets*mostRows {
		return nil, m.fail("has shape %v; the rows of %s must be at most %d", shape, m.format, mostBuckets*mostRows)
	}
	m.rows = shape[0]
	m.cols = int(shape[1])
	data, err := openVector(name, "data", dataset.Stamp{})
	if err != nil {
		return nil, err
	}
	m.stamp, m.count = data.stamp, data.rows
	dims := data.shape
	data.close() // only its header was read
	names, err := Members(name)
	if err != nil {
		return nil, err
	}
	m.coords = m.format == "coo" && slices.Contains(names, "coords")
	if slices.Contains(names, "fill_value") {
		if err := m.checkFill(); err != nil {
			return nil, err
		}
	}
	if m.format == "bsr" {
		return m, m.blocks(dims)
	}
	if len(dims) != 1 {
		return nil, m.fail("is damaged: the array data has %d dimensions", len(dims))
	}
	return m, nil
}

// blocks sets the size of the blocks of bsr.
func (m *sparse) blocks(shape []int64) error {
	if len(shape) != 3 ||
		min(shape[0], shape[1]-1, shape[2]-1) < 0 ||
		shape[1] > m.rows ||
		shape[2] > int64(m.cols) {
		return m.fail("is damaged: the array data has shape %v", shape)
	}
	m.count = shape[0]
	m.height = int(shape[1])
	m.width = int(shape[2])
	if m.rows%shape[1] != 0 ||
		m.cols%m.width != 0 ||
		shape[1] > maxRowValues/shape[2] {
		return m.fail("is damaged: a matrix of %d×%d cannot have blocks of %d×%d", m.rows, m.cols, m.height, m.width)
	}
	return nil
}

// checkFill returns an error unless the entries that are not stored are zero. The Python package sparse stores the
// value of these entries in the array fill_value.
func (m *sparse) checkFill() error {
	v, err := openVector(m.name, "fill_value", m.stamp)
	if err != nil {
		return err
	}
	defer v.close() // opened for reading, so an error of close does no harm
	fill, err := v.floats(nil, int(min(v.rows, 1)))
	if err == nil && (len(fill) != 1 || fill[0] != 0) {
		err = m.fail("is a sparse array whose absent entries are %v instead of 0", fill)
	}
	return err
}

func (m *sparse) shape() ([]int64, error) {
	v, err := openVector(m.name, "shape", m.stamp)
	if err != nil {
		return nil, err
	}
	defer v.close() // opened for reading, so an error of close does no harm
	if v.rows != 2 {
		return nil, m.fail("holds a sparse array of %d dimensions instead of 2", v.rows)
	}
	shape := make([]int64, 2)
	if err := v.ints(shape); err != nil {
		return nil, err
	}
	if err := v.end(); err != io.EOF {
		return nil, err
	}
	return shape, nil
}

// memberText returns the text in an array that holds a single text. NumPy stores it as bytes or as UTF-32.
func memberText(name, member string) (string, error) {
	in, err := openMemberAs(name, member, dataset.Stamp{}, func(d description) (header, error) {
		letter := strings.TrimLeft(d.descr, "<>|=") + " "
		size := 0
		_, err := fmt.Sscanf(letter[1:], "%d", &size)
		if err != nil ||
			letter[0] != 'S' && letter[0] != 'U' ||
			size > 100 ||
			len(d.shape) > 0 {
			return header{}, fmt.Errorf("is no text, but %q", errtext.Excerpt(d.descr))
		}
		if letter[0] == 'U' {
			size *= 4
		}
		return header{rows: 1, cols: 1, kind: kind{size: size}}, nil
	})
	if err != nil {
		return "", err
	}
	defer in.close() // opened for reading, so an error of close does no harm
	text := make([]byte, in.size)
	if _, err := io.ReadFull(in.entries(), text); err != nil {
		return "", in.wrap(err, 0)
	}
	in.sum = crc32.Update(in.sum, crc32.IEEETable, text)
	if err := (&rowReader{input: in}).end(); err != io.EOF {
		return "", err
	}
	return strings.ReplaceAll(string(text), "\x00", ""), nil
}

// entries returns a reader of the entries of the array. The header must have been read.
func (in *input) entries() io.Reader {
	if in.at != nil {
		return io.NewSectionReader(in.at, in.start, in.rows*int64(in.width()))
	}
	return in.data
}

// open opens a pass over the rows.
func (m *sparse) open(choice columns.Choice, was dataset.Stamp) (dataset.Reader, error) {
	now, err := describeSparse(m.name)
	if err != nil {
		return nil, err
	}
	if was.None() {
		was = now.stamp
	}
	if now.rows != m.rows ||
		now.cols != m.cols ||
		now.format != m.format {
		return nil, m.fail(
			"is now a %s matrix of %d×%d, but was %s of %d×%d when it was opened",
			now.format,
			now.rows,
			now.cols,
			m.format,
			m.rows,
			m.cols,
		)
	}
	rows := &sparseRows{sparse: now, Choice: choice}
	if m.format == "csr" || m.format == "bsr" {
		return newPointerReader(rows, was)
	}
	return newScanReader(rows, was)
}

// A vector reads the numbers of an array in order. If the array is not compressed, reading can begin at any number.
type vector struct {
	*input
	next    int64 // index of the next number
	raw     []byte
	scratch []float64
}

// openVector opens an array of numbers. An array of several dimensions is read as one sequence of numbers.
func openVector(name, member string, was dataset.Stamp) (*vector, error) {
	in, err := openMemberAs(name, member, was, func(d description) (header, error) {
		k, ok := kindOf(d.descr)
		if !ok {
			return header{}, fmt.Errorf(
				"holds entries of type %q; readable types are floats of 16, 32 and 64 bits, integers and booleans",
				errtext.Excerpt(d.descr),
			)
		}
		count := int64(1)
		for _, n := range d.shape {
			if n < 0 || n > 0 && count > math.MaxInt64/16/n {
				return header{}, fmt.Errorf("has shape %v, which is too large to be addressed", d.shape)
			}
			count *= n
		}
		if d.fortran && len(d.shape) > 1 && count > 0 {
			return header{}, fmt.Errorf(
				"has %d dimensions in Fortran order; save it with np.ascontiguousarray",
				len(d.shape),
			)
		}
		return header{
			rows:  count,
			cols:  1,
			kind:  k,
			descr: d.descr,
			shape: d.shape,
		}, nil
	})
	if err != nil {
		return nil, err
	}
	return &vector{input: in}, nil
}

// maxPiece is the number of values that are read at a time. It limits the memory allocated at once, because a
// damaged file may state too large a number of values.
const maxPiece = 1 << 15

// bytes returns the bytes of the next n numbers, without converting them. n must be at most maxPiece.
func (v *vector) bytes(n int) ([]byte, error) {
	v.raw = slices.Grow(v.raw[:0], n*v.size)[:n*v.size]
	if v.next+int64(n) > v.rows {
		return nil, &dataset.InputError{
			File: v.name,
			Msg:  fmt.Sprintf("is damaged: it has only %d entries", v.rows),
		}
	}
	var got int
	var err error
	if v.at != nil {
		got, err = v.at.ReadAt(v.raw, v.start+v.next*int64(v.size))
	} else {
		got, err = io.ReadFull(v.data, v.raw)
	}
	if got < len(v.raw) {
		return nil, v.truncatedError(err, v.next+int64(got/v.size))
	}
	if v.want != 0 {
		v.sum = crc32.Update(v.sum, crc32.IEEETable, v.raw)
	}
	v.next += int64(n)
	return v.raw, nil
}

// floats appends the next n numbers to dst.
func (v *vector) floats(dst []float64, n int) ([]float64, error) {
	for n > 0 {
		k := min(n, maxPiece)
		raw, err := v.bytes(k)
		if err != nil {
			return dst, err
		}
		at := len(dst)
		dst = slices.Grow(dst, k)[:at+k]
		v.decode(dst[at:], raw)
		n -= k
	}
	return dst, nil
}

// ints reads len(dst) integers.
func (v *vector) ints(dst []int64) error {
	if !v.integers || v.descr == "|b1" {
		return &dataset.InputError{
			File: v.name,
			Msg:  fmt.Sprintf("is damaged: its entries have the type %q instead of integers", errtext.Excerpt(v.descr)),
		}
	}
	for len(dst) > 0 {
		k := min(len(dst), maxPiece)
		raw, err := v.bytes(k)
		if err != nil {
			return err
		}
		v.scratch = slices.Grow(v.scratch[:0], k)[:k]
		v.decode(v.scratch, raw)
		for i, f := range v.scratch {
			dst[i] = int64(min(f, maxExact)) // larger integers are too large anyway
		}
		dst = dst[k:]
	}
	return nil
}

// skip skips the next n numbers.
func (v *vector) skip(n int64) error {
	if v.at != nil {
		v.seek(v.next + n)
		return nil
	}
	for n > 0 {
		k := min(n, maxPiece)
		if _, err := v.bytes(int(k)); err != nil {
			return err
		}
		n -= k
	}
	return nil
}

// seek makes the number with index i the next one to be read. The array must not be compressed.
func (v *vector) seek(i int64) {
	v.next, v.want = i, 0 // the sum of all entries remains unknown
}

// end checks the checksum, and that no bytes follow the array. If both are right, it returns io.EOF. If numbers are
// still unread, it returns nil without a check.
func (v *vector) end() error {
	if v.next < v.rows {
		return nil
	}
	return (&rowReader{input: v.input}).end()
}
