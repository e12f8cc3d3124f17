package csv

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/chunk"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// records reads the records of a file in order. Package encoding/csv parses the records with quotes.
type records struct {
	lines
	delimiter byte
	single    bool // the file has one column, so that an empty line is a row
	comment   byte // first character of lines to skip, or 0
	escapes   bool // within quotes, \" is a quote
	// fields are the fields of the current record. They are valid until the next call of the method next.
	fields [][]byte
	line   int // line on which the record begins

	text   []byte // current line; the fields are slices of it
	quoted *csv.Reader
	feed   feed
	copied []byte // memory for the fields of a quoted record
}

// lines reads the lines of a file or chunk.
type lines interface {
	Name() string // name of the file
	Done() bool
	ReadLine() ([]byte, error)
	Line() int // number of lines that ReadLine has returned
	EndRow()
}

// fileLines reads the lines of a file.
type fileLines struct{ *rawfile.File }

func (f fileLines) Name() string { return f.File.Name }
func (f fileLines) Line() int    { return f.File.Line }

func newRecords(f *rawfile.File, l *layout) *records {
	r := &records{
		lines:     fileLines{f},
		delimiter: l.delimiter,
		comment:   l.comment,
		escapes:   l.escapes,
	}
	r.feed.records = r
	return r
}

// headRecords returns the records in the first buffer of a file, after the first skip lines. Reading these records
// does not move the position in the file.
func (l *layout) headRecords(f *rawfile.File, skip int) *records {
	r := newRecords(f, l)
	r.from(chunk.NewLines(f, bytes.Clone(f.Head(nil))))
	for range skip {
		if _, err := r.ReadLine(); err != nil {
			break // no record follows
		}
	}
	return r
}

// from makes r read the lines of l.
func (r *records) from(l lines) {
	r.lines, r.feed.at = l, 0
}

// maxFields limits the memory for fields and names.
const maxFields = 1 << 20

// next reads the next record. It skips blank lines. In a file of one column it does not skip them, because there a
// blank line is a row with a missing value.
func (r *records) next() error {
	for {
		if r.Done() {
			return io.EOF
		}
		text, err := r.ReadLine()
		if err != nil {
			return err
		}
		r.line = r.Line()
		r.text = text
		if r.comment != 0 && text[0] == r.comment {
			continue
		}
		if r.delimiter == blanks {
			replaceTabs(text)
		}
		if r.isQuoted(text) {
			err = r.unquote()
		} else {
			err = r.split()
		}
		if err != nil {
			return err
		}
		if r.single ||
			len(r.fields) > 1 ||
			len(bytes.TrimSpace(r.text)) > 0 {
			r.EndRow()
			return nil
		}
	}
}

// isQuoted reports whether a field of the line begins with a quote. Blanks may precede the quote.
func (r *records) isQuoted(line []byte) bool {
	for rest := line; ; {
		i := bytes.IndexByte(rest, '"')
		if i < 0 {
			return false
		}
		before := line[:len(line)-len(rest)+i]
		if r.delimiter != '\t' {
			before = bytes.TrimRightFunc(
				before,
				func(c rune) bool {
					return c == ' ' ||
						c != rune(r.delimiter) && unicode.IsSpace(c)
				},
			)
		}
		n := len(before)
		if n == 0 ||
			before[n-1] == r.delimiter ||
			r.delimiter == blanks && n < len(line)-len(rest)+i {
			return true
		}
		rest = rest[i+1:]
	}
}

func (r *records) tooManyFieldsError() error {
	return &dataset.InputError{
		File: r.Name(),
		Line: r.Line(),
		Msg:  fmt.Sprintf("the row has more than %d fields", maxFields),
	}
}

// replaceTabs replaces each tab by a blank.
func replaceTabs(text []byte) {
	for {
		i := bytes.IndexByte(text, '\t')
		if i < 0 {
			return
		}
		text[i] = ' '
		text = text[i+1:]
	}
}

// doubleQuotes replaces each \" in text by "". In \\", the first backslash escapes the second, so the quote is not
// replaced.
func doubleQuotes(text []byte) {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 || i == len(text)-1 {
			return
		}
		if text[i+1] == '"' {
			text[i] = '"'
		}
		text = text[i+2:]
	}
}

// quotedFields reports for each field of the current record whether the field is in quotes. It returns nil if no
// field is in quotes, or if the record has more than one line.
func (r *records) quotedFields() []bool {
	if bytes.IndexByte(r.text, '"') < 0 {
		return nil
	}
	out := make([]bool, 0, len(r.fields))
	inside, begins := false, true
	for i, c := range r.text {
		switch {
		case c == '"':
			if begins && !inside {
				out = append(out, true)
				begins = false
			}
			inside = !inside
		case inside:
		case c == r.delimiter ||
			c == '\n' ||
			c == '\r' && i+1 < len(r.text) && r.text[i+1] == '\n':
			if begins && (r.delimiter != blanks) {
				out = append(out, false)
			}
			begins = true
			if c != r.delimiter {
				return sameLength(out, r.fields)
			}
		case begins && c != ' ':
			out = append(out, false)
			begins = false
		}
	}
	if begins && r.delimiter != blanks {
		out = append(out, false)
	}
	return sameLength(out, r.fields)
}

func sameLength(quoted []bool, fields [][]byte) []bool {
	if len(quoted) != len(fields) {
		return nil
	}
	return quoted
}

// split divides the current line into fields. If the delimiter is a blank, a run of blanks is one delimiter.
func (r *records) split() error {
	rest := bytes.TrimSuffix(bytes.TrimSuffix(r.text, []byte("\n")), []byte("\r"))
	r.fields = r.fields[:0]
	if cap(r.fields) == 0 {
		r.fields = make(
			[][]byte,
			0,
			min(bytes.Count(rest, []byte{r.delimiter}), maxFields)+1,
		)
	}
	if r.delimiter == ' ' {
		rest = trimBlanks(bytes.TrimRight(rest, " "))
	}
	for {
		i := bytes.IndexByte(rest, r.delimiter)
		if i < 0 {
			break
		}
		if len(r.fields) == maxFields {
			return r.tooManyFieldsError()
		}
		r.fields = append(r.fields, rest[:i])
		rest = rest[i+1:]
		if r.delimiter == ' ' {
			rest = trimBlanks(rest)
		}
	}
	r.fields = append(r.fields, rest)
	return nil
}

// trimBlanks returns text without the blanks at its beginning. Even an empty result is a slice of text, because
// [records.position] needs its place. The empty result of bytes.TrimLeft is no slice of its argument.
func trimBlanks(text []byte) []byte {
	return text[len(text)-len(bytes.TrimLeft(text, " ")):]
}

// unquote parses the current record with encoding/csv.
func (r *records) unquote() error {
	if r.quoted == nil {
		r.quoted = csv.NewReader(&r.feed)
		r.quoted.Comma, r.quoted.ReuseRecord, r.quoted.FieldsPerRecord = rune(r.delimiter), true, -1
		// If the delimiter is a tab, encoding/csv would take empty fields for leading blanks and drop them.
		r.quoted.TrimLeadingSpace = r.delimiter != '\t'
	}
	if err := r.feed.begin(r.text); err != nil {
		return err
	}
	record, err := r.quoted.Read()
	if err != nil {
		return r.wrap(err)
	}
	r.fields, r.copied = r.fields[:0], r.copied[:0]
	isBlankAtEnd := bytes.HasSuffix(bytes.TrimRight(r.text, "\r\n"), []byte{' '})
	last := len(record) - 1
	if r.delimiter == ' ' && last > 0 && record[last] == "" && isBlankAtEnd {
		record = record[:last] // blanks at the end of the line are no field
	}
	size := 0
	for _, s := range record {
		size += len(s)
	}
	r.fields = slices.Grow(r.fields, len(record))
	r.copied = slices.Grow(r.copied, size)
	for _, s := range record {
		r.copied = append(r.copied, s...)
	}
	at := 0
	for _, s := range record {
		r.fields = append(r.fields, r.copied[at:at+len(s)])
		at += len(s)
	}
	return nil
}

// position returns the line of field i of the current record, and the first byte of the field in this line. Both
// are counted from 1. Each field is a slice of r.text, so its capacity shows where the field begins.
func (r *records) position(i int) (line, column int) {
	if r.feed.at == r.line {
		line, column = r.quoted.FieldPos(i)
		return line + r.feed.before, column
	}
	return r.line, cap(r.text) - cap(r.fields[i]) + 1
}

// wrap adds the position in the file to err.
func (r *records) wrap(err error) error {
	var p *csv.ParseError
	if errors.As(err, &p) {
		bad := &dataset.InputError{
			File:   r.Name(),
			Line:   p.Line + r.feed.before,
			Column: p.Column,
			Msg:    p.Err.Error(),
		}
		if bytes.Contains(r.text, []byte(`\"`)) && !r.escapes {
			bad.Hint = `if \" stands for a quote within a text, as Spark and R write it, use --escape '\'`
		}
		// Column p.Column of line p.Line is the quote at which parsing failed. In a record of several lines, r.text
		// may be a line other than p.Line, so only records of one line are examined.
		if bad.Hint == "" &&
			p.StartLine == p.Line &&
			bytes.HasPrefix(r.text[min(p.Column-1, len(r.text)):], []byte(`" `)) {
			bad.Hint = "remove blanks after a closing quote"
		}
		return bad
	}
	return err // errors of the file have their position already
}

// A feed gives package encoding/csv the lines of one record.
type feed struct {
	*records
	at     int    // first line of the last record that was passed on, or 0
	before int    // number of lines before this record that were not passed on
	lines  int    // number of lines passed on
	fields int    // number of delimiters in the record so far, quoted ones included
	rest   []byte // unread part of the current line
}

func (f *feed) begin(text []byte) error {
	f.at = f.line
	f.before = f.line - 1 - f.lines
	f.fields = 0
	return f.take(text)
}

func (f *feed) take(text []byte) error {
	f.fields += bytes.Count(text, []byte{f.delimiter})
	if f.fields > maxFields {
		return f.tooManyFieldsError()
	}
	if f.escapes {
		doubleQuotes(text)
	}
	f.rest = text
	f.lines++
	return nil
}

// Read returns at most one line. So encoding/csv reads no line after the end of the record.
func (f *feed) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		text, err := f.ReadLine()
		if err != nil {
			return 0, err
		}
		if err := f.take(text); err != nil {
			return 0, err
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}
