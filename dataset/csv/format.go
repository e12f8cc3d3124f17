package csv

import (
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/chunk"
	"github.com/fdridge/fdridge/internal/cell"
	"github.com/fdridge/fdridge/internal/decimal"
)

// A format is how the rows of a file are read; it is a [chunk.Format].
type format struct {
	*layout
	// simple says that the delimiter is one byte that is in no number, so that a number ends
	// before it.
	simple bool

	mutex  sync.Mutex
	reader *reader // for all of Record, so that no more than one takes memory for a wide row
}

func newFormat(l *layout) *format {
	return &format{layout: l, simple: strings.IndexByte(" +-.0123456789eE", l.delimiter) < 0}
}

// Quotes is that of [chunk.Format].
func (f *format) Quotes() bool { return true }

// Record is that of [chunk.Format].
func (f *format) Record(b *dataset.Buffer, l *chunk.Lines) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.reader == nil {
		f.reader = &reader{layout: f.layout, records: newRecords(nil, f.delimiter), row: make([]float64, f.Features+f.Targets)}
	}
	f.reader.from(l)
	err := f.reader.read(b)
	if err != nil && err != io.EOF {
		f.reader = nil // it may have stopped amid a record
	}
	return err
}

// Rows is that of [chunk.Format].
func (f *format) Rows(b *dataset.Buffer, text []byte, at, size int) int {
	width := f.Features + f.Targets
	for at < size {
		// The targets of a row are put behind its features, and taken off again.
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

// plain reads the record that begins at byte p of text, and returns where the next one
// begins. It returns 0 where the record is not one line, or has another number of fields or
// what is no number, for which Record is there.
func (f *format) plain(row []float64, text []byte, p int) int {
	last := len(f.To) - 1
	for i, k := range f.To {
		if k >= 0 && f.simple && f.Lexicon(i) == nil {
			v, n := decimal.Prefix(text[p:])
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
			v, ok := f.cell(i, cell.Trimmed(field))
			if !ok {
				return 0
			}
			row[k] = v
		}
		p = end + 1
	}
	return p
}

// cell reads a trimmed field of column i. ok is false where it is none of what there may be: number
// says why.
func (l *layout) cell(i int, s []byte) (v float64, ok bool) {
	if lexicon := l.Lexicon(i); lexicon != nil {
		if cell.Missing(s) {
			return math.NaN(), l.Allows(i)
		}
		return lexicon.Code(s)
	}
	if cell.Missing(s) {
		return math.NaN(), l.Allows(i)
	}
	return cell.Number(s)
}

// field returns what is in the field at byte p of text, and where the delimiter or the line's
// end behind it is: 0 where a quote is not closed in this line, or has a meaning that is left
// to encoding/csv.
func (f *format) field(text []byte, p int) (field []byte, end int) {
	blanks := f.delimiter == ' '
	from := p
	if f.delimiter != '\t' {
		for text[from] == ' ' {
			from++
		}
	}
	if text[from] == '"' && !blanks {
		return f.quoted(text, from+1)
	}
	if blanks {
		p = from
	}
	end = p
	for c := text[end]; c != f.delimiter && c != '\n'; c = text[end] {
		if c == '"' {
			return nil, 0
		}
		end++
	}
	field = text[p:end]
	if blanks { // of which any number is one delimiter, or none before the line's end
		for text[end] == ' ' {
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

// quoted is field behind a quote. What has another quote in it is left to encoding/csv, too.
func (f *format) quoted(text []byte, p int) (field []byte, end int) {
	for end = p; text[end] != '"'; end++ {
		if text[end] == '\n' {
			return nil, 0
		}
	}
	field = text[p:end]
	if end++; text[end] == '\r' && text[end+1] == '\n' {
		end++
	}
	if c := text[end]; c != f.delimiter && c != '\n' {
		return nil, 0
	}
	return field, end
}
