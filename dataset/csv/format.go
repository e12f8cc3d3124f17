package csv

import (
	"io"
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

	mutex  sync.Mutex
	reader *reader // shared by all calls of Record, so that its memory for a wide row is allocated once
}

func newFormat(l *layout) *format {
	simple := strings.IndexByte(" +-.0123456789eE", l.delimiter) < 0 && !l.Notation.Comma && !l.Marks.HasNumbers()
	return &format{layout: l, simple: simple}
}

// Quotes implements [chunk.Format].
func (f *format) Quotes() (delimiter byte, quoted bool) { return f.delimiter, true }

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
			records: newRecords(nil, f.delimiter),
			row:     make([]float64, f.Features+f.Targets),
		}
		f.reader.single = f.hasOneColumn()
		f.reader.records.comment = f.comment
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
	if f.comment != 0 && text[p] == f.comment {
		return 0
	}
	for i, k := range f.To {
		if l := f.Lexicon(i); k >= 0 && f.simple && (l == nil || l.ReadsNumbers()) {
			v, n := cell.Prefix(text[p:])
			if q := p + n; n > 0 && i < last && text[q] == f.delimiter || n > 0 && i == last && text[q] == '\n' {
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
