// Package csv reads rows of numbers from text separated by commas, semicolons, tabs or blanks. The text may be
// compressed by gzip or zstd.
//
// The delimiter is the most frequent of ',', ';' and tab in the first line, quoted text excluded. If the line has
// none of the three, and blanks divide the first two lines into the same number of fields, each run of blanks is one
// delimiter.
//
// The first line is a header if one of its fields is text, that is neither a number nor empty. Exception: if the
// first line also has numbers, and the second line has text in exactly the same columns, the file has no header. The
// [Options] override both rules.
//
// Text is UTF-8, or UTF-16 that begins with a byte order mark. In other encodings, names and categories with
// characters beyond ASCII are errors.
//
// The package accepts quoted fields, CRLF, a byte order mark, blanks around numbers and a missing final newline. It
// skips empty lines. Exception: in a file of one column, an empty line after the header is a row with a missing value,
// unless only empty lines follow. A line of blanks or of "" is always a row of such a file.
//
// Every selected cell must be a finite decimal number, or True (also TRUE, true, …) for 1 or False for 0.
// Numbers are rounded to the nearest float64. The notations 1_000 and 0x1p4 are errors.
//
// With [prepare.Cells], values may be missing: an empty cell, NaN, NA, N/A, <NA>, null, None, ? or ., in upper or
// lower case. Columns may also be categorical. Their categories are the texts without surrounding blanks, so that 1
// and 1.0 differ.
//
// A row has at most 2²⁰ fields. A row and the blank lines before it have at most 64 MiB of text.
//
// One core reads or decompresses a file while up to 16 cores parse it. The rows, the blocks and the first error do
// not depend on the number of cores.
package csv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/chunk"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/cell"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// Options sets how a file is read.
type Options struct {
	// Targets are the target columns. Each is "first", "last", a 1-based column number or a name in
	// the header; a name takes precedence over a number.
	Targets []string
	// Columns are the features, in the requested order. They are specified like Targets and must
	// not include a target. If each begins with "-", these columns are left out and all others are
	// features. An empty list selects all columns that are not targets.
	Columns []string
	// Delimiter separates fields; it must be ASCII. 0 detects the delimiter from the first lines.
	Delimiter rune
	Header    Header
	// Range is the part of an uncompressed file to read. The columns are determined by the first line of the file,
	// even if Range begins later.
	Range dataset.Range
	// Cells, if not nil, sets how to read cells that are not numbers.
	Cells *prepare.Cells
	// Pipe, if not nil, is read instead of the file. Open reads its first line, and its second line if the delimiter
	// or the header depends on the second line.
	Pipe *dataset.Pipe
}

func (o *Options) name(file string) string {
	if o.Pipe != nil {
		return o.Pipe.Name()
	}
	return file
}

// A Header states whether the first line names the columns.
type Header int

// Auto detects a header from the first two lines.
const (
	Auto Header = iota
	Present
	Absent
)

// A layout is found in the first lines of a file.
type layout struct {
	delimiter byte
	header    bool
	names     []string // names of the columns, or their numbers if there is no header
	columns.Choice
	stamp dataset.Stamp // stamp of the file
}

// Open reads the first line and returns a source of the rows. Errors are *[dataset.InputError]. If the file changes
// later, a pass over the rows ends with a *[dataset.ChangedError].
func Open(name string, opts Options) (*dataset.Stream, error) {
	l, err := choose(name, opts)
	if err != nil {
		return nil, err
	}
	var s *dataset.Stream
	s = dataset.NewStream(-1, l.Features, l.Targets, false, func() (dataset.Reader, error) { return l.open(name, &opts, s.Stamp) })
	s.Stamp, s.Single = l.stamp, opts.Pipe != nil
	return s, nil
}

// Columns returns the names in the header, or nil if there is none.
func Columns(name string, opts Options) ([]string, error) {
	l, err := inspect(name, opts)
	if err != nil || !l.header {
		return nil, err
	}
	return l.names, nil
}

// Names returns the names of the features and of the targets selected by opts, or nil if there is no header.
func Names(name string, opts Options) (features, targets []string, err error) {
	l, err := choose(name, opts)
	if err != nil || !l.header {
		return nil, nil, err
	}
	features, targets = l.Pick(l.names)
	return features, targets, nil
}

// choose reads the first record and determines the features and targets.
func choose(name string, opts Options) (*layout, error) {
	l, err := inspect(name, opts)
	if err != nil {
		return nil, err
	}
	if l.Choice, err = columns.Choose(l.names, l.header, opts.Targets, opts.Columns); err != nil {
		return nil, &dataset.InputError{File: opts.name(name), Line: 1, Msg: err.Error()}
	}
	if err := l.Read(opts.Cells, l.names, l.header); err != nil {
		return nil, &dataset.InputError{File: opts.name(name), Line: 1, Msg: err.Error()}
	}
	return l, nil
}

// inspect detects the delimiter and the header.
func inspect(name string, opts Options) (*layout, error) {
	f, err := rawfile.Look(name, opts.Pipe)
	if err != nil {
		return nil, err
	}
	name = f.Name
	defer f.Close() // opened for reading, so an error of Close does no harm
	f.SkipBOM()
	l := &layout{delimiter: byte(opts.Delimiter), header: opts.Header == Present, stamp: f.Stamp()}
	switch c := opts.Delimiter; {
	case c == 0:
		l.delimiter = sniff(f)
	case c < 0 || c > '~' || c == '"' || c == '\r' || c == '\n':
		return nil, &dataset.InputError{File: name, Msg: fmt.Sprintf("%q cannot be a delimiter", c)}
	}
	if err := checkLineEnd(f); err != nil {
		return nil, err
	}
	r := newRecords(f, l.delimiter)
	switch err := r.next(); {
	case err == io.EOF:
		return nil, &dataset.InputError{File: name, Msg: "has no rows"}
	case err != nil:
		return nil, err
	}
	l.names = r.trimmed()
	badName := r.checkNames()
	if opts.Header == Auto {
		l.header = r.isHeader(l.names, opts.Cells.AllowsSome())
	}
	if !l.header {
		l.names = columns.Numbers(len(l.names))
		return l, nil
	}
	return l, badName
}

// checkNames checks that the header is UTF-8.
func (r *records) checkNames() error {
	for i, s := range r.fields {
		if utf8.Valid(s) && bytes.IndexByte(s, 0) < 0 {
			continue
		}
		line, column := r.position(i)
		err := &dataset.InputError{File: r.Name(), Line: line, Column: column, Msg: fmt.Sprintf("the name of column %d is not UTF-8: %q", i+1, excerpt.Of(s))}
		if bytes.IndexByte(s, 0) >= 0 {
			err.Msg = fmt.Sprintf("the name of column %d has a zero byte, as in UTF-16 without a byte order mark: %q", i+1, excerpt.Of(s))
		}
		return rawfile.NotUTF8(err)
	}
	return nil
}

// checkLineEnd rejects a file whose lines end with CR, because the whole file would be one line.
func checkLineEnd(f *rawfile.File) error {
	line, _ := unquotedLine(f.Head(func(head []byte) bool {
		_, rest := unquotedLine(head)
		return rest != nil
	}))
	if bytes.IndexByte(bytes.TrimRight(line, "\r"), '\r') < 0 {
		return nil
	}
	return &dataset.InputError{File: f.Name, Line: 1, Msg: "the line ends with CR only; lines must end with LF or CRLF", Hint: "convert the file, for instance by tr '\\r' '\\n'"}
}

// trimmed returns the fields without blanks, in one allocation for all.
func (r *records) trimmed() []string {
	size := 0
	for _, s := range r.fields {
		size += len(s)
	}
	var all strings.Builder
	all.Grow(size)
	for _, s := range r.fields {
		all.Write(bytes.TrimSpace(s))
	}
	names, rest := make([]string, len(r.fields)), all.String()
	for i, s := range r.fields {
		n := len(bytes.TrimSpace(s))
		names[i], rest = rest[:n], rest[n:]
	}
	return names
}

// isHeader reports whether the first line is a header. It may read the second line. If gaps is true, missing values
// are ignored.
func (r *records) isHeader(firstLine []string, gaps bool) bool {
	text, numbers := false, false
	for _, s := range firstLine {
		switch {
		case s == "" || gaps && cell.Missing([]byte(s)):
		case isText(s):
			text = true
		default:
			numbers = true
		}
	}
	if !text || !numbers {
		return text
	}
	if r.next() != nil || len(r.fields) != len(firstLine) { // the reader reports this error later
		return true
	}
	for i, s := range r.fields {
		second := string(bytes.TrimSpace(s))
		if gaps && (cell.Missing([]byte(firstLine[i])) || cell.Missing([]byte(second))) {
			continue
		}
		if isText(firstLine[i]) != isText(second) {
			return true
		}
	}
	return false
}

// isText reports whether s is neither empty nor a number.
// Notations like 1_000 count as numbers, so that no line of data becomes a header.
func isText(s string) bool {
	// Test the first byte, because strconv allocates an error for each name.
	if s != "" && strings.IndexByte("+-.0123456789iInNtTfF", s[0]) < 0 {
		return true
	}
	if _, ok := cell.Boolean([]byte(s)); ok {
		return false
	}
	_, err := strconv.ParseFloat(s, 64)
	return s != "" && err != nil && !errors.Is(err, strconv.ErrRange)
}

// sniff detects the delimiter.
// It reads a second line only if necessary, because a pipe may be slow.
func sniff(f *rawfile.File) byte {
	firstLine, _ := unquotedLine(f.Head(func(head []byte) bool {
		_, rest := unquotedLine(head)
		return rest != nil
	}))
	best := byte(',')
	for _, c := range []byte(";\t") {
		if bytes.Count(firstLine, []byte{c}) > bytes.Count(firstLine, []byte{best}) {
			best = c
		}
	}
	n := len(bytes.Fields(firstLine))
	if bytes.IndexByte(firstLine, best) >= 0 || n < 2 {
		return best
	}
	_, rest := unquotedLine(f.Head(func(head []byte) bool {
		_, rest := unquotedLine(head)
		_, rest = unquotedLine(rest)
		return rest != nil
	}))
	second, _ := unquotedLine(rest)
	if len(second) == 0 || n == len(bytes.Fields(second)) {
		return ' '
	}
	return best
}

// unquotedLine returns the first line that is not blank, and replaces each quoted text in it by x. rest is nil if the
// line is incomplete.
func unquotedLine(text []byte) (line, rest []byte) {
	text = bytes.TrimLeft(text, " \r\n")
	quoted := false
	for i, c := range text {
		switch {
		case c == '"':
			quoted = !quoted
			line = append(line, 'x')
		case quoted:
		case c == '\n':
			return line, text[i+1:]
		default:
			line = append(line, c)
		}
	}
	return line, nil
}

func (l *layout) open(name string, opts *Options, was dataset.Stamp) (dataset.Reader, error) {
	f, err := rawfile.Pass(name, opts.Pipe, was)
	if err != nil {
		return nil, err
	}
	f.SkipBOM()
	if l.header {
		err = newRecords(f, l.delimiter).next()
	}
	if err == nil {
		err = f.Limit(opts.Range)
	}
	if err != nil {
		f.Close() // err is more informative than an error of Close
		return nil, err
	}
	return chunk.New(f, newFormat(l), chunk.Options{EmptyRows: l.hasOneColumn()}), nil
}

// hasOneColumn reports whether the file has one column. An empty line of such a file is a row with a missing value,
// unless only empty lines follow.
func (l *layout) hasOneColumn() bool { return len(l.names) == 1 }
