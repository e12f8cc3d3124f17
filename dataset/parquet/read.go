package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// A reader reads the rows of a pass by row groups.
type reader struct {
	*opened
	columns.Choice
	used    []column // columns to read
	pages   []*pages // one for each used column, in the current row group
	indices []int    // index of each used column in the file
	group   int      // next row group
	left    int64    // unread rows of the current group
	row     int64    // rows of the file read so far
	tile    []float64
	scratch scratch
}

// A tile of rowsPerTile × columns.Tile numbers fits in the cache.
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

// use selects columns. The file must still have n rows.
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
		r.used, r.indices = append(r.used, c), append(r.indices, j)
	}
	r.tile = make([]float64, columns.Tile*rowsPerTile)
	r.limitPages(len(r.used))
	for i := range r.used {
		r.pages = append(r.pages, r.newPages(&r.used[i], &r.scratch))
	}
	return nil
}

// Skip implements [dataset.Skipper] without reading skipped row groups and pages.
func (r *reader) Skip(rows int64) (bool, error) {
	for rows > 0 && r.group < len(r.groups) {
		n := r.groups[r.group].Rows
		if n <= rows {
			r.group++
			r.row, rows = r.row+n, rows-n
			continue
		}
		if err := r.nextGroup(); err != nil {
			return false, r.damaged(err)
		}
		for _, p := range r.pages {
			if err := p.skip(rows); err != nil {
				return false, r.damaged(err)
			}
		}
		r.row, r.left, rows = r.row+rows, r.left-rows, 0
	}
	return true, nil
}

// Read fills a block from one or more row groups.
func (r *reader) Read(b *dataset.Buffer, rows int) error {
	for b.N < rows {
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
		r.Reserve(b, int(min(int64(rows-b.N), r.left)))
		if err := r.rowsOfGroup(b, int(min(int64(rows-b.N), r.left, rowsPerTile))); err != nil {
			return err
		}
	}
	return nil
}

// rowsOfGroup reads the next n rows of the current row group.
func (r *reader) rowsOfGroup(b *dataset.Buffer, n int) error {
	x, y := r.Grow(b, n)
	finite := true
	for i := 0; i < len(r.used); i += columns.Tile {
		end := min(i+columns.Tile, len(r.used))
		for k := range end - i {
			if err := r.fill(r.tile[k*n:(k+1)*n], &r.used[i+k], r.pages[i+k]); err != nil {
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
func (r *reader) nextGroup() error {
	group := &r.groups[r.group]
	for i, p := range r.pages {
		if err := p.open(group.Chunks[r.used[i].leaf].Chunk); err != nil {
			return err
		}
	}
	r.left = group.Rows
	r.group++
	return nil
}

// fill reads the next values of a column.
func (r *reader) fill(values []float64, c *column, p *pages) error {
	got, null, err := p.read(values, c.missing, c.code)
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
			if values[i], ok = c.lexicon.Number(v); !ok {
				return at(prepare.TooManyLevels, nil)
			}
		}
	}
	return nil
}

// notFinite returns the error for v in column j. row counts from 0.
func (r *reader) notFinite(row int64, j int, v float64) error {
	out := &dataset.InputError{File: r.name, Line: int(row) + 1, Column: j + 1, Msg: fmt.Sprintf("column %s: %v is not finite", excerpt.Of(r.names[j]), v), NonFinite: true, Missing: v != v}
	for _, c := range r.used {
		if c.index == j && c.integers {
			out.NonFinite, out.Missing, out.Msg = false, false, fmt.Sprintf("column %s: an integer beyond 2⁵³, which float64 cannot represent", c.name)
		}
	}
	return out
}
