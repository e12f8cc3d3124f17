package arrow

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/parallel"
)

// A reader reads the rows of a file in one pass, one record batch after the other.
type reader struct {
	*layout
	columns.Choice
	file   *rawfile.File
	from   *messages
	wanted []bool                // for each field, whether it is read
	dicts  map[int64]*dictionary // by the number of the dictionary
	parts  []part
	tile   *tile  // set for the duration of convert
	batch  *batch // current batch, or nil
	at     int    // next row of batch
	row    int64  // rows of the file read so far
	skip   int    // rows to skip at the start of the next batch
	failed int    // column with a text that has no code, or -1
	why    string // why this text has no code
	fault  columns.Fault
}

// A part is a group of columns that are converted together. For a field of lists, these are all positions of the
// lists. Otherwise they are at most columns.Tile columns of fields without lists.
type part struct {
	js     []int // the columns
	fields []int // their fields in the schema; only one for lists
	width  int   // length of the lists, 0 for other columns
	// plain is true only if the columns are features that lie side by side and are float64. They need no conversion.
	plain bool
	// lent is true if blocks of rows share the memory of the record batch. Otherwise the numbers are copied.
	lent bool
	// lexicon maps categories to codes. It is nil for numeric columns.
	lexicon *prepare.Lexicon
	// left is true if the columns are left out. Then all their values count as missing, whatever the file holds.
	left bool
}

// A block of rows is converted in pieces, in parallel. A piece has at most rowsPerTile rows. It has at most
// tileNumbers numbers, unless leastRows rows have more. The numbers pass through memory of type tile, which fits in
// cache.
const (
	rowsPerTile = 1024
	tileNumbers = 1 << 16
	leastRows   = 64 // least number of rows of a tile, so that the values of each column are read in long runs
)

type tile [columns.Tile * rowsPerTile]float64

var tiles = sync.Pool{New: func() any { return new(tile) }}

func newReader(f *rawfile.File, t *layout, choice columns.Choice) (*reader, error) {
	m := &messages{file: f, index: t.index}
	schema, err := m.schema()
	if err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(schema, t.schema) {
		return nil, &dataset.InputError{File: f.Name, Msg: "its schema differs from when it was opened"}
	}
	r := &reader{
		layout: t,
		Choice: choice,
		file:   f,
		from:   m,
		wanted: make([]bool, len(schema)),
		dicts:  map[int64]*dictionary{},
		failed: -1,
	}
	r.makeParts()
	for _, p := range r.parts {
		for _, f := range p.fields {
			r.wanted[f] = !p.left
		}
	}
	return r, nil
}

// makeParts divides the columns into parts.
func (r *reader) makeParts() {
	for j := 0; j < len(r.To); j++ {
		at := r.fields[j]
		of := &r.schema[at.field].dataType
		if at.item >= 0 {
			p := part{fields: []int{at.field}, width: of.items}
			for p.plain = of.item().isFloat64(); len(p.js) < p.width; j++ {
				p.js = append(p.js, j)
			}
			j--
			if r.isUsed(p.js) {
				p.left = r.isLeft(p.js)
				p.plain = p.plain && r.areAdjacent(p.js)
				r.parts = append(r.parts, p)
			}
			continue
		}
		if r.To[j] < 0 {
			continue
		}
		if l := r.Lexicon(j); l != nil {
			r.parts = append(r.parts, part{
				js:      []int{j},
				fields:  []int{at.field},
				lexicon: l,
				left:    r.isLeft([]int{j}),
			})
			continue
		}
		plain := r.schema[at.field].isFloat64()
		last := len(r.parts) - 1
		if last < 0 ||
			r.parts[last].width > 0 ||
			r.parts[last].lexicon != nil ||
			len(r.parts[last].js) == columns.Tile {
			r.parts = append(r.parts, part{plain: true})
			last++
		}
		p := &r.parts[last]
		p.js = append(p.js, j)
		p.fields = append(p.fields, at.field)
		p.plain = p.plain &&
			plain &&
			len(p.js) <= columns.Tile &&
			r.areAdjacent(p.js)
	}
	for i := range r.parts {
		p := &r.parts[i]
		p.lent = p.plain && len(p.js) == r.Features &&
			r.Cells.OnlyNumbers() // NaN replaces missing values, so it needs a copy
		p.plain = p.plain &&
			(p.width > 0 || len(p.js) == columns.Tile || p.lent && len(p.js) == 1)
		p.lent = p.lent && (p.width > 0 || len(p.js) == 1)
		if p.lent {
			r.parts[0], r.parts[i] = r.parts[i], r.parts[0]
		}
	}
}

// isLeft reports whether the columns js are left out because they cannot be read. All of them belong to the same
// field.
func (r *reader) isLeft(js []int) bool {
	for _, j := range js {
		if r.To[j] >= 0 {
			holds, _ := r.refusal(j, r.Lexicon(j))
			return holds != ""
		}
	}
	return false
}

// isUsed reports whether any of the columns is read.
func (r *reader) isUsed(js []int) bool {
	for _, j := range js {
		if r.To[j] >= 0 {
			return true
		}
	}
	return false
}

// areAdjacent reports whether the columns js are features that follow each other in a row, in this order.
func (r *reader) areAdjacent(js []int) bool {
	for k, j := range js {
		if r.To[j] < 0 ||
			r.To[j] != r.To[js[0]]+k ||
			r.To[j] >= r.Features {
			return false
		}
	}
	return true
}

// Close releases the memory and closes the file.
func (r *reader) Close() error {
	r.file.Stop()
	r.drop()
	return r.file.Close()
}

// Stop implements [dataset.Stopper].
func (r *reader) Stop() { r.file.Stop() }

// Unchanged implements [dataset.Witness].
func (r *reader) Unchanged() error { return r.file.Unchanged() }

// Skip implements [dataset.Skipper], without reading the skipped batches.
func (r *reader) Skip(rows int64) (bool, error) {
	if r.index == nil {
		return false, nil
	}
	first := len(r.index.before)
	batches := 0
	for batches < len(r.index.batches) && r.index.batches[batches].rows <= rows {
		rows -= r.index.batches[batches].rows
		r.row += r.index.batches[batches].rows
		batches++
	}
	r.from.places = slices.Delete(r.from.places, first, first+batches)
	r.from.batch = batches
	r.skip = int(rows)
	r.row += rows
	return true, nil
}

// Read fills a block with rows from one or more record batches. If [dataset.Pipe].Prompt is set, a block ends at
// the end of its record batch, because otherwise its rows would wait for the next record batch.
func (r *reader) Read(b *dataset.Buffer, rows int) (err error) {
	defer r.recoverDamaged(&err)
	if err := r.fault.Err(); err != nil {
		return err
	}
	first := r.row
	for b.N < rows {
		if r.batch == nil || r.at == r.batch.rows {
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
		left := r.batch.rows - r.at
		lends := b.N == 0 &&
			r.parts[0].lent &&
			(left >= rows || r.file.Prompt())
		n := min(rows-b.N, left)
		if err := r.rows(b, n, lends); err != nil {
			return r.fault.Delay(&r.Choice, b, first, err)
		}
		if lends {
			return nil
		}
	}
	return nil
}

// recoverDamaged converts a panic to an error. The panic means that the file is damaged: the offset of a text, or
// an index into a dictionary, lies outside the data.
func (r *reader) recoverDamaged(err *error) {
	if recover() != nil {
		*err = r.from.fail("%v", rawfile.ErrDamaged)
	}
}

func (r *reader) drop() {
	if r.batch != nil {
		r.batch.release()
		r.batch = nil
	}
}

// advance reads the next record batch and the dictionaries that precede it. It returns false if there are no more
// record batches.
func (r *reader) advance() (bool, error) {
	r.drop()
	for {
		h, body, err := r.from.read()
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		err = recoverBounds(func() (err error) {
			switch d := newDecoder(&h, body, &r.from.room); h.kind {
			case kindBatch:
				r.batch, err = d.batch(h.rows, r.schema, r.wanted)
			case kindDictionary:
				err = r.addDictionary(&h, d)
			default:
				err = fmt.Errorf("a message of kind %d is no record batch", h.kind)
			}
			return err
		})
		if err == nil && h.kind == kindBatch && r.batch.rows < r.skip {
			err = fmt.Errorf("it has %d rows, fewer than announced", r.batch.rows)
		}
		if err != nil {
			return false, r.from.fail("%v", err)
		}
		if h.kind == kindBatch {
			break
		}
	}
	for i, a := range r.batch.columns {
		if a != nil && a.of.index != nil {
			a.dict = r.dicts[a.of.dictionary]
			if a.dict == nil {
				return false, r.from.fail("column %s has no dictionary", errtext.Excerpt(r.schema[i].name))
			}
		}
	}
	r.at, r.skip = r.skip, 0
	return true, nil
}

// addDictionary decodes the dictionary of message h. If no wanted column uses it, the dictionary is skipped.
func (r *reader) addDictionary(h *head, d *decoder) error {
	for i := range r.schema {
		of := r.schema[i].dataType
		if of.index == nil ||
			of.dictionary != h.id ||
			!r.wanted[i] {
			continue
		}
		of.index = nil
		values := d.array(&of, true)
		d.run()
		if d.err != nil {
			return d.err
		}
		known := r.dicts[h.id]
		if known == nil || !h.delta {
			known = &dictionary{}
		}
		r.dicts[h.id] = &dictionary{parts: append(slices.Clip(known.parts), values)}
		return nil
	}
	r.from.room.free(d.body)
	return nil
}

// rows adds the next n rows of the record batch to the block b. If lends is true, the features in b share the
// memory of the record batch. Otherwise they are copied.
func (r *reader) rows(b *dataset.Buffer, n int, lends bool) error {
	var x, y []float64
	if lends {
		batch := r.batch
		values := float64s(valuesOf(batch.columns[r.parts[0].fields[0]]))
		x = values[r.at*r.Features : (r.at+n)*r.Features]
		batch.holders.Add(1)
		y = b.Lend(x, n, r.Targets, batch.release)
	} else {
		x, y = r.Grow(b, n)
	}
	height := min(rowsPerTile, max(leastRows, tileNumbers/(r.Features+r.Targets)))
	err := parallel.Do((n+height-1)/height, len(x)+len(y), func(i int) (err error) {
		defer r.recoverDamaged(&err)
		lo := i * height
		hi := min((i+1)*height, n)
		t := *r
		t.tile = tiles.Get().(*tile)
		defer tiles.Put(t.tile)
		t.at = r.at + lo
		t.row = r.row + int64(lo)
		return t.convertUntilError(
			x[lo*r.Features:hi*r.Features],
			y[lo*r.Targets:hi*r.Targets],
			hi-lo,
			lends,
		)
	})
	r.at += n
	r.row += int64(n)
	return err
}

// convertUntilError converts n rows like convert. If a row has an error, it converts all rows before the first such
// row.
func (r *reader) convertUntilError(x, y []float64, n int, lends bool) error {
	t := *r
	err := t.convert(x, y, n, lends)
	e, ok := errors.AsType[*dataset.InputError](err)
	if !ok {
		return err
	}
	if before := e.Line - 1 - int(r.row); 0 < before && before < n {
		earlier := r.convertUntilError(
			x[:before*r.Features],
			y[:before*r.Targets],
			before,
			lends,
		)
		if earlier != nil {
			return earlier
		}
	}
	return err
}

// convert sets the features x and the targets y of the next n rows. If lends is true, x shares memory with the
// record batch and already holds the features.
func (r *reader) convert(x, y []float64, n int, lends bool) error {
	if err := r.checkNulls(n); err != nil {
		return err
	}
	parts := r.parts
	if lends {
		parts = parts[1:]
	}
	finite := !lends || allFinite(x)
	for i := range parts {
		finite = r.put(&parts[i], x, y, n) && finite
	}
	if r.failed >= 0 {
		return &dataset.InputError{
			File:   r.file.Name,
			Column: r.failed + 1,
			Msg:    "column " + errtext.Excerpt(r.names[r.failed]) + " " + r.why,
		}
	}
	if !r.Cells.OnlyNumbers() {
		finite = r.fillNulls(x, y, n) && finite
	}
	if !finite {
		if i, j, v, bad := r.Find(x, y); bad {
			return r.notFinite(r.row+int64(i), j, v)
		}
	}
	return nil
}

// put writes the next n values of each column of part p to the rows of features x and of targets y. It reports
// whether all these values are finite.
func (r *reader) put(p *part, x, y []float64, n int) bool {
	if p.left {
		for _, j := range p.js {
			for row := 0; row < n && r.To[j] >= 0; row++ {
				x[row*r.Features+r.To[j]] = math.NaN()
			}
		}
		return false
	}
	if p.width > 0 {
		return r.putLists(p, x, y, n)
	}
	if p.lexicon != nil {
		return r.putCodes(p, x, y, n)
	}
	if p.plain && len(p.js) == columns.Tile {
		var from [columns.Tile][]float64
		finite := true
		for k, f := range p.fields {
			from[k] = float64s(r.batch.columns[f])[r.at : r.at+n]
			finite = allFinite(from[k]) && finite
		}
		transpose(x[r.To[p.js[0]]:], r.Features, &from, n)
		return finite
	}
	for k, f := range p.fields {
		column := r.tile[k*n : (k+1)*n]
		fill(column, r.batch.columns[f], r.at)
	}
	return r.Columns(x, y, p.js, 0, r.tile[:len(p.js)*n])
}

// putLists is put for a column of lists.
func (r *reader) putLists(p *part, x, y []float64, n int) bool {
	values := valuesOf(r.batch.columns[p.fields[0]])
	if p.plain {
		from := float64s(values)[r.at*p.width : (r.at+n)*p.width]
		for i := range n {
			to := x[i*r.Features+r.To[p.js[0]]:]
			copy(to[:p.width], from[i*p.width:])
		}
		return allFinite(from)
	}
	finite := true
	for lo := 0; lo < n*p.width; lo += len(r.tile) { // values of consecutive rows
		hi := min(lo+len(r.tile), n*p.width)
		part := r.tile[:hi-lo]
		fill(part, values, r.at*p.width+lo)
		for k, v := range part {
			i := (lo + k) / p.width
			j := p.js[(lo+k)%p.width]
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

// checkNulls returns an error if the next n rows have a null in a column that allows no missing values.
func (r *reader) checkNulls(n int) error {
	for i := range r.parts {
		p := &r.parts[i]
		if p.left {
			continue
		}
		for k, f := range p.fields {
			a := r.batch.columns[f]
			if p.width == 0 && r.Allows(p.js[k]) {
				continue
			}
			if at := firstNull(a, r.at, n); at >= 0 {
				for _, j := range p.js[k:max(k+1, p.width)] {
					if r.To[j] >= 0 && !r.Allows(j) {
						return r.nullError(at, j)
					}
				}
			}
			if p.width == 0 {
				continue
			}
			if values := valuesOf(a); values.valid != nil {
				for row := r.at; row < r.at+n; row++ {
					for item, j := range p.js {
						if r.To[j] >= 0 &&
							!r.Allows(j) &&
							values.isNull(row*p.width+item) {
							return r.nullError(row, j)
						}
					}
				}
			}
		}
	}
	return nil
}

// nullError returns the error for a null in column j.
func (r *reader) nullError(batchRow, j int) error {
	return r.Gap(j, &dataset.InputError{
		File:   r.file.Name,
		Line:   int(r.row) + batchRow - r.at + 1,
		Column: j + 1,
		Msg:    "column " + errtext.Excerpt(r.names[j]) + " has a missing value (null)",
	})
}

// notFinite returns the error for the value v, which is not finite, in column j of a row. Rows are counted from 0.
func (r *reader) notFinite(row int64, j int, v float64) error {
	out := &dataset.InputError{
		File:      r.file.Name,
		Line:      int(row) + 1,
		Column:    j + 1,
		Msg:       fmt.Sprintf("column %s: %v is not finite", errtext.Excerpt(r.names[j]), v),
		NonFinite: true,
		Missing:   v != v,
	}
	dt := r.schema[r.fields[j].field].item()
	if r.Lexicon(j) != nil && dt.isText() {
		out.NonFinite = false
		out.Msg = "column " + errtext.Excerpt(r.names[j]) + " has an empty text, which is a missing value"
		return r.Gap(j, out)
	}
	if dt.id == typeInt {
		out.NonFinite, out.Missing, out.Msg = false, false, fmt.Sprintf(
			"column %s: an integer beyond 2⁵³, which float64 cannot represent",
			errtext.Excerpt(r.names[j]),
		)
	}
	return out
}

// allFinite returns true only if all numbers are finite. It may return false for finite numbers whose sum
// overflows.
func allFinite(x []float64) bool {
	sum := floats.Sum(x)
	return sum-sum == 0
}
