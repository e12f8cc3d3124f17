package csv

import (
	"bytes"
	"io"

	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// findEscapes sets l.escapes: whether \" is a quote within quotes, as Spark, Hive, MySQL and R write it. asked is
// [prepare.Text].Escape. By default, \" is a quote if both of these hold for the first records:
//   - One of them is an error if only "" is a quote.
//   - All have the same number of fields if \" is a quote, too.
//
// Whether \" is a quote makes no difference for records that have no \". A text may end with a backslash, as in "C:\",
// if the first records are valid. In the rows of a pipe, \" is a quote only if asked is a backslash, because Open reads
// only their first lines.
func (l *layout) findEscapes(f *rawfile.File, asked byte) {
	if asked != 0 {
		l.escapes = asked == '\\'
		return
	}
	if f.Piped() {
		return
	}
	head := f.Head(nil)
	if !bytes.Contains(head, []byte(`\"`)) {
		return
	}
	isWhole := len(head) < f.Size()
	bad, line, _ := l.try(f.Name, head, isWhole, false)
	if bad < 0 {
		return
	}
	end, _, isTable := l.try(f.Name, head, isWhole, true)
	if isTable && (end < 0 || end > bad) {
		l.escapes = true
		l.remark(f.Name, line, false, `within quotes, \" is read as a quote (--escape '"' overrides this)`)
	}
}

// try reads the first records of a file. It returns the number of the first record that is an error, from 0, and its
// line, or -1 if there is none. isTable reports whether all records before have the same number of fields, with the
// possible exception of a header. isWhole is true if head is the whole file.
func (l *layout) try(name string, head []byte, isWhole, escapes bool) (bad, line int, isTable bool) {
	r := newRecords(nil, l)
	r.escapes = escapes
	text := &headLines{name: name, rest: bytes.Clone(head)}
	r.lines = text
	fields := 0
	isTable = true
	for range l.skip {
		if _, err := text.ReadLine(); err != nil {
			return -1, 0, isTable
		}
	}
	for i := range sampleRecords {
		switch err := r.next(); {
		case err == io.EOF, err != nil && text.Done() && !isWhole: // the record may continue after head
			return -1, 0, isTable
		case err != nil:
			return i, r.line, isTable
		}
		isTable = isTable && (i <= 1 || len(r.fields) == fields)
		fields = len(r.fields)
	}
	return -1, 0, isTable
}

// headLines are the lines at the beginning of a file.
type headLines struct {
	name string
	rest []byte
	line int
}

func (h *headLines) Name() string { return h.name }
func (h *headLines) Done() bool   { return len(h.rest) == 0 }
func (h *headLines) Line() int    { return h.line }
func (h *headLines) EndRow()      {}

func (h *headLines) ReadLine() ([]byte, error) {
	if len(h.rest) == 0 {
		return nil, io.EOF
	}
	n := bytes.IndexByte(h.rest, '\n') + 1
	if n == 0 {
		n = len(h.rest)
	}
	text := h.rest[:n:n]
	h.rest = h.rest[n:]
	h.line++
	return text, nil
}
