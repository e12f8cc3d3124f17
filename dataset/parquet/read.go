package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/parallel"
)

// A reader reads the rows of a Parquet file, one row group after the other, for a pass over the rows.
type reader struct {
	*opened
	columns.Choice
	used    []column // columns to read
	pages   []*pages // one for each used column, in the current row group
	indices []int    // index of each used column in the file
	strips  []strip
	group   int   // next row group
	left    int64 // unread rows of the current group
	row     int64 // rows of the file read so far
	fault   columns.Fault
}

// A strip is a group of at most columns.Tile of the columns to be read. The strips are decoded in parallel.
type strip struct {
	lo, hi   int   // indices in used
	rows     int   // number of rows decoded before an error
	accepted bool  // Find accepts these rows
	err      error // the first error, or nil
}

// rowsPerTile is the number of rows that are decoded at a time. With columns.Tile columns, their numbers fit in the
// CPU's cache.
const rowsPerTile = 1024

func newReader(name string, choice columns.Choice, n int64, was dataset.Stamp) (dataset.Reader, error) {
	f, err := open(name, was)
	if err != nil {
		return nil, err
	}
	r := &reader{opened: f, Choice: choice}
	if err := r.use(n); err != nil {
		f.Close() // err is more informative than an error of Close
		return nil, err
	}
	return r, nil
}

// use prepares reading of the columns that r.Choice selects. n is the number of rows when the file was first
// opened. If the file now has another number of rows or columns, use returns an error.
func (r *reader) use(n int64) error {
	if len(r.names) != len(r.To) || r.rows != n {
		return r.fail("is now %d×%d, but was %d×%d when it was opened", r.rows, len(r.names), n, len(r.To))
	}
	for j, k := range r.To {
		if k < 0 {
			continue
		}
		c, err := r.column(j, &r.Choice)
		if err != nil {
			return err
		}
		r.used = append(r.used, c)
		r.indices = append(r.indices, j)
	}
	r.limitPages(len(r.used))
	for i := range r.used {
		r.pages = append(r.pages, r.newPages(&r.used[i]))
	}
	for lo := 0; lo < len(r.used); lo += columns.Tile {
		r.strips = append(r.strips, strip{lo: lo, hi: min(lo+columns.Tile, len(r.used))})
	}
	return nil
}

// Skip implements [dataset.Skipper]. It does not read row groups and pages whose rows are all skipped.
func (r *reader) Skip(rows int64) (bool, error) {
	for rows > 0 && r.group < len(r.groups) {
		n := r.groups[r.group].Rows
		if n <= rows {
			r.group++
			r.row += n
			rows -= n
			continue
		}
		if err := r.nextGroup(); err != nil {
			return false, r.damaged(err)
		}
		s := new(scratch)
		for i, p := range r.pages {
			if r.used[i].left {
				continue
			}
			if err := p.skip(rows, s); err != nil {
				return false, r.damaged(err)
			}
		}
		r.row += rows
		r.left -= rows
		rows = 0
	}
	return true, nil
}

// Read fills b with up to the given number of rows, which may come from several row groups.
func (r *reader) Read(b *dataset.Buffer, rows int) error {
	for b.N < rows && r.fault.Err() == nil {
		for r.left == 0 {
			if r.group == len(r.groups) {
				if b.N > 0 {
					return nil
				}
				return io.EOF
			}
			if err := r.nextGroup(); err != nil {
				return r.damaged(err)
			}
		}
		if err := r.rowsOfGroup(b, int(min(int64(rows-b.N), r.left))); err != nil {
			return err
		}
	}
	if b.N > 0 {
		return nil
	}
	return r.fault.Err()
}

// rowsOfGroup appends the next n rows of the current row group to b.
func (r *reader) rowsOfGroup(b *dataset.Buffer, n int) error {
	x, y := r.Grow(b, n)
	err := parallel.Do(len(r.strips), n*len(r.used), func(i int) error {
		return r.decode(&r.strips[i], x, y, n)
	})
	rows, accepted := n, true
	for _, t := range r.strips {
		accepted = accepted && t.accepted
		if t.err != nil && t.rows < rows {
			rows, err = t.rows, t.err
		}
	}
	if !accepted {
		if i, j, v, bad := r.Find(x[:rows*r.Features], y[:rows*r.Targets]); bad {
			first := r.row - int64(b.N-n)
			return r.fault.Delay(&r.Choice, b, first, r.notFinite(r.row+int64(i), j, v))
		}
	}
	r.row += int64(n)
	r.left -= int64(n)
	return err
}

// decode reads n rows of the columns of strip t, rowsPerTile rows at a time. It stops at an error.
func (r *reader) decode(t *strip, x, y []float64, n int) error {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	t.accepted, t.err = true, nil
	for t.rows = 0; t.rows < n; {
		height := min(n-t.rows, rowsPerTile)
		for k := t.lo; k < t.hi; k++ {
			to := s.tile[(k-t.lo)*height:][:height]
			t.err = r.fill(to, r.row+int64(t.rows), &r.used[k], r.pages[k], s)
			if t.err != nil {
				return t.err
			}
		}
		t.accepted = r.Columns(x, y, r.indices[t.lo:t.hi], t.rows, s.tile[:(t.hi-t.lo)*height]) &&
			t.accepted
		t.rows += height
	}
	return nil
}

// nextGroup opens the columns of the next row group.
func (r *reader) nextGroup() error {
	group := &r.groups[r.group]
	for i, p := range r.pages {
		if r.used[i].left {
			continue
		}
		if err := p.open(group.Chunks[r.used[i].leaf].Chunk); err != nil {
			return err
		}
	}
	r.left = group.Rows
	r.group++
	return nil
}

// fill reads the next values of column c. row is the index of the row of the first value.
func (r *reader) fill(values []float64, row int64, c *column, p *pages, s *scratch) error {
	if c.left {
		for i := range values {
			values[i] = math.NaN()
		}
		return nil
	}
	got, null, err := p.read(values, c.missing, c.code, s)
	at := func(msg string, cause error) *dataset.InputError {
		return &dataset.InputError{
			File:   r.name,
			Line:   int(row) + got + 1,
			Column: c.index + 1,
			Msg:    "column " + c.name + " " + msg,
			Err:    cause,
		}
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
		return r.Gap(c.index, at("has a missing value (null)", nil))
	case got < len(values):
		return at("ends before its row group", nil)
	}
	if c.lexicon != nil && !c.text && !c.date {
		for i, v := range values {
			if v != v {
				values[i] = math.NaN() // a missing value, whatever its bits
			}
			if v-v != 0 {
				continue
			}
			var ok bool
			values[i], ok = c.lexicon.Number(v)
			if !ok {
				return at(prepare.TooManyLevels, nil)
			}
		}
	}
	return nil
}

// notFinite returns the error for a value v that is not finite. row and column j count from 0.
func (r *reader) notFinite(row int64, j int, v float64) error {
	out := &dataset.InputError{
		File:      r.name,
		Line:      int(row) + 1,
		Column:    j + 1,
		Msg:       fmt.Sprintf("column %s: %v is not finite", errtext.Excerpt(r.names[j]), v),
		NonFinite: true,
		Missing:   v != v,
	}
	for _, c := range r.used {
		if c.index == j && c.integers {
			out.NonFinite, out.Missing, out.Msg = false, false, fmt.Sprintf(
				"column %s: an integer beyond 2⁵³, which float64 cannot represent",
				c.name,
			)
		}
	}
	return out
}
