// Package chunk reads a text in chunks of whole records, which are parsed on all cores, and
// delivers their rows in order.
//
// One goroutine reads the file, or uncompresses it, and cuts it where records end. Others
// parse the chunks. The one that asks for rows copies them into blocks, chunk after chunk in
// the order of the file: so blocks, and the error that is met first, are those of a reader
// that goes line by line.
package chunk

import (
	"io"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// A Format turns text into rows. Its methods are called by several goroutines at a time.
type Format interface {
	// Rows appends the rows of text[at:size], where a record begins at byte at, to b. It
	// stops before the first record that is not one line and a row, or that it cannot read,
	// and returns where that begins, or size. Behind size there are a line's end and at
	// least decimal.Slack bytes.
	Rows(b *dataset.Buffer, text []byte, at, size int) int
	// Record appends the next record of any kind to b, and calls EndRow of l. It returns
	// io.EOF where there is none, and otherwise an error that says what is wrong, with its
	// line as l counts it. It may be slow.
	Record(b *dataset.Buffer, l *Lines) error
	// Quotes reports whether a line's end between quotes ends no record.
	Quotes() bool
}

// A chunk is a part of the text with whole records, and what has become of it.
type chunk struct {
	lines Lines
	whole []byte // the memory of its text
	rows  dataset.Buffer
	tail  int   // bytes of the text behind the last row
	err   error // what is wrong behind the rows

	done   chan struct{} // receives when it was parsed
	flying int           // bytes of text, while they count in flight
	held   int           // bytes of memory, when it was last looked at
}

func newChunk(sparse bool) *chunk {
	return &chunk{rows: dataset.Buffer{Sparse: sparse}, done: make(chan struct{}, 1)}
}

// parse makes rows of the text.
func (c *chunk) parse(f Format) {
	c.rows.Reset()
	l := &c.lines
	size := len(l.text)
	end := 0 // of the last row
	for c.err = nil; c.err == nil; {
		// Of an end that is an error, or is too far off, Record tells.
		if (l.end == nil || l.end == errDivided) && size <= rawfile.MaxRow {
			before := c.rows.N
			l.at = f.Rows(&c.rows, l.text[:cap(l.text)], l.at, size)
			if n := c.rows.N - before; n > 0 {
				l.line += n
				end = l.at
			}
		}
		if l.Done() {
			break
		}
		l.size = 0 // the blank lines of this chunk alone are no more than there may be
		if c.err = f.Record(&c.rows, l); c.err == nil {
			end = l.at
		}
	}
	c.tail = size - end
	if c.err == io.EOF {
		c.err = nil
	}
}

// tooLong returns the error of a first row that is too long where so many bytes of blank
// lines come before the chunk.
func (c *chunk) tooLong(f Format, before int) error {
	if before == 0 || before+len(c.lines.text) <= rawfile.MaxRow {
		return nil
	}
	b := dataset.Buffer{Sparse: c.rows.Sparse}
	b.Reset()
	err := f.Record(&b, &Lines{file: c.lines.file, text: c.lines.text, end: c.lines.end, size: before})
	if err == io.EOF {
		return nil
	}
	return err
}

// memory is how many bytes the chunk keeps.
func (c *chunk) memory() int {
	b := &c.rows
	return cap(c.whole) + 8*(cap(b.X)+cap(b.Y)+cap(b.CSR.Val)+cap(b.CSR.RowPtr)) + 4*cap(b.CSR.ColIdx)
}

// forget gives the memory back.
func (c *chunk) forget() {
	c.whole, c.lines = nil, Lines{}
	c.rows = dataset.Buffer{Sparse: c.rows.Sparse}
}
