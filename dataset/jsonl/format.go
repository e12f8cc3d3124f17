package jsonl

import (
	"bytes"
	"io"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/dataset/internal/chunk"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/internal/errtext"
)

// A format parses the rows of a JSON Lines file. It implements [chunk.Format].
type format struct {
	*layout
	plain   columns.Parser // for numbers outside of quotes
	numbers []bool         // numbers[j] is true if a number is the value of column j
}

func newFormat(l *layout) *format {
	f := &format{layout: l, plain: l.Parser, numbers: make([]bool, len(l.Names))}
	f.plain.Notation = cell.Notation{}
	for j, k := range l.To {
		if k >= 0 {
			lexicon := l.Lexicon(j)
			f.numbers[j] = !l.Marks.HasNumbers() &&
				(lexicon == nil || lexicon.ReadsNumbers())
		}
	}
	return f
}

// Quotes implements [chunk.Format]. It returns nil, because a JSON text contains no line end: JSON writes it as \n.
func (f *format) Quotes() *chunk.Quotes { return nil }

// Rows implements [chunk.Format].
func (f *format) Rows(b *dataset.Buffer, text []byte, at, size int) int {
	s := scanner{text: text}
	for at < size {
		s.at = at
		if f.row(b, &s) != nil {
			break
		}
		at = s.at
	}
	return min(at, size)
}

// Record implements [chunk.Format].
func (f *format) Record(b *dataset.Buffer, l *chunk.Lines) error {
	for {
		if l.Done() {
			return io.EOF
		}
		text, err := l.ReadLine()
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		s := scanner{text: padded(text)}
		if bad := f.row(b, &s); bad != nil {
			bad.File, bad.Line = l.Name(), l.Line()
			if bad.Omittable && !bad.Missing && b.N == 0 {
				bad.Texts, bad.Others = f.notNumeric(bad.Texts, bad.Others)
			}
			return bad
		}
		l.EndRow()
		return nil
	}
}

// padded returns a copy of line for the scanner. A line end follows the line, and then zero bytes, because
// [cell.Prefix] may read beyond the line.
func padded(line []byte) []byte {
	line = bytes.TrimRight(line, "\r\n")
	out := make([]byte, len(line)+1+cell.Slack)
	out[copy(out, line)] = '\n'
	return out
}

// notNumeric returns the names of the features that must be numbers but were not in the first lines of the file.
// Features with only texts are in t, features with nested values in o. If there are none, it returns texts and
// others.
func (l *layout) notNumeric(texts, others []string) (t, o []string) {
	for j, k := range l.To {
		if k < 0 || k >= l.Features || l.Lexicon(j) != nil {
			continue
		}
		switch seen := l.kinds[j]; {
		case seen.nested:
			o = append(o, l.Names[j])
		case seen.text && !seen.number:
			t = append(t, l.Names[j])
		}
	}
	if len(t)+len(o) == 0 {
		return texts, others
	}
	return t, o
}

// unset marks a number of a row whose key has not been read yet. No reader returns a NaN with these bits.
var unset = math.Float64frombits(0xfff8_0000_0000_0bad)

func isUnset(v float64) bool {
	return math.Float64bits(v) == math.Float64bits(unset)
}

// row parses the line at s.at, appends its row to b, and sets s.at to the start of the next line.
func (f *format) row(b *dataset.Buffer, s *scanner) *dataset.InputError {
	width := f.Features + f.Targets
	n := len(b.X)
	b.X = slices.Grow(b.X, width)[:n+width]
	row := b.X[n:]
	for k := range row {
		row[k] = unset
	}
	if bad := f.values(row, s); bad != nil {
		b.X = b.X[:n]
		return bad
	}
	b.Y = append(b.Y, row[f.Features:]...)
	b.X = b.X[:n+f.Features]
	b.EndRow()
	return nil
}

// values sets the features and targets of a row.
func (f *format) values(row []float64, s *scanner) *dataset.InputError {
	if bad := s.begin(); bad != nil {
		return bad
	}
	for expected := 0; s.toKey(); expected++ {
		// First try the next column, because most lines have their keys in the order of the columns.
		j := expected
		if j < len(f.Names) &&
			f.kinds[j].isPlain &&
			s.keyIs(f.Names[j]) {
			if !s.colon() {
				break
			}
		} else {
			if !s.readKey() {
				break
			}
			var known bool
			j, known = f.index[string(s.key)]
			if !known && !f.ignores {
				bad := s.errorAt(s.keyAt, "the key %s does not occur in %s", s.excerpt(s.keyAt), f.examined())
				return s.hint(bad, "list the features (--columns)")
			} else if !known {
				j = -1
			}
		}
		k := -1
		if j >= 0 {
			k = f.To[j]
			expected = j
		}
		if k >= 0 && !isUnset(row[k]) {
			return s.twice()
		}
		if k >= 0 &&
			f.numbers[j] &&
			(isDigit(s.text[s.at]) || s.text[s.at] == '-') {
			v, n := cell.Prefix(s.text[s.at:])
			if n > 0 &&
				endsValue(s.text[s.at+n]) &&
				isJSONNumber(s.text[s.at:s.at+n]) {
				row[k] = v
				s.at += n
				continue
			}
		}
		if !s.nextValue() {
			break
		}
		if k < 0 {
			continue
		}
		var bad *dataset.InputError
		row[k], bad = f.value(j, s)
		if bad != nil {
			return bad
		}
	}
	if s.bad != nil {
		return s.bad
	}
	return f.fillUnset(row, s)
}

// value returns the number for the value that s has just read, which belongs to column j.
func (f *format) value(j int, s *scanner) (float64, *dataset.InputError) {
	if s.kind == nested {
		if f.Lexicon(j).LeaveOut("holds nested values") {
			return math.NaN(), nil
		}
		bad := s.errorAt(s.valueAt, "column %s holds an array or an object", errtext.Excerpt(f.Names[j]))
		f.Choice.NoNumber(j, bad)
		bad.Others = []string{f.Names[j]}
		bad.IsLabel = false
		bad.Hint = "make columns of its parts"
		if bad.Omittable {
			bad.Hint += ", or leave it out"
		}
		return 0, bad
	}
	p := &f.plain
	text := cell.Trimmed(s.value)
	if s.kind == aText {
		p = &f.Parser
	}
	v, ok := p.Value(j, text)
	if ok {
		return v, nil
	}
	bad := s.errorAt(s.valueAt, "")
	if p.Explain(j, text, bad) {
		f.NoNumber(j, text, bad)
	}
	if s.kind == aLiteral && len(text) == 0 {
		bad.Msg = "column " + errtext.Excerpt(f.Names[j]) + ": null is a missing value"
	}
	return 0, bad
}

// fillUnset sets the numbers of the columns whose keys are not on the line to missing values. If such a column
// allows no missing values, it returns an error.
func (f *format) fillUnset(row []float64, s *scanner) *dataset.InputError {
	for j, k := range f.To {
		if k < 0 || !isUnset(row[k]) {
			continue
		}
		v, ok := f.Value(j, nil)
		if !ok {
			bad := s.errorAt(s.endAt, "the line has no key %s", errtext.Excerpt(f.Names[j]))
			f.Gap(j, bad)
			return bad
		}
		row[k] = v
	}
	return nil
}
