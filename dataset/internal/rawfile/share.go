package rawfile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"

	"github.com/fdridge/fdridge/dataset"
)

// A share of a text file consists of the lines whose first byte is at start or later and before end.
type share struct {
	start int64 // start of the first line of the share; 0 for the beginning of the file
	next  int64 // start of the next line
	end   int64
	mark  int // bytes of a byte order mark, which belong to the first line
	// nextErr is io.EOF if no byte follows the share.
	nextErr error
}

var wholeFile = share{end: math.MaxInt64}

// Limit restricts f to the share of records whose first byte is at r.Lo or later and before r.Hi. A reader must
// call Done before each record. A quoted record that continues across byte r.Hi is an error. Otherwise the reader
// of the next range would start inside this record.
func (f *File) Limit(r dataset.Range) error {
	if r.Whole() {
		return nil
	}
	if r.Lo >= r.Hi {
		f.share.end = 0
		return nil
	}
	if f.file == nil {
		return &dataset.InputError{File: f.Name, Msg: "is a pipe, which cannot be read in parts"}
	}
	if f.decoder.name == "UTF-16" {
		return &dataset.InputError{
			File: f.Name,
			Msg:  "is UTF-16 text, which cannot be read in parts; convert it to UTF-8",
		}
	}
	if f.decoder.name != "" {
		return &dataset.InputError{
			File: f.Name,
			Msg:  "is a " + f.decoder.name + " stream, which cannot be read in parts; decompress it",
		}
	}
	f.share.end = r.Hi
	if r.Lo <= f.share.next {
		return nil
	}
	// Seek to the byte before r.Lo, and skip the rest of the line that contains this byte. If this byte is a line
	// end, the next line begins at r.Lo.
	if _, err := f.file.Seek(r.Lo-1, io.SeekStart); err != nil {
		return f.Wrap(err, 0)
	}
	f.Reset(f.file)
	f.Line, f.size, f.share.mark = 0, 0, 0
	at := r.Lo - 1
	err := bufio.ErrBufferFull
	for err == bufio.ErrBufferFull && at < r.Hi {
		var text []byte
		text, err = f.ReadSlice('\n')
		at += int64(len(text))
	}
	f.share.start, f.share.next = at, at
	if err == bufio.ErrBufferFull || err == io.EOF {
		return nil
	}
	return f.Wrap(err, 0)
}

// Done reports whether all lines of the share set by Limit have been read.
func (f *File) Done() bool {
	return f.share.next >= f.share.end
}

// Text reads the next bytes of the share set by Limit into p, like an io.Reader. At the end of the share it returns
// io.EOF. A caller may use either Text or ReadLine for a file, but not both.
func (f *File) Text(p []byte) (int, error) {
	if f.Done() {
		return 0, io.EOF
	}
	from := io.Reader(f.Reader)
	if f.Buffered() == 0 { // saves a copy
		from = f.decoder.text
	}
	n, err := from.Read(p)
	at := f.share.next + int64(f.share.mark)
	f.share.next, f.share.mark = at+int64(n), 0
	if f.share.next < f.share.end {
		return n, err
	}
	// The share ends after the line that contains the byte at position f.share.end − 1 of the file.
	last := max(f.share.end-1-at, 0)
	i := int64(bytes.IndexByte(p[last:n], '\n'))
	if i < 0 {
		f.share.next = f.share.end - 1
		return n, err
	}
	n = int(last + i + 1)
	if f.share.next == at+int64(n) { // all bytes that were read belong to the share
		_, f.share.nextErr = f.Peek(1)
	}
	f.share.next = at + int64(n)
	return n, err
}

// Divided reports whether f has read the share set by Limit to its end, and the file has further bytes after the
// share.
func (f *File) Divided() bool {
	return f.Done() && f.share.nextErr != io.EOF
}

// HasMoreText reports whether the file has bytes other than line ends after the share set by Limit. If these bytes
// cannot be read, HasMoreText returns true.
func (f *File) HasMoreText() bool {
	rest := io.NewSectionReader(f.file, f.share.next, math.MaxInt64-f.share.next)
	text := make([]byte, 1<<12)
	for {
		n, err := rest.Read(text)
		if len(bytes.Trim(text[:n], "\r\n")) > 0 {
			return true
		}
		if err != nil {
			return err != io.EOF
		}
	}
}

// beyond returns the error for a record that begins in the share and continues after its last line, which f has
// read.
func (f *File) beyond() error {
	_, f.share.nextErr = f.Peek(1)
	return f.Beyond(f.Line)
}

// Beyond returns the error for a record that begins in the share set by Limit and continues after its last line.
// The argument is the number of this last line.
func (f *File) Beyond(line int) error {
	if f.share.nextErr != nil {
		return f.Wrap(f.share.nextErr, line+1)
	}
	return &dataset.InputError{
		File: f.Name,
		Line: line,
		Msg:  "the file is divided at a quoted line break; use another number of ranks or parts, or one file for each",
	}
}

// Place returns err with a corrected line number. Line numbers in errors count from the start of the share set by
// Limit. Place makes them count from the start of the file.
func (f *File) Place(err error) error {
	e, ok := errors.AsType[*dataset.InputError](err)
	if !ok || e.Line == 0 || f.share.start == 0 {
		return err
	}
	before := io.NewSectionReader(f.file, 0, f.share.start)
	text := make([]byte, bufferSize)
	for {
		n, failure := before.Read(text)
		e.Line += bytes.Count(text[:n], []byte{'\n'})
		if failure == io.EOF {
			return err
		}
		if failure != nil {
			return errors.Join(err, failure)
		}
	}
}
