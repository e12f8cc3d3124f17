package csv

import (
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/dataset/internal/chunk"
)

// A format is the [chunk.Format] of a file: it parses the rows.
type format struct {
	*layout
	// simple is true if a number that is followed by the delimiter is always the value of a cell. Then no further
	// checks are needed.
	simple bool
	// stop is the first byte of lines that need the slower method Record: the first byte of comments. If the file
	// has no comments, it is a byte that begins no line.
	stop byte
	// names are the numbers in the header, in the order of the numbers in a row, with NaN for columns of
	// categories. If there is no header, or a selected numeric column has a name that is no number, names is nil.
	names []float64

	mutex  sync.Mutex
	reader *reader // shared by all calls of Record, so that its memory for a wide row is allocated once
}

func newFormat(l *layout) *format {
	simple := strings.IndexByte(" +-.0123456789eE", l.delimiter) < 0 &&
		!l.Notation.Comma &&
		!l.Marks.HasNumbers()
	f := &format{layout: l, simple: simple, stop: 0xff}
	switch {
	case l.comment != 0:
		f.stop = l.comment
	case l.hashes:
		f.stop = '#'
	}
	if l.header {
		f.names = l.numericNames()
	}
	return f
}

// numericNames returns the names of the selected columns as numbers, in the order of the cells in a row. It returns
// NaN for columns of categories. If the name of another selected column is no number, it returns nil.
func (l *layout) numericNames() []float64 {
	var out []float64
	for i, k := range l.To {
		if k < 0 || l.Lexicon(i) != nil {
			continue
		}
		v, ok := l.Notation.Number([]byte(l.Names[i]))
		if !ok {
			return nil // a repeated header is no row of numbers
		}
		for len(out) < l.Features+l.Targets {
			out = append(out, math.NaN())
		}
		out[k] = v
	}
	return out
}

// isHeader reports whether a row has the same numbers as the header. Such a row is a repeated header.
func (f *format) isHeader(row []float64) bool {
	for k, v := range f.names {
		if v == v && v != row[k] {
			return false
		}
	}
	return true
}

// Quotes implements [chunk.Format].
func (f *format) Quotes() *chunk.Quotes {
	q := chunk.NewQuotes(f.delimiter, f.escapes)
	return &q
}

// Record implements [chunk.Format].
func (f *format) Record(b *dataset.Buffer, l *chunk.Lines) error {
	return f.record(l, func(r *reader) error { return r.read(b) })
}

// record sets the shared reader to the lines l and calls read with this reader.
func (f *format) record(l *chunk.Lines, read func(*reader) error) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.reader == nil {
		f.reader = &reader{
			layout:  f.layout,
			records: newRecords(nil, f.layout),
			row:     make([]float64, f.Features+f.Targets),
		}
		f.reader.single = f.hasOneColumn()
	}
	f.reader.from(l)
	err := read(f.reader)
	if err != nil && err != io.EOF {
		f.reader = nil // the reader may have stopped within a record
	}
	return err
}

// Rows implements [chunk.Format].
func (f *format) Rows(b *dataset.Buffer, text []byte, at, size int) int {
	if f.names != nil {
		return f.rowsBelowNumbers(b, text, at, size)
	}
	return f.rows(b, text, at, size)
}

// rowsBelowNumbers does the work of Rows for a file whose column names are numbers. It stops at a row that repeats
// the header.
func (f *format) rowsBelowNumbers(b *dataset.Buffer, text []byte, at, size int) int {
	row := make([]float64, f.Features+f.Targets)
	for at < size {
		next := f.plain(row, text, at)
		if next == 0 || f.isHeader(row) {
			break
		}
		b.X = append(b.X, row[:f.Features]...)
		b.Y = append(b.Y, row[f.Features:]...)
		b.EndRow()
		at = next
	}
	return min(at, size)
}

func (f *format) rows(b *dataset.Buffer, text []byte, at, size int) int {
	width := f.Features + f.Targets
	for at < size {
		// Parse the features and then the targets to b.X, and move the targets to b.Y.
		n := len(b.X)
		b.X = slices.Grow(b.X, width)[:n+width]
		next := f.plain(b.X[n:], text, at)
		if next == 0 {
			b.X = b.X[:n]
			break
		}
		b.Y = append(b.Y, b.X[n+f.Features:]...)
		b.X = b.X[:n+f.Features]
		b.EndRow()
		at = next
	}
	return min(at, size)
}

// plain parses the record at byte p of text into row. It returns the start of the next record, or 0 if only the
// slower method Record can parse the record.
func (f *format) plain(row []float64, text []byte, p int) int {
	last := len(f.To) - 1
	if text[p] == f.stop {
		return 0
	}
	for i, k := range f.To {
		if l := f.Lexicon(i); k >= 0 && f.simple && (l == nil || l.ReadsNumbers()) {
			v, n := cell.Prefix(text[p:])
			q := p + n
			if n > 0 && i < last && text[q] == f.delimiter ||
				n > 0 && i == last && text[q] == '\n' {
				row[k] = v
				p = q + 1
				continue
			}
		}
		field, end := f.field(text, p)
		if end == 0 || (text[end] == '\n') != (i == last) {
			return 0
		}
		if k >= 0 {
			v, ok := f.Value(i, cell.Trimmed(field))
			if !ok {
				return 0
			}
			row[k] = v
		} else if f.margin == emptyField && i == last && len(cell.Trimmed(field)) > 0 {
			return 0
		}
		p = end + 1
	}
	return p
}

// field returns the field at byte p of text, and the position of the byte that ends it. If only the slower method
// Record can parse the field, end is 0.
func (f *format) field(text []byte, p int) (field []byte, end int) {
	inBlanks := f.delimiter == blanks
	from := p
	if f.delimiter != '\t' {
		for text[from] == ' ' || inBlanks && text[from] == '\t' {
			from++
		}
	}
	if text[from] == '"' && !inBlanks {
		return f.quoted(text, from+1)
	}
	if inBlanks {
		p = from
	}
	end = p
	for c := text[end]; c != f.delimiter && c != '\n'; c = text[end] {
		if c == '"' {
			return nil, 0
		}
		if inBlanks && c == '\t' {
			break
		}
		end++
	}
	field = text[p:end]
	if inBlanks { // several blanks are one delimiter, or none before the line end
		for text[end] == ' ' || text[end] == '\t' {
			end++
		}
		if text[end] == '\r' && text[end+1] == '\n' {
			end++
		}
		if text[end] != '\n' {
			end--
		}
	}
	return field, end
}

// quoted returns the field in quotes whose first byte after the opening quote is at p. If only the slower method
// Record can parse the field, end is 0.
func (f *format) quoted(text []byte, p int) (field []byte, end int) {
	for end = p; text[end] != '"'; end++ {
		if text[end] == '\n' {
			return nil, 0
		}
	}
	if text[end-1] == '\\' && f.escapes {
		return nil, 0
	}
	field = text[p:end]
	end++
	if text[end] == '\r' && text[end+1] == '\n' {
		end++
	}
	if c := text[end]; c != f.delimiter && c != '\n' {
		return nil, 0
	}
	return field, end
}
