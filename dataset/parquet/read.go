package parquet

import (
	"errors"
	"fmt"
	"io"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// A reader makes one pass, row group by row group.
type reader struct {
	*opened
	columns.Choice
	used    []column
	indices []int // of the same, in the file
	group   int   // the next row group
	left    int64 // rows of the one at hand that have not been read
	row     int64 // rows read of the file
	tile    []float64
	scratch scratch
}

// tileRows is how many rows are read of a column at a time: columns.Tile columns of
// them stay in the cache until they are put into rows.
const tileRows = 1024

func newReader(name string, choice columns.Choice, n int64, was dataset.Stamp) (dataset.Reader, error) {
	f, err := open(name, was)
	if err != nil {
		return nil, err
	}
	r := &reader{opened: f, Choice: choice}
	if err := r.use(n); err != nil {
		f.Close() // the error at hand says more
		return nil, err
	}
	return r, nil
}

// use describes the columns that are chosen, of a file that must still be the one
// they were chosen from.
func (r *reader) use(n int64) error {
	if len(r.names) != len(r.To) || r.rows() != n {
		return r.fail("is now %d×%d, was %d×%d when it was opened", r.rows(), len(r.names), n, len(r.To))
	}
	for j, k := range r.To {
		if k < 0 {
			continue
		}
		c, err := r.column(j, &r.Choice)
		if err != nil {
			return err
		}
		r.used, r.indices = append(r.used, c), append(r.indices, j)
	}
	r.tile = make([]float64, columns.Tile*tileRows)
	r.limitPages(len(r.used))
	return nil
}

// Close closes the columns of a row group that is not read to its end, too.
func (r *reader) Close() error { return errors.Join(r.endGroup(), r.opened.Close()) }

// Skip is that of [dataset.Skipper]: whole row groups are not looked at, and of the one
// where the rows begin pages are.
func (r *reader) Skip(rows int64) (ok bool, err error) {
	defer func() {
		if recover() != nil { // as in Read
			err = r.damaged(rawfile.ErrDamaged)
		}
	}()
	for rows > 0 && r.group < r.NumRowGroups() {
		n := r.MetaData().RowGroup(r.group).NumRows()
		if n <= rows {
			r.group++
			r.row, rows = r.row+n, rows-n
			continue
		}
		if err := r.nextGroup(); err != nil {
			return false, r.damaged(err)
		}
		for i := range r.used {
			if err := r.used[i].skip(rows); err != nil {
				return false, r.damaged(err)
			}
		}
		r.row, r.left, rows = r.row+rows, r.left-rows, 0
	}
	return true, nil
}

// Read fills a block from as many row groups as it takes, so that blocks do not
// tell how the file was written.
func (r *reader) Read(b *dataset.Buffer, rows int) (err error) {
	defer func() {
		if recover() != nil { // the library does on some damaged files
			err = r.damaged(rawfile.ErrDamaged)
		}
	}()
	for b.N < rows {
		for r.left == 0 {
			if err := r.endGroup(); err != nil {
				return r.damaged(err)
			}
			if r.group == r.NumRowGroups() {
				if b.N > 0 {
					return nil
				}
				return io.EOF
			}
			if err := r.nextGroup(); err != nil {
				return r.damaged(err)
			}
		}
		r.Reserve(b, int(min(int64(rows-b.N), r.left)))
		if err := r.rowsOfGroup(b, int(min(int64(rows-b.N), r.left, tileRows))); err != nil {
			return err
		}
	}
	return nil
}

// rowsOfGroup reads the next n rows of the row group at hand.
func (r *reader) rowsOfGroup(b *dataset.Buffer, n int) error {
	x, y := r.Grow(b, n)
	finite := true
	for i := 0; i < len(r.used); i += columns.Tile {
		end := min(i+columns.Tile, len(r.used))
		for k := range end - i {
			if err := r.fill(r.tile[k*n:(k+1)*n], &r.used[i+k]); err != nil {
				return err
			}
		}
		finite = r.Columns(x, y, r.indices[i:end], 0, r.tile[:(end-i)*n]) && finite
	}
	if !finite {
		if i, j, v, bad := r.Find(x, y); bad {
			return r.notFinite(r.row+int64(i), j, v)
		}
	}
	r.row += int64(n)
	r.left -= int64(n)
	return nil
}

// nextGroup opens the columns of the next row group.
func (r *reader) nextGroup() (err error) {
	group := r.RowGroup(r.group)
	for i := range r.used {
		c := &r.used[i]
		if c.chunk, err = group.Column(c.leaf); err != nil {
			return err
		}
	}
	r.left = group.NumRows()
	r.group++
	return nil
}

func (r *reader) endGroup() error {
	var err error
	for i := range r.used {
		if c := &r.used[i]; c.chunk != nil {
			err = errors.Join(err, c.chunk.Close())
			c.chunk = nil
		}
	}
	return err
}

// fill reads the next values of a column.
func (r *reader) fill(values []float64, c *column) error {
	got, null, err := c.read(values, &r.scratch)
	at := func(msg string, cause error) *dataset.InputError {
		return &dataset.InputError{File: r.name, Line: int(r.row) + got + 1, Column: c.index + 1, Msg: "column " + c.name + " " + msg, Err: cause}
	}
	level, noLevel := errors.AsType[levelError](err)
	switch {
	case noLevel:
		return at(string(level), nil)
	case err == errEmpty:
		return r.Gap(c.index, at(err.Error(), nil))
	case err != nil:
		return at("cannot be read", err)
	case null:
		return r.Gap(c.index, at("has no value (null)", nil))
	case got < len(values):
		return at("ends before its row group", nil)
	}
	if c.lexicon != nil && !c.text {
		for i, v := range values {
			if v-v != 0 {
				continue
			}
			var ok bool
			if values[i], ok = c.lexicon.Number(v); !ok {
				return at(columns.TooManyLevels, nil)
			}
		}
	}
	return nil
}

// notFinite reports a number of column j, of a row from 0.
func (r *reader) notFinite(row int64, j int, v float64) error {
	out := &dataset.InputError{File: r.name, Line: int(row) + 1, Column: j + 1, Msg: fmt.Sprintf("column %s: %v is not finite", excerpt.Of(r.names[j]), v), NonFinite: true, Missing: v != v}
	for _, c := range r.used {
		if c.index == j && c.integers {
			out.NonFinite, out.Missing, out.Msg = false, false, fmt.Sprintf("column %s: an integer beyond 2⁵³, which float64 does not hold", c.name)
		}
	}
	return out
}
