// Package csv reads rows of numbers from text separated by commas, semicolons, tabs or blanks. The text may be
// compressed by gzip or zstd.
//
// The delimiter is the most frequent of ',', ';', '|' and tab in the first line, quoted text excluded. If the line
// has several of them, the delimiter divides the first lines into equally many fields, most of them numbers. If the
// line has none, and blanks and tabs divide the first lines into the same number of fields, each run of blanks is one
// delimiter.
//
// The first line is a header if one of its fields is text that is not repeated below, and if not all lines have text in
// the same columns. A first line of numbers is a header if its numbers are names: in quotes above numbers without
// quotes, or whole numbers in order above other numbers. Marks such as NA do not make a header. [dataset.Remark] tells
// what remains open. The [Options] override these rules.
//
// Comment lines before the header, which begin with #, are skipped. So are names of rows, if the header is one field
// shorter than the rows, and a last column without name and values.
//
// Text is UTF-8, or UTF-16 that begins with a byte order mark. In other encodings, names and categories with
// characters beyond ASCII are errors.
//
// A quote opens a quoted text only at the start of a field. In a record without quoted texts, other quotes are
// ordinary characters, as in 5" pipe. Within quotes, "" is a quote, and \" is a quote, too, if the first records are
// not valid otherwise. [prepare.Text] overrides this. The package accepts CRLF, a byte order mark, blanks around
// numbers and a missing final newline. It skips empty lines. Exception: in a file of one column, an empty line after
// the header is a row with a missing value, unless only empty lines follow. A line of blanks or of "" is always a row
// of such a file.
//
// Every selected cell must be a finite decimal number, or True (also TRUE, true, …) for 1 or False for 0.
// Numbers are rounded to the nearest float64. The notations 1_000 and 0x1p4 are errors. Decimal commas are detected if
// the first rows prove them. Blanks, and the other decimal mark, may separate groups of three digits.
//
// With [prepare.Cells], values may be missing: an empty cell, NaN, NA, N/A, <NA>, null, None, ? or ., in upper or
// lower case, or one of the marks in [prepare.Text]. Columns may also be categorical. Their categories are the texts
// without surrounding blanks, so that 1 and 1.0 differ.
//
// A row has at most 2²⁰ fields. A row and the blank lines before it have at most 64 MiB of text.
//
// One core reads or decompresses a file while up to 16 cores parse it. The rows, the blocks and the first error do
// not depend on the number of cores.
package csv

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/chunk"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/errtext"
)

// Options sets how a file is read.
type Options struct {
	// Targets are the target columns. Each is "first", "last", a 1-based column number or a name in the header. If
	// a text is both a name and a number, it is read as the name.
	Targets []string
	// Columns are the features, in the requested order. They are specified like Targets and must not include a
	// target. If every entry begins with "-", the columns after the "-" are left out, and all other columns are
	// features. If Columns is empty, all columns except the targets are features.
	Columns []string
	// Known are the names of the features of an existing model, or nil. If the first line has all of these names,
	// it is a header, even if the names are numbers.
	Known []string
	// Delimiter is the character that separates fields. It must be ASCII. If Delimiter is 0, the delimiter is
	// detected from the first lines.
	Delimiter rune
	Header    Header
	// Text states how numbers and missing values are written.
	Text prepare.Text
	Skipped
	// Range is the part of the file to read. The file must then be uncompressed. The first lines of the file determine
	// the columns, even if Range begins later.
	Range dataset.Range
	// Cells sets how to read cells that are not numbers, such as categories and missing values. If Cells is nil,
	// every selected cell must be a number.
	Cells *prepare.Cells
	// Pipe, if not nil, is the input that is read; no file is opened. Open reads the first line of the pipe. It
	// reads the second line only if the delimiter or the header depends on the second line.
	Pipe *dataset.Pipe
	// Heads, if not nil, keeps what was found in the first lines of files, such as the delimiter and the header.
	// Later calls with the same Heads do not read these lines again. If a file changes between two calls, a pass
	// over its rows ends with a *[dataset.ChangedError].
	Heads *rawfile.Heads
	// Context, if not nil, stops Count when it is cancelled. Other functions ignore it.
	Context context.Context
}

// Skipped are the lines that are not read.
type Skipped struct {
	// Skip lists ranges of lines to skip. Only lines before the header, and lines directly after the header, can be
	// skipped.
	Skip []Lines
	// Comment is the first character of the lines to skip, anywhere in the file. If Comment is 0, only lines before
	// the header that begin with # are skipped.
	Comment byte
}

// Lines is a range of lines, counted from 1. It includes the line Last.
type Lines struct{ First, Last int }

func (o *Options) name(file string) string {
	if o.Pipe != nil {
		return o.Pipe.Name()
	}
	return file
}

// A Header states whether the first line of a file has the names of the columns.
type Header int

// Auto detects a header from the first two lines.
const (
	Auto Header = iota
	Present
	Absent
)

// A layout holds what the first lines of a file show about the format of the file.
type layout struct {
	delimiter byte
	header    bool
	guess     Guess // what the first record tells about a header, if Options.Header is Auto
	columns.Parser
	stamp dataset.Stamp // stamp of the file

	comment byte // first character of comment lines, or 0
	hashes  bool // comments that begin with # are before the table
	escapes bool // within quotes, \" is a quote
	// skip is the number of lines before the header. skipAfter is the number of lines to skip between the header
	// and the rows.
	skip, skipAfter int
	margin          margin
	remarks         []dataset.Remark
	units           *dataset.InputError // error about a line of units under the header, or nil
	unitColumns     []int               // columns with units
}

// A margin is a field that each row has although it belongs to no column, such as the name of the row.
type margin int

const (
	noMargin   margin = iota
	rowNames          // the first field, without a name in the header
	emptyField        // the last field, which has neither name nor values
)

// Open reads the first lines of the file and returns a source of its rows. Errors have type *[dataset.InputError].
// If the file changes after Open, a pass over the rows ends with a *[dataset.ChangedError].
func Open(name string, opts Options) (*dataset.Stream, error) {
	l, err := choose(name, opts)
	if err != nil {
		return nil, err
	}
	var s *dataset.Stream
	s = dataset.NewStream(
		-1,
		l.Features,
		l.Targets,
		false,
		func() (dataset.Reader, error) { return l.open(name, &opts, s.Stamp) },
	)
	s.Stamp = l.stamp
	s.Single = opts.Pipe != nil
	s.Remarks = l.remarks
	return s, nil
}

// Text returns how numbers and missing values are written in a file. It returns opts.Text with the detected decimal
// mark.
func Text(name string, opts Options) (prepare.Text, error) {
	l, err := inspect(name, opts)
	if err != nil {
		return prepare.Text{}, err
	}
	out := opts.Text
	out.Decimal = ""
	if l.Notation.Comma {
		out.Decimal = ","
	}
	return out, nil
}

// Delimiter returns the delimiter of a file: opts.Delimiter, or the detected delimiter if opts.Delimiter is 0. A
// blank means that runs of blanks and tabs separate fields. The result escapes is true if \" within quotes stands
// for a quote.
func Delimiter(name string, opts Options) (delimiter byte, escapes bool, err error) {
	l, err := inspect(name, opts)
	if err != nil {
		return 0, false, err
	}
	return l.delimiter, l.escapes, nil
}

// Columns returns the names of the columns in the header. It returns nil if the file has no header.
func Columns(name string, opts Options) ([]string, error) {
	l, err := inspect(name, opts)
	if err != nil || !l.header {
		return nil, err
	}
	return l.Names, nil
}

// Names returns the names of the features and of the targets that opts selects. Both are nil if the file has no
// header.
func Names(name string, opts Options) (features, targets []string, err error) {
	l, err := choose(name, opts)
	if err != nil || !l.header {
		return nil, nil, err
	}
	features, targets = l.Pick(l.Names)
	return features, targets, nil
}

// choose examines the first lines of a file and selects the features and the targets.
func choose(name string, opts Options) (*layout, error) {
	l, err := inspect(name, opts)
	if err != nil {
		return nil, err
	}
	line := l.skip + 1
	l.Choice, err = columns.Choose(l.Names, l.header, opts.Targets, opts.Columns)
	if err != nil {
		return nil, &dataset.InputError{File: opts.name(name), Line: line, Msg: err.Error()}
	}
	if err := l.Read(opts.Cells, l.Names, l.header); err != nil {
		return nil, &dataset.InputError{File: opts.name(name), Line: line, Msg: err.Error()}
	}
	for _, j := range l.unitColumns {
		if l.To[j] >= 0 &&
			(l.Lexicon(j) == nil || !l.Lexicon(j).IsLevels()) {
			err := *l.units // the layout is shared
			return nil, &err
		}
	}
	l.addMargin()
	return l, nil
}

// addMargin adds a column without a name if each row has a field that belongs to no column.
func (l *layout) addMargin() {
	at := len(l.Names)
	switch l.margin {
	case noMargin:
		return
	case rowNames:
		at = 0
	}
	l.Names = slices.Insert(l.Names, at, "")
	if l.To != nil {
		l.Insert(at)
	}
}

// checkNames checks that the header is UTF-8.
func (r *records) checkNames() error {
	for i, s := range r.fields {
		if utf8.Valid(s) && bytes.IndexByte(s, 0) < 0 {
			continue
		}
		line, column := r.position(i)
		err := &dataset.InputError{
			File:   r.Name(),
			Line:   line,
			Column: column,
			Msg:    fmt.Sprintf("the name of column %d is not UTF-8: %q", i+1, errtext.Excerpt(s)),
		}
		if bytes.IndexByte(s, 0) >= 0 {
			err.Msg = fmt.Sprintf(
				"the name of column %d has a zero byte, as in UTF-16 without a byte order mark: %q",
				i+1,
				errtext.Excerpt(s),
			)
		}
		return rawfile.NotUTF8(err)
	}
	return nil
}

// checkLineEnd returns an error if the lines of a file end with CR only. Such a file would be read as one line.
func checkLineEnd(f *rawfile.File) error {
	line, _ := unquotedLine(f.Head(func(head []byte) bool {
		_, rest := unquotedLine(head)
		return rest != nil
	}))
	if bytes.IndexByte(bytes.TrimRight(line, "\r"), '\r') < 0 {
		return nil
	}
	return &dataset.InputError{
		File: f.Name,
		Line: 1,
		Msg:  "the line ends with CR only; lines must end with LF or CRLF",
		Hint: "convert the file, for instance by tr '\\r' '\\n'",
	}
}

// trimmed returns the fields of the record without surrounding blanks. The texts share one allocation.
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
	names := make([]string, len(r.fields))
	rest := all.String()
	for i, s := range r.fields {
		n := len(bytes.TrimSpace(s))
		names[i] = rest[:n]
		rest = rest[n:]
	}
	return names
}

func (l *layout) open(name string, opts *Options, was dataset.Stamp) (dataset.Reader, error) {
	f, err := rawfile.Pass(name, opts.Pipe, was)
	if err != nil {
		return nil, err
	}
	r, err := l.begin(f, opts, func(l *layout) chunk.Format { return newFormat(l) })
	if err != nil {
		return nil, err
	}
	return r, nil
}

// begin returns a reader of the rows of f that lie in opts.Range. If it returns an error, it has closed f.
func (l *layout) begin(
	f *rawfile.File,
	opts *Options,
	format func(*layout) chunk.Format,
) (*chunk.Reader, error) {
	if err := l.toRows(f, opts); err != nil {
		f.Close() // err is more informative than an error of Close
		return nil, err
	}
	return chunk.New(f, format(l), chunk.Options{EmptyRows: l.hasOneColumn()}), nil
}

// toRows moves f to the first row in opts.Range.
func (l *layout) toRows(f *rawfile.File, opts *Options) error {
	f.SkipBOM()
	err := skipLines(f, l.skip)
	if err == nil && l.header {
		err = newRecords(f, l).next()
	}
	if err == nil {
		err = skipLines(f, l.skipAfter)
	}
	if err == nil {
		err = f.Limit(opts.Range)
	}
	return err
}

// hasOneColumn reports whether the file has only one column. In such a file an empty line is a row with a missing
// value, unless only empty lines follow.
func (l *layout) hasOneColumn() bool { return len(l.Names) == 1 }
