package parquet

import (
	"errors"
	"io"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// byColumns are the columns of a file of n rows, in the order of features and targets.
func byColumns(name string, choice columns.Choice, n int64, stamp dataset.Stamp) *dataset.Columns {
	source := func(first, count int) dataset.Source {
		s := dataset.NewStream(int64(count), int(n), 0, false, func() (dataset.Reader, error) {
			r, err := newReader(name, choice, n, stamp)
			if err != nil {
				return nil, err
			}
			return newTurnedReader(r.(*reader), first, count), nil
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

// A turnedReader reads columns, each as a row: one after the other, through all row groups.
type turnedReader struct {
	*reader
	order []column
	next  int // in order
}

// newTurnedReader reads count of the columns that are chosen, from one on.
func newTurnedReader(r *reader, first, count int) *turnedReader {
	t := &turnedReader{reader: r, order: make([]column, count)}
	for i, j := range r.indices {
		if k := r.To[j] - first; k >= 0 && k < count {
			t.order[k] = r.used[i]
		}
	}
	return t
}

// Skip is that of [dataset.Skipper].
func (t *turnedReader) Skip(rows int64) (bool, error) {
	t.next += int(rows)
	return true, nil
}

// Read fills a block with columns.
func (t *turnedReader) Read(b *dataset.Buffer, rows int) (err error) {
	defer func() {
		if recover() != nil { // as in reader.Read
			err = t.damaged(rawfile.ErrDamaged)
		}
	}()
	if t.next == len(t.order) {
		return io.EOF
	}
	for b.N < rows && t.next < len(t.order) {
		t.row = 0
		for group := range t.NumRowGroups() {
			if err := t.ofGroup(b, &t.order[t.next], group); err != nil {
				return err
			}
		}
		b.N++
		t.next++
	}
	return nil
}

// ofGroup appends what a row group has of a column.
func (t *turnedReader) ofGroup(b *dataset.Buffer, c *column, group int) (err error) {
	if c.chunk, err = t.RowGroup(group).Column(c.leaf); err != nil {
		return t.damaged(err)
	}
	for left := t.MetaData().RowGroup(group).NumRows(); left > 0; {
		n := int(min(left, tileRows))
		values := t.tile[:n]
		if err := t.fill(values, c); err != nil {
			return errors.Join(err, c.chunk.Close())
		}
		for i, v := range values {
			if v-v != 0 { // NaN or infinite
				return errors.Join(t.notFinite(t.row+int64(i), c.index, v), c.chunk.Close())
			}
		}
		b.X = append(b.X, values...)
		t.row, left = t.row+int64(n), left-int64(n)
	}
	if err := c.chunk.Close(); err != nil {
		return t.damaged(err)
	}
	c.chunk = nil
	return nil
}
