package csv

import (
	"bytes"
	"io"

	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// findEscapes sets l.escapes, which is true if \" within a quoted text stands for a quote. Spark, Hive, MySQL and R
// write quotes in this form. The argument asked is the value of [prepare.Text].Escape. If asked is 0, l.escapes
// becomes true if both of these hold for the first records:
//   - If only "" stands for a quote, one of the records is an error.
//   - If \" stands for a quote, too, all records have the same number of fields.
//
// The choice makes no difference for records without \". If the first records are valid, a text may end with a
// backslash, as in "C:\". For a pipe, l.escapes is true only if asked is a backslash, because Open reads only the
// first lines of a pipe.
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
	bad, line, _ := l.try(f, isWhole, false)
	if bad < 0 {
		return
	}
	end, _, isTable := l.try(f, isWhole, true)
	if isTable && (end < 0 || end > bad) {
		l.escapes = true
		l.remark(f.Name, line, false, `within quotes, \" is read as a quote (--escape '"' overrides this)`)
	}
}

// try reads the first records of a file. It returns the number, counted from 0, and the line of the first record
// that is an error. If there is none, the number is −1. The result isTable reports whether all records before it
// have the same number of fields; a header may have another number. The argument isWhole is true if
// [rawfile.File.Head] returns the whole file.
func (l *layout) try(f *rawfile.File, isWhole, escapes bool) (bad, line int, isTable bool) {
	r := l.headRecords(f, l.skip)
	r.escapes = escapes
	fields := 0
	isTable = true
	for i := range sampleRecords {
		switch err := r.next(); {
		case err == io.EOF, err != nil && r.Done() && !isWhole: // the record may continue after head
			return -1, 0, isTable
		case err != nil:
			return i, r.line, isTable
		}
		isTable = isTable && (i <= 1 || len(r.fields) == fields)
		fields = len(r.fields)
	}
	return -1, 0, isTable
}
