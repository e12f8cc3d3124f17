package csv

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/internal/errtext"
)

// A reader parses every record and returns errors with their position. The method [format.plain] is faster, but
// parses only simple records.
type reader struct {
	*layout
	*records
	row []float64 // features and targets
}

func (r *reader) read(b *dataset.Buffer) error {
	if err := r.next(); err != nil {
		return err
	}
	if n := len(r.fields); n != len(r.Names) {
		err := r.errorAt(min(n, len(r.Names))-1, "the row has %d fields, the first line has %d", n, len(r.Names))
		if r.text[0] == '#' && r.layout.comment == 0 {
			err.Hint = "if lines that begin with # are comments, skip them (--comment '#')"
		}
		return err
	}
	if r.text[0] == '#' && r.hashes {
		err := r.errorAt(0, "the line begins with #, like the comments before the table")
		err.Hint = "skip such lines (--comment '#'); if they are rows, skip only those before the table (--skip-rows N)"
		return err
	}
	if r.header && r.isHeaderAgain() && r.numericNames() != nil {
		return r.errorAt(0, "%s; if it is a row, use --skip-rows and --header no", headerAgain)
	}
	last := len(r.fields) - 1
	if r.margin == emptyField && len(cell.Trimmed(r.fields[last])) > 0 {
		return r.errorAt(
			last,
			"the column without a name, which is empty in the first rows, has a value: %q",
			errtext.Excerpt(r.fields[last]),
		)
	}
	for i, k := range r.To {
		if k < 0 {
			continue
		}
		v, err := r.number(i)
		e, ok := errors.AsType[*dataset.InputError](err)
		if ok && e.Omittable && !e.Missing && b.N == 0 {
			e.Texts = r.texts(i)
		}
		if err != nil {
			return err
		}
		r.row[k] = v
	}
	b.X = append(b.X, r.row[:r.Features]...)
	b.Y = append(b.Y, r.row[r.Features:]...)
	b.EndRow()
	return nil
}

const headerAgain = "the header is repeated, as in files that were joined; remove it, or pass the files one by one"

// isHeaderAgain reports whether the fields of the record are the column names in the header. For a file with a
// single column, it returns false.
func (r *reader) isHeaderAgain() bool {
	for i, s := range r.fields {
		if string(cell.Trimmed(s)) != r.Names[i] {
			return false
		}
	}
	return len(r.fields) > 1
}

// texts examines the next hundred records, beginning with the current record. It returns the names of all features
// that should be numeric but have only texts there. If feature i has numbers, it returns nil.
func (r *reader) texts(i int) []string {
	const most = 100
	text := make([]bool, len(r.To))
	number := make([]bool, len(r.To))
	for range most {
		for j, s := range r.fields {
			s = cell.Trimmed(s)
			switch _, ok := cell.Number(s); {
			case ok:
				number[j] = true
			case cell.Why(s) == cell.NoNumber:
				text[j] = true
			}
		}
		if r.next() != nil || len(r.fields) != len(r.Names) { // the reader reports this error later
			break
		}
	}
	var out []string
	for j, k := range r.To {
		if text[j] &&
			!number[j] &&
			0 <= k &&
			k < r.Features &&
			r.Lexicon(j) == nil {
			out = append(out, r.Names[j])
		}
	}
	if !slices.Contains(out, r.Names[i]) {
		return nil
	}
	return out
}

func (r *reader) number(i int) (float64, error) {
	s := cell.Trimmed(r.fields[i])
	if v, ok := r.Value(i, s); ok {
		return v, nil
	}
	err := r.errorAt(i, "")
	switch isText := r.Explain(i, s, err); {
	case !isText:
		return 0, err
	case string(s) == r.Names[i]:
		err.Msg = fmt.Sprintf(
			"column %s: %s",
			errtext.Excerpt(r.Names[i]),
			headerAgain,
		)
		return 0, err
	}
	if hint := readings(s); hint != "" {
		err.Hint = hint
		return 0, err
	}
	if r.layout.delimiter == blanks && isEntry(s) {
		err.Hint = "if the file is svmlight, name its format (--format svmlight)"
		return 0, err
	}
	return 0, r.NoNumber(i, s, err)
}

// readings describes how the text s, a number with commas, can be read: with a decimal comma, or with commas
// between groups of digits. Each reading names the option that selects it. If s is no such number, readings returns
// "".
func readings(s []byte) string {
	const comma, point = "--decimal , (decimal comma)", "--decimal . (decimal point)"
	asComma, isComma := cell.Notation{Comma: true, Grouped: true}.Number(s)
	asPoint, isPoint := cell.Notation{Grouped: true}.Number(s)
	switch {
	case isComma && isPoint:
		return fmt.Sprintf(
			"it is %v with a decimal comma, or %v with separators of thousands: choose %s or %s",
			asComma,
			asPoint,
			comma,
			point,
		)
	case isComma:
		return fmt.Sprintf("it is %v with a decimal comma: use %s if all numbers are written so", asComma, comma)
	case isPoint:
		return fmt.Sprintf(
			"it is %v with separators of thousands: use %s if all numbers are written so",
			asPoint,
			point,
		)
	}
	return ""
}

// isEntry reports whether a cell has the form index:value.
func isEntry(s []byte) bool {
	index, value, ok := bytes.Cut(s, []byte{':'})
	if !ok || len(index) == 0 || len(bytes.Trim(index, "0123456789")) > 0 {
		return false
	}
	_, ok = cell.Number(value)
	return ok
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func (r *reader) errorAt(field int, format string, args ...any) *dataset.InputError {
	line, column := r.position(field)
	return &dataset.InputError{
		File:   r.Name(),
		Line:   line,
		Column: column,
		Msg:    fmt.Sprintf(format, args...),
	}
}
