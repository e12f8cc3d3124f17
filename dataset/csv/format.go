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

// A format parses the rows of a file; it implements [chunk.Format].
type format struct {
	*layout
	// simple is true if a number followed by the delimiter is the value of a cell.
	simple bool
	// stop is the first byte of lines that only the slower method Record reads: comments, or a byte that begins no UTF-8.
	stop byte
	// names are the numbers in the header, in the order of the cells in a row, or nil. NaN is no number.
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

// numericNames returns the numbers in the header, in the order of the cells in a row, or nil. Names that are no numbers
// are NaN.
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

// isHeader reports whether a row has the numbers in the header.
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

// record calls read with the shared reader of the lines l.
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

// rowsBelowNumbers is Rows for a file whose names are numbers. It stops at a row with the numbers in the header.
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
		// Parse features, then targets, and move the targets to b.Y.
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

// plain parses a record and returns the start of the next record. It returns 0 if only the slower method Record can
// parse the record.
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

// field returns the field at byte p and its end.
// end is 0 if only encoding/csv can parse the field.
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

// quoted parses a field whose opening quote is at byte p−1.
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
