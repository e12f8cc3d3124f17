package svmlight

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/dataset/internal/chunk"
	"github.com/fdridge/fdridge/internal/errtext"
)

// A record parses any valid line, and finds the position of an error in an invalid line.
type record struct {
	format *format
	lines  *chunk.Lines
}

// Record implements [chunk.Format].
func (f *format) Record(b *dataset.Buffer, l *chunk.Lines) error {
	r := record{f, l}
	for before := b.N; b.N == before; {
		if l.Done() {
			return io.EOF
		}
		text, err := l.ReadLine()
		if err != nil {
			return err
		}
		if err := r.row(b, text); err != nil {
			return err
		}
	}
	return nil
}

// row parses a line and appends its row to b. If the line is empty or only a comment, it appends nothing.
func (r *record) row(b *dataset.Buffer, text []byte) error {
	full := text
	if i := bytes.IndexByte(text, '#'); i >= 0 {
		text = text[:i]
	}
	label, rest := field(text)
	if len(label) == 0 {
		return nil
	}
	y, err := r.number(full, label, "label")
	if err != nil {
		return err
	}
	first := r.format.first
	last := first - 1
	for f, rest := field(rest); len(f) > 0; f, rest = field(rest) {
		colon := bytes.IndexByte(f, ':')
		if colon < 0 {
			return r.errorAt(
				full,
				f,
				fmt.Sprintf("%q is not index:value", errtext.Excerpt(f)),
				false,
			)
		}
		if string(f[:colon]) == "qid" {
			continue
		}
		index, err := strconv.Atoi(string(f[:colon]))
		switch {
		case err != nil:
			return r.errorAt(
				full,
				f,
				fmt.Sprintf("%q is not an index", errtext.Excerpt(f[:colon])),
				false,
			)
		case index == 0 && first == 1:
			return r.errorAt(
				full,
				f,
				"index 0, but the first rows count from 1; if all rows count from 0, say so (--first-index 0)",
				false,
			)
		case index < first:
			return r.errorAt(
				full,
				f,
				fmt.Sprintf("index %d is less than %d", index, first),
				false,
			)
		case index >= r.format.d+first:
			return r.errorAt(
				full,
				f,
				fmt.Sprintf("index %d is more than the %d features", index, r.format.d),
				false,
			)
		case index <= last:
			return r.errorAt(
				full,
				f,
				fmt.Sprintf("index %d after index %d: they must increase", index, last),
				false,
			)
		}
		v, err := r.number(full, f[colon+1:], "value")
		if err != nil {
			return err
		}
		last = index
		if v != 0 || r.format.keepZeros {
			b.CSR.ColIdx = append(b.CSR.ColIdx, int32(index-first))
			b.CSR.Val = append(b.CSR.Val, v)
		}
	}
	if r.format.targets > 0 {
		b.Y = append(b.Y, y)
	}
	b.EndRow()
	r.lines.EndRow()
	return nil
}

// field splits text after its first field.
func field(text []byte) (f, rest []byte) {
	i := 0
	for i < len(text) && blank(text[i]) {
		i++
	}
	j := i
	for j < len(text) && !blank(text[j]) {
		j++
	}
	return text[i:j], text[j:]
}

func blank(c byte) bool {
	return c == ' ' || '\t' <= c && c <= '\r'
}

func (r *record) number(line, f []byte, what string) (float64, error) {
	v, err := cell.Parse(f)
	switch {
	case err != nil && errors.Is(err, strconv.ErrRange):
		return 0, r.errorAt(line, f, fmt.Sprintf("%s %s exceeds the range of float64", what, errtext.Excerpt(f)), true)
	case err != nil && what == "label" && bytes.IndexByte(f, ',') >= 0:
		return 0, r.errorAt(line, f, fmt.Sprintf("label %q has several targets instead of one", errtext.Excerpt(f)), false)
	case err != nil:
		return 0, r.errorAt(line, f, fmt.Sprintf("%s %q is not a number", what, errtext.Excerpt(f)), false)
	case math.IsNaN(v) || math.IsInf(v, 0):
		return 0, r.errorAt(line, f, fmt.Sprintf("%s %s is not finite", what, errtext.Excerpt(f)), true)
	}
	return v, nil
}

// errorAt returns an error about a field f of a line. The argument f must be a slice of line, because the
// difference of the capacities of line and f is the position of f.
func (r *record) errorAt(line, f []byte, msg string, nonFinite bool) error {
	column := cap(line) - cap(f) + 1
	return &dataset.InputError{
		File:      r.lines.Name(),
		Line:      r.lines.Line(),
		Column:    column,
		Msg:       msg,
		NonFinite: nonFinite,
	}
}
