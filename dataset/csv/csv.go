// Package csv reads rows of numbers from comma-, semicolon- or tab-separated
// text, plain or gzip, through encoding/csv.
//
// The delimiter is the one of ',', ';' and tab that the first line has most of
// outside quotes. The first line is a header if and only if at least one of its
// fields is neither a number nor empty. Both can be said in [Options] instead.
// Quoted fields, CRLF, a byte order mark, blanks around numbers, empty lines and a
// missing final newline are understood. Every other cell must be a finite number.
package csv

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// Options says how to read.
type Options struct {
	// Targets are the columns that are targets: each "first", "last", a 1-based
	// column number or a header name. All others are features.
	Targets []string
	// Delimiter separates fields; 0 takes it from the first line.
	Delimiter rune
	Header    Header
}

// A Header says whether the first line names the columns.
type Header int

// Auto decides by the first line itself.
const (
	Auto Header = iota
	Present
	Absent
)

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
	if err := l.choose(name, opts.Targets); err != nil {
		return nil, err
	}
	t := len(l.order)
	return dataset.NewStream(-1, len(l.names)-t, t, false, func() (dataset.Reader, error) { return l.open(name) }), nil
}

// Columns returns the names in the header, nil where there is none.
func Columns(name string, opts Options) ([]string, error) {
	l, err := inspect(name, opts)
	if err != nil || !l.header {
		return nil, err
	}
	return l.names, nil
}

// inspect reads the first record.
func inspect(name string, opts Options) (*layout, error) {
	f, err := rawfile.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	f.SkipBOM()
	l := &layout{delimiter: opts.Delimiter, header: opts.Header == Present}
	if l.delimiter == 0 {
		l.delimiter = sniff(f)
	}
	fields, err := l.records(f).next()
	if err == io.EOF {
		return nil, &dataset.InputError{File: name, Msg: "has no rows"}
	}
	if err != nil {
		return nil, wrap(f, err, 1)
	}
	for _, s := range fields {
		s = strings.TrimSpace(s)
		l.names = append(l.names, strings.Clone(s))
		if opts.Header == Auto && s != "" && !isNumber(s) {
			l.header = true
		}
	}
	if !l.header {
		for i := range l.names {
			l.names[i] = strconv.Itoa(i + 1)
		}
	}
	return l, nil
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// sniff counts delimiters in the first line that isn't blank, as far as the
// buffer holds it.
func sniff(f *rawfile.File) rune {
	head, _ := f.Peek(f.Size()) // an error comes again when it is read
	head = bytes.TrimLeft(head, " \r\n")
	count := map[byte]int{}
	quoted := false
	for _, c := range head {
		if c == '"' {
			quoted = !quoted
		}
		if !quoted {
			if c == '\n' {
				break
			}
			count[c]++
		}
	}
	best := ','
	for _, c := range ";\t" {
		if count[byte(c)] > count[byte(best)] {
			best = c
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
		case l.header && i >= 0 && i < len(l.names) && l.names[i] == spec && slices.Contains(l.names[i+1:], spec):
			return &dataset.InputError{File: file, Line: 1, Msg: fmt.Sprintf("more than one column is called %q", spec)}
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
	if i := slices.Index(l.names, spec); l.header && i >= 0 {
		return i
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

// maxRecord bounds the memory that a file without newlines, or with a quote that
// is never closed, can take.
const maxRecord = 64 << 20

var errLong = errors.New("the line is longer than 64 MiB")

// records reads one record after the other.
type records struct {
	*csv.Reader
	left *limited
}

// limited refuses to read more than left bytes, which each record begins with.
type limited struct {
	r    io.Reader
	left int
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= n; l.left < 0 {
		return 0, errLong
	}
	return n, err
}

func (l *layout) records(f io.Reader) *records {
	left := &limited{r: f}
	r := csv.NewReader(bufio.NewReaderSize(left, 1<<16))
	r.Comma, r.ReuseRecord, r.FieldsPerRecord = l.delimiter, true, -1
	r.TrimLeadingSpace = l.delimiter != '\t' // it would take an empty field for a blank
	return &records{r, left}
}

// next returns the next record that isn't a line of blanks.
func (r *records) next() ([]string, error) {
	for {
		r.left.left = maxRecord
		record, err := r.Read()
		if err != nil {
			return nil, err
		}
		if len(record) > 1 || strings.TrimSpace(record[0]) != "" {
			return record, nil
		}
	}
}

func (l *layout) open(name string) (dataset.Reader, error) {
	f, err := rawfile.Open(name)
	if err != nil {
		return nil, err
	}
	f.SkipBOM()
	r := &reader{layout: l, file: f, csv: l.records(f)}
	if l.header {
		if _, err := r.csv.next(); err != nil {
			f.Close() // the error at hand says more
			return nil, wrap(f, err, 1)
		}
	}
	return r, nil
}

type reader struct {
	*layout
	file *rawfile.File
	csv  *records
	line int
}

func (r *reader) Close() error { return r.file.Close() }

// Read allocates what encoding/csv does: one string for each row.
func (r *reader) Read(b *dataset.Buffer, rows int) error {
	for b.N < rows {
		record, err := r.csv.next()
		if err != nil {
			if err == io.EOF && b.N > 0 {
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
	if len(s) == 1 && s[0] >= '0' && s[0] <= '9' { // most of many a file
		return float64(s[0] - '0'), nil
	}
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
