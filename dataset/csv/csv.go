// Package csv reads rows of numbers from comma-, semicolon- or tab-separated
// text, plain or gzip, through encoding/csv.
//
// The delimiter is the one of ',', ';' and tab that the first line has most of.
// The first line is a header if and only if at least one of its fields is not a
// number. Quoted fields, CRLF, a byte order mark, blanks around numbers, empty
// lines and a missing final newline are understood. Every other cell must be a
// finite number.
package csv

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// Options says which columns are targets: each "first", "last", a 1-based column
// number or a header name. All others are features.
type Options struct{ Targets []string }

// A layout is what the first line tells.
type layout struct {
	delimiter rune
	header    bool
	names     []string // of the columns; their numbers without a header
	target    []bool   // for each column
	order     []int    // column of each target, in the order asked for
}

// Open reads the first line and returns a source of the rest. Errors are
// *[dataset.InputError].
func Open(name string, opts Options) (*dataset.Stream, error) {
	l, err := inspect(name, opts)
	if err != nil {
		return nil, err
	}
	t := len(l.order)
	return dataset.NewStream(-1, len(l.names)-t, t, false, func() (dataset.Reader, error) { return l.open(name) }), nil
}

func inspect(name string, opts Options) (*layout, error) {
	f, err := rawfile.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	l := &layout{}
	line, err := firstLine(f)
	if err != nil {
		return nil, f.Wrap(err, 1)
	}
	l.delimiter = sniff(line)
	r := csv.NewReader(strings.NewReader(line))
	r.Comma, r.TrimLeadingSpace = l.delimiter, true
	fields, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, &dataset.InputError{File: name, Msg: "has no rows"}
	}
	if err != nil {
		return nil, wrap(f, err, 1)
	}
	for i, s := range fields {
		s = strings.TrimSpace(s)
		if _, err := strconv.ParseFloat(s, 64); err != nil && !errors.Is(err, strconv.ErrRange) {
			l.header = true
		}
		l.names = append(l.names, s)
		fields[i] = s
	}
	if !l.header {
		for i := range l.names {
			l.names[i] = strconv.Itoa(i + 1)
		}
	}
	return l, l.choose(name, opts.Targets)
}

// maxLine bounds the memory that a file without newlines can take.
const maxLine = 64 << 20

// firstLine peeks at the first line that isn't empty, without the byte order
// mark.
func firstLine(f *rawfile.File) (string, error) {
	var b strings.Builder
	for {
		part, err := f.ReadSlice('\n')
		b.Write(part)
		if b.Len() > maxLine {
			return "", &dataset.InputError{File: f.Name, Line: 1, Msg: "the line is longer than 64 MiB"}
		}
		switch {
		case err == nil || errors.Is(err, io.EOF):
			line := strings.TrimPrefix(b.String(), "\ufeff")
			if strings.TrimSpace(line) != "" {
				return line, nil
			}
			if err != nil {
				return "", &dataset.InputError{File: f.Name, Msg: "has no rows"}
			}
			b.Reset()
		case len(part) < f.Size(): // not just a full buffer
			return "", err
		}
	}
}

func sniff(line string) rune {
	best, most := ',', 0
	for _, c := range []rune{',', ';', '\t'} {
		if n := strings.Count(line, string(c)); n > most {
			best, most = c, n
		}
	}
	return best
}

// choose resolves the targets.
func (l *layout) choose(file string, targets []string) error {
	l.target = make([]bool, len(l.names))
	for _, spec := range targets {
		i := l.column(spec)
		switch {
		case i < 0 || i >= len(l.names):
			return &dataset.InputError{File: file, Line: 1, Msg: fmt.Sprintf("there is no target column %q; the %d columns are %s", spec, len(l.names), abbreviate(l.names))}
		case l.target[i]:
			return &dataset.InputError{File: file, Line: 1, Msg: fmt.Sprintf("target column %q is named twice", spec)}
		}
		l.target[i] = true
		l.order = append(l.order, i)
	}
	if len(l.order) == len(l.names) {
		return &dataset.InputError{File: file, Line: 1, Msg: "no column is left for the features"}
	}
	return nil
}

// column finds a target, -1 where there is none: a header name before a number.
func (l *layout) column(spec string) int {
	if l.header {
		for i, name := range l.names {
			if name == spec {
				return i
			}
		}
	}
	switch spec {
	case "first":
		return 0
	case "last":
		return len(l.names) - 1
	}
	n, err := strconv.Atoi(spec)
	if err != nil {
		return -1
	}
	return n - 1
}

func abbreviate(names []string) string {
	const most = 12
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + ", …"
}

func (l *layout) reader(f io.Reader) *csv.Reader {
	r := csv.NewReader(&bounded{r: f})
	r.Comma, r.ReuseRecord, r.FieldsPerRecord, r.TrimLeadingSpace = l.delimiter, true, -1, true
	return r
}

// bounded refuses lines longer than maxLine, which encoding/csv would hold in
// memory, and drops a byte order mark.
type bounded struct {
	r       io.Reader
	started bool
	line    int
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if !b.started && n >= 3 {
		b.started = true
		if string(p[:3]) == "\ufeff" {
			n = copy(p, p[3:n])
		}
	}
	for _, c := range p[:n] {
		if b.line++; c == '\n' {
			b.line = 0
		}
	}
	if b.line > maxLine {
		return 0, errLong
	}
	return n, err
}

var errLong = errors.New("the line is longer than 64 MiB")

func (l *layout) open(name string) (dataset.Reader, error) {
	f, err := rawfile.Open(name)
	if err != nil {
		return nil, err
	}
	r := &reader{layout: l, file: f, csv: l.reader(f)}
	if l.header {
		if _, err := r.csv.Read(); err != nil {
			f.Close() // the error at hand says more
			return nil, wrap(f, err, 1)
		}
	}
	return r, nil
}

type reader struct {
	*layout
	file *rawfile.File
	csv  *csv.Reader
	line int
}

func (r *reader) Close() error { return r.file.Close() }

func (r *reader) Read(b *dataset.Buffer, rows int) error {
	for b.N < rows {
		record, err := r.csv.Read()
		if err != nil {
			if errors.Is(err, io.EOF) && b.N > 0 {
				return nil
			}
			return wrap(r.file, err, r.line+1)
		}
		r.line, _ = r.csv.FieldPos(0)
		if len(record) != len(r.names) {
			return r.errorAt(min(len(record), len(r.names))-1, fmt.Sprintf("the row has %d fields, the first line has %d", len(record), len(r.names)), false)
		}
		if err := r.row(b, record); err != nil {
			return err
		}
		b.EndRow()
	}
	return nil
}

// row appends the numbers of one record.
func (r *reader) row(b *dataset.Buffer, record []string) error {
	for i, s := range record {
		if r.target[i] {
			continue
		}
		v, err := r.number(i, s)
		if err != nil {
			return err
		}
		b.X = append(b.X, v)
	}
	for _, i := range r.order {
		v, err := r.number(i, record[i])
		if err != nil {
			return err
		}
		b.Y = append(b.Y, v)
	}
	return nil
}

func (r *reader) number(i int, s string) (float64, error) {
	s = strings.TrimSpace(s)
	v, err := strconv.ParseFloat(s, 64)
	switch {
	case s == "":
		return 0, r.errorAt(i, fmt.Sprintf("column %s is empty", r.names[i]), false)
	case err != nil && errors.Is(err, strconv.ErrRange):
		return 0, r.errorAt(i, fmt.Sprintf("column %s: %s exceeds the range of float64", r.names[i], s), true)
	case err != nil:
		return 0, r.errorAt(i, fmt.Sprintf("column %s: %.40q is not a number; encode categories as numbers first", r.names[i], s), false)
	case math.IsNaN(v) || math.IsInf(v, 0):
		return 0, r.errorAt(i, fmt.Sprintf("column %s: %s is not finite", r.names[i], s), true)
	}
	return v, nil
}

func (r *reader) errorAt(field int, msg string, nonFinite bool) error {
	line, col := r.csv.FieldPos(max(field, 0))
	return &dataset.InputError{File: r.file.Name, Line: line, Column: col, Msg: msg, NonFinite: nonFinite}
}

// wrap gives an error of encoding/csv its place in the file.
func wrap(f *rawfile.File, err error, line int) error {
	var p *csv.ParseError
	switch {
	case errors.As(err, &p):
		return &dataset.InputError{File: f.Name, Line: p.Line, Column: p.Column, Msg: p.Err.Error()}
	case errors.Is(err, errLong):
		return &dataset.InputError{File: f.Name, Line: line, Msg: errLong.Error()}
	}
	return f.Wrap(err, line)
}
