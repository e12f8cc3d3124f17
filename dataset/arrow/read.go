package arrow

import (
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// A reader makes one pass, record batch by record batch.
type reader struct {
	*layout
	columns.Choice
	file  *rawfile.File
	from  *messages
	ipc   *ipc.Reader
	parts []part
	tile  []float64
	batch arrow.RecordBatch // at hand, nil for none
	at    int               // its next row
	row   int64             // rows read of the file
	late  int               // rows of the next batch that are left out
	full  int               // a column with a text that has no code, -1: none
	why   string            // there is no code
}

// A part is what is put into rows together: a column of lists, or up to columns.Tile others.
type part struct {
	js     []int // the columns
	fields []int // where they are in the schema; of lists one
	width  int   // of lists, 0 for others
	// plain says that all are float64 and features next to each other, and so go to their rows
	// without a copy before.
	plain bool
	// lent says that the blocks of a batch are its memory: there is one part of the features, of float64.
	lent bool
	// lexicon is of a categorical column, which is alone; nil: numbers.
	lexicon *dataset.Lexicon
}

// tileRows is how many rows are put together at a time: columns.Tile columns of them stay in the
// cache.
const tileRows = 1024

func newReader(f *rawfile.File, t *layout, choice columns.Choice) (*reader, error) {
	m := &messages{file: f, index: t.index}
	of, err := ipc.NewReaderFromMessageReader(m, ipc.WithAllocator(&m.room))
	if err != nil {
		return nil, wrap(f, "has no schema that can be read", err)
	}
	if !of.Schema().Equal(t.schema) {
		return nil, &dataset.InputError{File: f.Name, Msg: "has another schema than when it was opened"}
	}
	r := &reader{layout: t, Choice: choice, file: f, from: m, ipc: of, tile: make([]float64, columns.Tile*tileRows), full: -1}
	r.divide()
	return r, nil
}

// divide makes the parts.
func (r *reader) divide() {
	for j := 0; j < len(r.To); j++ {
		at := r.fields[j]
		if items, ok := r.schema.Field(at.field).Type.(*arrow.FixedSizeListType); ok {
			p := part{fields: []int{at.field}, width: int(items.Len())}
			for p.plain = items.Elem().ID() == arrow.FLOAT64; len(p.js) < p.width; j++ {
				p.js = append(p.js, j)
			}
			j--
			if r.used(p.js) {
				p.plain = p.plain && r.together(p.js)
				r.parts = append(r.parts, p)
			}
			continue
		}
		if r.To[j] < 0 {
			continue
		}
		if l := r.Lexicon(j); l != nil {
			r.parts = append(r.parts, part{js: []int{j}, fields: []int{at.field}, lexicon: l})
			continue
		}
		plain := r.schema.Field(at.field).Type.ID() == arrow.FLOAT64
		last := len(r.parts) - 1
		if last < 0 || r.parts[last].width > 0 || r.parts[last].lexicon != nil || len(r.parts[last].js) == columns.Tile {
			r.parts, last = append(r.parts, part{plain: true}), last+1
		}
		p := &r.parts[last]
		p.js, p.fields = append(p.js, j), append(p.fields, at.field)
		p.plain = p.plain && plain && len(p.js) <= columns.Tile && r.together(p.js)
	}
	for i := range r.parts {
		p := &r.parts[i]
		p.lent = p.plain && len(p.js) == r.Features && r.Cells == nil // where values are missing NaN is written
		p.plain = p.plain && (p.width > 0 || len(p.js) == columns.Tile || p.lent && len(p.js) == 1)
		if p.lent = p.lent && (p.width > 0 || len(p.js) == 1); p.lent {
			r.parts[0], r.parts[i] = r.parts[i], r.parts[0]
		}
	}
}

// used reports whether any of the columns is wanted.
func (r *reader) used(js []int) bool {
	for _, j := range js {
		if r.To[j] >= 0 {
			return true
		}
	}
	return false
}

// together reports whether columns are features next to each other, in their order.
func (r *reader) together(js []int) bool {
	for k, j := range js {
		if r.To[j] < 0 || r.To[j] != r.To[js[0]]+k || r.To[j] >= r.Features {
			return false
		}
	}
	return true
}

// Close gives the memory back and closes the file.
func (r *reader) Close() error {
	r.file.Stop()
	r.ipc.Release()
	return r.file.Close()
}

// Stop is that of [dataset.Stopper].
func (r *reader) Stop() { r.file.Stop() }

// Unchanged is that of [dataset.Witness].
func (r *reader) Unchanged() error { return r.file.Unchanged() }

// Skip is that of [dataset.Skipper]: whole record batches are not looked at.
func (r *reader) Skip(rows int64) (bool, error) {
	if r.index == nil {
		return false, nil
	}
	first, batches := len(r.index.before), 0
	for batches < len(r.index.batches) && r.index.batches[batches].rows <= rows {
		rows -= r.index.batches[batches].rows
		r.row += r.index.batches[batches].rows
		batches++
	}
	r.from.places = slices.Delete(r.from.places, first, first+batches)
	r.from.batch = batches
	r.late = int(rows)
	r.row += rows
	return true, nil
}

// Read fills a block from as many record batches as it takes, so that blocks do not tell how the
// data were written; where rows are wanted as they come, from one.
func (r *reader) Read(b *dataset.Buffer, rows int) (err error) {
	defer func() {
		if recover() != nil { // the library does on batches that contradict themselves
			err = r.from.fail("%v", rawfile.ErrDamaged)
		}
	}()
	for b.N < rows {
		if r.batch == nil || r.at == int(r.batch.NumRows()) {
			if r.batch != nil && b.N > 0 && r.file.Prompt() {
				return nil
			}
			more, err := r.advance()
			if err != nil {
				return err
			}
			if !more {
				if b.N > 0 {
					return nil
				}
				return io.EOF
			}
			continue
		}
		left := int(r.batch.NumRows()) - r.at
		lends := b.N == 0 && r.parts[0].lent && (left >= rows || r.file.Prompt())
		n := min(rows-b.N, left)
		if !lends {
			r.Reserve(b, n)
			n = min(n, tileRows)
		}
		if err := r.rows(b, n, lends); err != nil {
			return err
		}
		if lends {
			return nil
		}
	}
	return nil
}

// advance takes the next record batch.
func (r *reader) advance() (bool, error) {
	r.batch = nil
	if !r.ipc.Next() {
		if err := r.ipc.Err(); err != nil {
			return false, wrap(r.file, fmt.Sprintf("record batch %d cannot be read", r.from.batch), err)
		}
		return false, nil
	}
	batch := r.ipc.RecordBatch()
	if batch.NumCols() != int64(r.schema.NumFields()) || batch.NumRows() < int64(r.late) || batch.NumRows() > 1<<40 {
		return false, r.from.fail("%d rows of %d columns", batch.NumRows(), batch.NumCols())
	}
	for i := range r.parts {
		for _, f := range r.parts[i].fields {
			a := batch.Column(f)
			if int64(a.Len()) != batch.NumRows() {
				return false, r.from.fail("column %s has %d rows, the batch %d", excerpt.Of(r.names[r.parts[i].js[0]]), a.Len(), batch.NumRows())
			}
			if items, ok := a.(*array.FixedSizeList); ok && items.ListValues().Len() < a.Len()*r.parts[i].width {
				return false, r.from.fail("the lists of column %s have too few values", excerpt.Of(r.names[r.parts[i].js[0]]))
			}
		}
	}
	r.batch, r.at, r.late = batch, r.late, 0
	return true, nil
}

// rows puts the next n rows of the batch at hand into the block, or lends them.
func (r *reader) rows(b *dataset.Buffer, n int, lends bool) error {
	if err := r.missing(n); err != nil {
		return err
	}
	var x, y []float64
	parts := r.parts
	if lends {
		batch := r.batch
		values := float64s(valuesOf(batch.Column(parts[0].fields[0])))
		x = values[r.at*r.Features : (r.at+n)*r.Features]
		batch.Retain()
		y = b.Lend(x, n, r.Targets, batch.Release)
		parts = parts[1:]
	} else {
		x, y = r.Grow(b, n)
	}
	finite := !lends || allFinite(x)
	for i := range parts {
		finite = r.put(&parts[i], x, y, n) && finite
	}
	if r.full >= 0 {
		return &dataset.InputError{File: r.file.Name, Column: r.full + 1, Msg: "column " + excerpt.Of(r.names[r.full]) + " " + r.why}
	}
	if r.Cells != nil {
		finite = r.gaps(x, y, n) && finite
	}
	if !finite {
		if i, j, v, bad := r.Find(x, y); bad {
			return r.notFinite(r.row+int64(i), j, v)
		}
	}
	r.at += n
	r.row += int64(n)
	return nil
}

// put puts a part of the next n rows where they belong, and reports whether all are finite.
func (r *reader) put(p *part, x, y []float64, n int) bool {
	if p.width > 0 {
		return r.putLists(p, x, y, n)
	}
	if p.lexicon != nil {
		return r.putCodes(p, x, n)
	}
	if p.plain && len(p.js) == columns.Tile {
		var from [columns.Tile][]float64
		finite := true
		for k, f := range p.fields {
			from[k] = float64s(r.batch.Column(f))[r.at : r.at+n]
			finite = allFinite(from[k]) && finite
		}
		turn(x[r.To[p.js[0]]:], r.Features, &from, n)
		return finite
	}
	for k, f := range p.fields {
		fill(r.tile[k*n:(k+1)*n], r.batch.Column(f), r.at)
	}
	return r.Columns(x, y, p.js, 0, r.tile[:len(p.js)*n])
}

// putLists is put for a column of lists.
func (r *reader) putLists(p *part, x, y []float64, n int) bool {
	values := valuesOf(r.batch.Column(p.fields[0]))
	if p.plain {
		from := float64s(values)[r.at*p.width : (r.at+n)*p.width]
		for i := range n {
			copy(x[i*r.Features+r.To[p.js[0]]:][:p.width], from[i*p.width:])
		}
		return allFinite(from)
	}
	finite := true
	for lo := 0; lo < n*p.width; lo += len(r.tile) { // values of rows one after the other
		hi := min(lo+len(r.tile), n*p.width)
		part := r.tile[:hi-lo]
		fill(part, values, r.at*p.width+lo)
		for k, v := range part {
			i, j := (lo+k)/p.width, p.js[(lo+k)%p.width]
			switch to := r.To[j]; {
			case to < 0:
				continue
			case to < r.Features:
				x[i*r.Features+to] = v
			default:
				y[i*r.Targets+to-r.Features] = v
			}
			finite = finite && v-v == 0
		}
	}
	return finite
}

// missing refuses a missing value among the next n rows.
func (r *reader) missing(n int) error {
	for i := range r.parts {
		p := &r.parts[i]
		for k, f := range p.fields {
			a := r.batch.Column(f)
			if p.width == 0 && r.Allows(p.js[k]) {
				continue
			}
			if at := firstNull(a, r.at, n); at >= 0 {
				return r.null(at, p.js[k])
			}
			if p.width == 0 {
				continue
			}
			if values := valuesOf(a); values.NullN() != 0 {
				for row := r.at; row < r.at+n; row++ {
					for item, j := range p.js {
						if r.To[j] >= 0 && !r.Allows(j) && values.IsNull(row*p.width+item) {
							return r.null(row, j)
						}
					}
				}
			}
		}
	}
	return nil
}

// null is the error of a missing value in column j, in a row of the batch at hand.
func (r *reader) null(at, j int) error {
	return r.Gap(j, &dataset.InputError{
		File: r.file.Name, Line: int(r.row) + at - r.at + 1, Column: j + 1,
		Msg: "column " + excerpt.Of(r.names[j]) + " has no value (null)",
	})
}

// notFinite is the error of a number of column j, in a row from 0.
func (r *reader) notFinite(row int64, j int, v float64) error {
	out := &dataset.InputError{File: r.file.Name, Line: int(row) + 1, Column: j + 1, Msg: fmt.Sprintf("column %s: %v is not finite", excerpt.Of(r.names[j]), v), NonFinite: true, Missing: v != v}
	dt := r.schema.Field(r.fields[j].field).Type
	if items, ok := dt.(*arrow.FixedSizeListType); ok {
		dt = items.Elem()
	}
	if r.To[j] < r.Features && r.Lexicon(j) != nil && isText(dt) {
		out.NonFinite, out.Msg = false, "column "+excerpt.Of(r.names[j])+" has an empty text, a missing value"
		return r.Gap(j, out)
	}
	if arrow.IsInteger(dt.ID()) {
		out.NonFinite, out.Missing, out.Msg = false, false, fmt.Sprintf("column %s: an integer beyond 2⁵³, which float64 does not hold", excerpt.Of(r.names[j]))
	}
	return out
}

// allFinite is false where a number is not finite, and may be where their sum overflows.
func allFinite(x []float64) bool {
	sum := floats.Sum(x)
	return sum-sum == 0
}
