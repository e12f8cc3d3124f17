// Package chunk parses a text file on all cores. One goroutine reads or decompresses the file and divides it into
// chunks, texts that consist of whole records. Other goroutines parse the chunks. The method Reader.Read copies the
// rows into blocks in the order of the file. So the rows, the blocks and the first error do not depend on the size
// of chunks.
package chunk

import (
	"io"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// A Format parses text into rows. Its methods may be called by several goroutines at the same time.
type Format interface {
	// Rows parses text[at:size], which begins with a record, and appends the rows to b. It stops at a record that
	// has more than one line or that it cannot parse. It returns the position of this record, or size if all were
	// parsed. The bytes after text[:size] must be a line end and at least cell.Slack further bytes.
	Rows(b *dataset.Buffer, text []byte, at, size int) int
	// Record reads the next record of l, even if Rows cannot parse it. It appends the row to b and calls l.EndRow.
	// It is slower than Rows. If there is no further record, it returns io.EOF. If the record is invalid, it
	// returns an error with the number of the line in l.
	Record(b *dataset.Buffer, l *Lines) error
	// Quotes returns a new scanner, which finds the line ends at which records end. A line end within quotes does
	// not end a record. The scanner must read a text from its start. If fields of this format are never quoted,
	// Quotes returns nil.
	Quotes() *Quotes
}

// A chunk is a piece of the file that consists of whole records, with the rows parsed from it.
type chunk struct {
	lines Lines
	whole []byte // memory that holds lines.text
	rows  dataset.Buffer
	tail  int   // bytes of the text after the last row
	err   error // first error, which belongs after the rows; or nil

	done     chan struct{} // receives a value when the chunk is parsed
	inFlight int           // bytes of this chunk that the team counts towards its limit maxText
}

func newChunk(sparse bool) *chunk {
	return &chunk{rows: dataset.Buffer{Sparse: sparse}, done: make(chan struct{}, 1)}
}

func (c *chunk) parse(f Format) {
	c.rows.Reset()
	l := &c.lines
	size := len(l.text)
	end := 0 // end of the last row
	for c.err = nil; c.err == nil; {
		// The faster method Rows does not parse text that ends at a read error, or text that is too long for it.
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
		l.size = 0 // checkLength adds the blank lines at the end of the chunk before
		c.err = f.Record(&c.rows, l)
		if c.err == nil {
			end = l.at
		}
	}
	c.tail = size - end
	if c.err == io.EOF {
		c.err = nil
	}
}

// checkLength returns an error if the first record of the chunk and the blank lines before it are too long
// together. The preceding chunks end with blankBytes bytes of blank lines.
func (c *chunk) checkLength(f Format, blankBytes int) error {
	if blankBytes == 0 || blankBytes+len(c.lines.text) <= rawfile.MaxRow {
		return nil
	}
	b := dataset.Buffer{Sparse: c.rows.Sparse}
	b.Reset()
	err := f.Record(&b, &Lines{
		file: c.lines.file,
		text: c.lines.text,
		end:  c.lines.end,
		size: blankBytes,
	})
	if err == io.EOF {
		return nil
	}
	return err
}

func (c *chunk) memory() int {
	b := &c.rows
	return cap(c.whole) +
		8*(cap(b.X)+cap(b.Y)+cap(b.CSR.Val)+cap(b.CSR.RowPtr)) +
		4*cap(b.CSR.ColIdx)
}

func (c *chunk) forget() {
	c.whole = nil
	c.lines = Lines{}
	c.rows = dataset.Buffer{Sparse: c.rows.Sparse}
}
