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

// try reads the first records of a file. It returns the number of the first record that is an error, from 0, and its
// line, or -1 if there is none. The result isTable reports whether all records before have the same number of fields,
// with the possible exception of a header. The argument isWhole is true if [rawfile.File.Head] returns the whole file.
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
