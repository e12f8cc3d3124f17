package csv

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// records reads the records of a file, one after the other. A line without quotes,
// as almost all lines of numbers are, is split where the delimiter stands; any
// other goes through encoding/csv, which asks for further lines where a quoted
// field goes on.
type records struct {
	lines
	delimiter byte
	// fields of the record at hand, valid until the next one, and the line it
	// begins on.
	fields [][]byte
	line   int

	text   []byte // the record's line, which fields are slices of
	quoted *csv.Reader
	feed   feed
	copied []byte // the fields of a quoted record
}

// lines are those of a file, or of a chunk of it.
type lines interface {
	Name() string // of the file
	Done() bool
	ReadLine() ([]byte, error)
	Line() int // lines that ReadLine has returned
	EndRow()
}

// fileLines are those of a file.
type fileLines struct{ *rawfile.File }

func (f fileLines) Name() string { return f.File.Name }
func (f fileLines) Line() int    { return f.File.Line }

func newRecords(f *rawfile.File, delimiter byte) *records {
	r := &records{lines: fileLines{f}, delimiter: delimiter}
	r.feed.records = r
	return r
}

// from goes on with records of other lines.
func (r *records) from(l lines) { r.lines, r.feed.at = l, 0 }

// maxFields bounds the fields of a row, and so the memory of a row that is nothing but
// delimiters and that of the names of its columns.
const maxFields = 1 << 20

// next reads the next record that isn't a line of blanks.
func (r *records) next() error {
	for {
		if r.Done() {
			return io.EOF
		}
		text, err := r.ReadLine()
		if err != nil {
			return err
		}
		r.line, r.text = r.Line(), text
		if bytes.IndexByte(text, '"') >= 0 {
			err = r.unquote()
		} else {
			err = r.split()
		}
		if err != nil {
			return err
		}
		if len(r.fields) > 1 || len(bytes.TrimSpace(r.fields[0])) > 0 {
			r.EndRow()
			return nil
		}
	}
}

func (r *records) tooMany() error {
	return &dataset.InputError{File: r.Name(), Line: r.Line(), Msg: fmt.Sprintf("the row has more than %d fields", maxFields)}
}

// split cuts a line at its delimiters. Any number of blanks are one delimiter.
func (r *records) split() error {
	rest := bytes.TrimSuffix(bytes.TrimSuffix(r.text, []byte("\n")), []byte("\r"))
	if r.fields = r.fields[:0]; cap(r.fields) == 0 {
		r.fields = make([][]byte, 0, min(bytes.Count(rest, []byte{r.delimiter}), maxFields)+1)
	}
	if r.delimiter == ' ' {
		rest = bytes.Trim(rest, " ")
	}
	for {
		i := bytes.IndexByte(rest, r.delimiter)
		if i < 0 {
			break
		}
		if len(r.fields) == maxFields {
			return r.tooMany()
		}
		r.fields = append(r.fields, rest[:i])
		rest = rest[i+1:]
		if r.delimiter == ' ' {
			rest = bytes.TrimLeft(rest, " ")
		}
	}
	r.fields = append(r.fields, rest)
	return nil
}

// unquote lets encoding/csv read the record that begins with the line at hand.
func (r *records) unquote() error {
	if r.quoted == nil {
		r.quoted = csv.NewReader(&r.feed)
		r.quoted.Comma, r.quoted.ReuseRecord, r.quoted.FieldsPerRecord = rune(r.delimiter), true, -1
		r.quoted.TrimLeadingSpace = r.delimiter != '\t' // it would take an empty field for a blank
	}
	if err := r.feed.begin(r.text); err != nil {
		return err
	}
	record, err := r.quoted.Read()
	if err != nil {
		return r.wrap(err)
	}
	r.fields, r.copied = r.fields[:0], r.copied[:0]
	if last := len(record) - 1; r.delimiter == ' ' && last > 0 && record[last] == "" {
		record = record[:last] // blanks at the end of the line
	}
	size := 0
	for _, s := range record {
		size += len(s)
	}
	r.fields, r.copied = slices.Grow(r.fields, len(record)), slices.Grow(r.copied, size)
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

// position returns the line and the byte in it where field i begins. Fields that
// were split off are slices of the line to its very end, so that the difference of
// the capacities is where a field begins.
func (r *records) position(i int) (line, column int) {
	if r.feed.at == r.line {
		line, column = r.quoted.FieldPos(i)
		return line + r.feed.before, column
	}
	return r.line, cap(r.text) - cap(r.fields[i]) + 1
}

// wrap gives an error of encoding/csv its place in the file.
func (r *records) wrap(err error) error {
	var p *csv.ParseError
	if errors.As(err, &p) {
		return &dataset.InputError{File: r.Name(), Line: p.Line + r.feed.before, Column: p.Column, Msg: p.Err.Error()}
	}
	return err // of the file, with its place
}

// feed hands the lines of one record to encoding/csv.
type feed struct {
	*records
	at     int    // line where the last record that was handed on begins, 0 for none
	before int    // lines before that record that were not handed on
	lines  int    // lines handed on
	fields int    // delimiters of the record so far, quoted ones too: at least as many as fields
	rest   []byte // of the line at hand
}

func (f *feed) begin(text []byte) error {
	f.at, f.before, f.fields = f.line, f.line-1-f.lines, 0
	return f.take(text)
}

func (f *feed) take(text []byte) error {
	if f.fields += bytes.Count(text, []byte{f.delimiter}); f.fields > maxFields {
		return f.tooMany()
	}
	f.rest = text
	f.lines++
	return nil
}

// Read never returns more than what is left of one line, so that encoding/csv
// asks for the next line only where its record goes on.
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
