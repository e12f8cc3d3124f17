// Package csv reads rows of numbers from text separated by commas, semicolons,
// tabs or blanks, plain, gzip or zstd.
//
// The delimiter is the one of ',', ';' and tab that the first line has most of
// outside quotes; where it has none, and the first two lines have the same number
// of fields between blanks, it is the blank, and any number of blanks make one
// delimiter. The first line is a header if one of its fields is text, neither a
// number nor empty. There is one exception: where some of its fields are numbers and the
// second line has text in the same columns as the first, the file is one of categories and
// numbers without a header. [Options] can say both, delimiter and header.
//
// Text is UTF-8, or UTF-16 that begins with a byte order mark. In other encodings a header and the
// texts of categorical columns are errors, with their place, unless they are ASCII.
//
// Quoted fields, CRLF, a byte order mark, blanks around numbers, empty lines and a
// missing final newline are understood. Every cell of a column that is read must be a
// finite decimal number, which is rounded to the nearest float64, or True or False (also TRUE,
// true, …), which are 1 and 0; 1_000 and 0x1p4 are not decimal numbers.
//
// By [dataset.Cells] values may be missing: those of cells that are empty or one of NaN, NA, N/A,
// <NA>, null, None, ? and ., in any case of letters; and columns may be categorical: their levels are
// the texts without the blanks around them, whatever they look like: 1 and 1.0 are two.
//
// A row has at most 2²⁰ fields and 64 MiB of text, the blank lines before it included.
//
// A file is parsed on all cores, up to 16, whatever its rows and however it is compressed; one
// core reads or uncompresses it. Rows, blocks and errors do not depend on how many there are:
// an error is the first of the file.
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
	"github.com/fdridge/fdridge/internal/cell"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// Options says how to read.
type Options struct {
	// Targets are the columns that are targets: each "first", "last", a 1-based
	// column number or a header name, which goes before a number.
	Targets []string
	// Columns are the features, named in the same way, in the order wanted; or,
	// where each begins with "-", the columns that are left out. Empty takes all.
	// A target among them is an error.
	Columns []string
	// Delimiter separates fields, an ASCII character; 0 takes it from the first
	// line.
	Delimiter rune
	Header    Header
	// Range is the part of the file that is read; the file must not be compressed. The
	// columns are those of the first line of the file, whatever the range.
	Range dataset.Range
	// Cells, if not nil, says how cells are read that are no numbers.
	Cells *dataset.Cells
	// Pipe, if not nil, is what is read in place of the file. Of it the first line is looked at and,
	// where they have to be told apart from names or to find the delimiter, the second.
	Pipe *dataset.Pipe
}

// name is what errors call the data.
func (o *Options) name(file string) string {
	if o.Pipe != nil {
		return o.Pipe.Name()
	}
	return file
}

// A Header says whether the first line names the columns.
type Header int

// Auto decides by the first two lines.
const (
	Auto Header = iota
	Present
	Absent
)

// A layout is what the first line tells of the file.
type layout struct {
	delimiter byte
	header    bool
	names     []string // of the columns; their numbers without a header
	columns.Choice
	stamp dataset.Stamp // of the file
}

// Open reads the first line and returns a source of the rest. Errors are
// *[dataset.InputError], and in a pass *[dataset.ChangedError].
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

// Columns returns the names in the header, nil where there is none.
func Columns(name string, opts Options) ([]string, error) {
	l, err := inspect(name, opts)
	if err != nil || !l.header {
		return nil, err
	}
	return l.names, nil
}

// Names returns the names of the features and of the targets, in their order, nil
// where there is no header.
func Names(name string, opts Options) (features, targets []string, err error) {
	l, err := choose(name, opts)
	if err != nil || !l.header {
		return nil, nil, err
	}
	features, targets = l.Pick(l.names)
	return features, targets, nil
}

// choose reads the first record and resolves the columns.
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

// inspect reads the first record.
func inspect(name string, opts Options) (*layout, error) {
	f, err := rawfile.Look(name, opts.Pipe)
	if err != nil {
		return nil, err
	}
	name = f.Name
	defer f.Close() // only read
	f.SkipBOM()
	l := &layout{delimiter: byte(opts.Delimiter), header: opts.Header == Present, stamp: f.Stamp()}
	switch c := opts.Delimiter; {
	case c == 0:
		l.delimiter = sniff(f)
	case c < 0 || c > '~' || c == '"' || c == '\r' || c == '\n':
		return nil, &dataset.InputError{File: name, Msg: fmt.Sprintf("%q cannot be a delimiter", c)}
	}
	if err := refuseCR(f); err != nil {
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
	misnamed := r.misnamed()
	if opts.Header == Auto {
		l.header = r.headed(l.names, opts.Cells.Policy() != dataset.RefuseMissing)
	}
	if !l.header {
		l.names = columns.Numbers(len(l.names))
		return l, nil
	}
	return l, misnamed
}

// misnamed returns an error if the record at hand is no header for the bytes in it.
func (r *records) misnamed() error {
	for i, s := range r.fields {
		if utf8.Valid(s) && bytes.IndexByte(s, 0) < 0 {
			continue
		}
		line, column := r.position(i)
		err := &dataset.InputError{File: r.Name(), Line: line, Column: column, Msg: fmt.Sprintf("the name of column %d is not UTF-8: %q", i+1, excerpt.Of(s))}
		if bytes.IndexByte(s, 0) >= 0 {
			err.Msg = fmt.Sprintf("the name of column %d has a zero byte, as UTF-16 has without a byte order mark: %q", i+1, excerpt.Of(s))
		}
		return rawfile.NotUTF8(err)
	}
	return nil
}

// refuseCR refuses text whose first line ends with CR alone: all of the file would be one line.
func refuseCR(f *rawfile.File) error {
	line, _ := unquotedLine(f.Head(func(head []byte) bool {
		_, rest := unquotedLine(head)
		return rest != nil
	}))
	if bytes.IndexByte(bytes.TrimRight(line, "\r"), '\r') < 0 {
		return nil
	}
	return &dataset.InputError{File: f.Name, Line: 1, Msg: "the line ends with CR alone, as on old Macs; lines end with LF or CRLF", Hint: "convert the file, as by tr '\\r' '\\n'"}
}

// trimmed returns the fields of the record at hand without the blanks around them. There
// may be a million of them, so they are parts of one string.
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

// headed reports whether first, the fields of the first record, are names. Where values may be
// missing their marks are neither names nor numbers.
func (r *records) headed(first []string, gaps bool) bool {
	text, numbers := false, false
	for _, s := range first {
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
	if r.next() != nil || len(r.fields) != len(first) { // which is said when it is read
		return true
	}
	for i, s := range r.fields {
		second := string(bytes.TrimSpace(s))
		if gaps && (cell.Missing([]byte(first[i])) || cell.Missing([]byte(second))) {
			continue
		}
		if isText(first[i]) != isText(second) {
			return true
		}
	}
	return false
}

// isText is false for numbers, finite or not, and for an empty field. Numbers that are
// refused for how they are written, such as 1_000, are numbers here: taken for names, they
// would be lost without a message.
func isText(s string) bool {
	// Most names begin as no number does. strconv would allocate an error for each.
	if s != "" && strings.IndexByte("+-.0123456789iInNtTfF", s[0]) < 0 {
		return true
	}
	if _, ok := cell.Boolean([]byte(s)); ok {
		return false
	}
	_, err := strconv.ParseFloat(s, 64)
	return s != "" && err != nil && !errors.Is(err, strconv.ErrRange)
}

// sniff counts delimiters in the first line that isn't blank, as far as the
// buffer holds it. Of a pipe it waits for no more lines than it looks at.
func sniff(f *rawfile.File) byte {
	first, _ := unquotedLine(f.Head(func(head []byte) bool {
		_, rest := unquotedLine(head)
		return rest != nil
	}))
	best := byte(',')
	for _, c := range []byte(";\t") {
		if bytes.Count(first, []byte{c}) > bytes.Count(first, []byte{best}) {
			best = c
		}
	}
	n := len(bytes.Fields(first))
	if bytes.IndexByte(first, best) >= 0 || n < 2 {
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

// unquotedLine returns the first line that isn't blank, with an x in the place of each
// quoted part, and the text behind it, nil where the line has no end.
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
		f.Close() // the error at hand says more
		return nil, err
	}
	return chunk.New(f, newFormat(l), chunk.Options{}), nil
}
