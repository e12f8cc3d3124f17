package csv

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/dataset/internal/decimal"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// A reader makes a row of a record of any kind, or an error that says what is wrong with it.
type reader struct {
	*layout
	*records
	row []float64 // features and targets
}

// read appends the next row to b.
func (r *reader) read(b *dataset.Buffer) error {
	if err := r.next(); err != nil {
		return err
	}
	if n := len(r.fields); n != len(r.names) {
		return r.errorAt(min(n, len(r.names))-1, "the row has %d fields, the first line has %d", n, len(r.names))
	}
	for i, k := range r.To {
		if k < 0 {
			continue
		}
		v, err := r.number(i)
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

// number reads field i of the record.
func (r *reader) number(i int) (float64, error) {
	s := trimmed(r.fields[i])
	if v, ok := r.cell(i, s); ok {
		return v, nil
	}
	_, err := decimal.Parse(s)
	switch {
	case r.Lexicon(i) != nil && !missing(s):
		return 0, r.errorAt(i, "column %s %s", excerpt.Of(r.names[i]), columns.TooManyLevels)
	case err == nil:
		return 0, r.notFinite(i, "column %s: %s is not finite", excerpt.Of(r.names[i]), excerpt.Of(s))
	case errors.Is(err, strconv.ErrRange):
		return 0, r.notFinite(i, "column %s: %s exceeds the range of float64", excerpt.Of(r.names[i]), excerpt.Of(s))
	case len(s) == 0:
		return 0, r.noNumber(i, "column %s is empty; fill in what is missing, or leave the column out", excerpt.Of(r.names[i]))
	case missing(s):
		return 0, r.noNumber(i, "column %s: %s is a missing value; fill it in, or leave the column out", excerpt.Of(r.names[i]), s)
	}
	if string(s) == r.names[i] {
		return 0, r.errorAt(i, "column %s: this is the header again, as where files were joined; leave it out, or name the files one by one", excerpt.Of(r.names[i]))
	}
	return 0, r.noNumber(i, "column %s: %q is not a number; encode the column as numbers, or leave it out", excerpt.Of(r.names[i]), excerpt.Of(s))
}

// trimmed is a field without the blanks around it.
func trimmed(s []byte) []byte {
	if n := len(s); n > 0 && (s[0] <= ' ' || s[n-1] <= ' ') {
		s = bytes.TrimSpace(s)
	}
	return s
}

// missing recognises an empty cell and the common marks of a missing value.
func missing(s []byte) bool {
	if len(s) == 0 {
		return true
	}
	const longest = len("<na>")
	if len(s) > longest || s[0] != '.' && s[0] != '?' && s[0] != '<' && s[0]|0x20 != 'n' {
		return false
	}
	var lower [longest]byte
	for i, c := range s {
		if lower[i] = c; 'A' <= c && c <= 'Z' {
			lower[i] = c | 0x20
		}
	}
	switch string(lower[:len(s)]) {
	case "nan", "na", "n/a", "<na>", "null", "none", "?", ".":
		return true
	}
	return false
}

func (r *reader) errorAt(field int, format string, args ...any) *dataset.InputError {
	line, column := r.position(field)
	return &dataset.InputError{File: r.Name(), Line: line, Column: column, Msg: fmt.Sprintf(format, args...)}
}

// notFinite is the error of a field that is NaN, infinite or beyond float64.
func (r *reader) notFinite(field int, format string, args ...any) error {
	err := r.errorAt(field, format, args...)
	err.NonFinite = true
	return err
}

// noNumber is the error of a field that is no number.
func (r *reader) noNumber(field int, format string, args ...any) error {
	err := r.errorAt(field, format, args...)
	err.Omittable = true
	return err
}
