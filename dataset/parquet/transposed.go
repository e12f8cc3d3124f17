package parquet

import (
	"io"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/internal/parallel"
)

// byColumns returns sources for a Parquet file of n rows. The rows of the first source are the feature columns of
// the file, and the rows of the second are the target columns. Without targets there is no second source.
func byColumns(
	name string,
	choice columns.Choice,
	n int64,
	stamp dataset.Stamp,
) *dataset.Columns {
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

// A transposedReader returns each column of a Parquet file as one row. It reads a column across all row groups.
type transposedReader struct {
	*reader
	order []column
	next  int // index in order of the next column
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

// Read fills b with up to the given number of columns, as rows. If they have at most 2²⁰ numbers, it decodes them
// in parallel into memory allocated in advance. Otherwise it decodes one column after the other, and the memory
// grows with the numbers found. This is because a damaged file may state too many rows.
func (t *transposedReader) Read(b *dataset.Buffer, rows int) (err error) {
	group := t.order[t.next:min(t.next+rows, len(t.order))]
	n := int(t.rows)
	if len(group) == 0 {
		return io.EOF
	}
	b.N = len(group)
	t.next += len(group)
	if n <= 1<<20/len(group) {
		x := slices.Grow(b.X, len(group)*n)[:len(group)*n]
		b.X = x
		return parallel.Do(len(group), len(x), func(i int) error {
			_, err := t.appendColumn(x[i*n:i*n], &group[i])
			return err
		})
	}
	for i := 0; i < len(group) && err == nil; i++ {
		b.X, err = t.appendColumn(b.X, &group[i])
	}
	return err
}

// appendColumn decodes a column, across row groups.
func (t *transposedReader) appendColumn(x []float64, c *column) ([]float64, error) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	pages, row := t.newPages(c), int64(0)
	for i := range t.groups {
		g := &t.groups[i]
		if err := pages.open(g.Chunks[c.leaf].Chunk); err != nil {
			return x, t.damaged(err)
		}
		for end := row + g.Rows; row < end; {
			values := s.tile[:min(end-row, rowsPerTile)]
			if err := t.fill(values, row, c, pages, s); err != nil {
				return x, err
			}
			for i, v := range values {
				if v-v != 0 { // NaN or infinite
					return x, t.notFinite(row+int64(i), c.index, v)
				}
			}
			x = append(x, values...)
			row += int64(len(values))
		}
	}
	return x, nil
}
