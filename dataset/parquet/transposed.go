package parquet

import (
	"io"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
)

// byColumns returns sources whose rows are the features and targets.
func byColumns(name string, choice columns.Choice, n int64, stamp dataset.Stamp) *dataset.Columns {
	source := func(first, count int) dataset.Source {
		s := dataset.NewStream(int64(count), int(n), 0, false, func() (dataset.Reader, error) {
			r, err := newReader(name, choice, n, stamp)
			if err != nil {
				return nil, err
			}
			return newTransposedReader(r.(*reader), first, count), nil
		})
		s.Stamp = stamp
		return s
	}
	out := &dataset.Columns{Features: source(0, choice.Features)}
	if choice.Targets > 0 {
		out.Targets = source(choice.Features, choice.Targets)
	}
	return out
}

// A transposedReader reads each column, across row groups, as a row.
type transposedReader struct {
	*reader
	order []column
	next  int // index in order of the next column
	scratch
}

// newTransposedReader reads count selected columns, from firstColumn on.
func newTransposedReader(r *reader, firstColumn, count int) *transposedReader {
	t := &transposedReader{reader: r, order: make([]column, count)}
	for i, j := range r.indices {
		if k := r.To[j] - firstColumn; k >= 0 && k < count {
			t.order[k] = r.used[i]
		}
	}
	return t
}

// Skip implements [dataset.Skipper].
func (t *transposedReader) Skip(rows int64) (bool, error) {
	t.next += int(rows)
	return true, nil
}

// Read fills a block with columns.
func (t *transposedReader) Read(b *dataset.Buffer, rows int) error {
	if t.next == len(t.order) {
		return io.EOF
	}
	for b.N < rows && t.next < len(t.order) {
		t.row = 0
		c := &t.order[t.next]
		pages := t.newPages(c)
		for i := range t.groups {
			if err := t.appendGroup(b, c, pages, &t.groups[i]); err != nil {
				return err
			}
		}
		b.N++
		t.next++
	}
	return nil
}

// appendGroup appends the values of a column in one row group.
func (t *transposedReader) appendGroup(b *dataset.Buffer, c *column, pages *pages, g *group) error {
	if err := pages.open(g.Chunks[c.leaf].Chunk); err != nil {
		return t.damaged(err)
	}
	for left := g.Rows; left > 0; {
		n := int(min(left, rowsPerTile))
		values := t.tile[:n]
		if err := t.fill(values, t.row, c, pages, &t.scratch); err != nil {
			return err
		}
		for i, v := range values {
			if v-v != 0 { // NaN or infinite
				return t.notFinite(t.row+int64(i), c.index, v)
			}
		}
		b.X = append(b.X, values...)
		t.row, left = t.row+int64(n), left-int64(n)
	}
	return nil
}
