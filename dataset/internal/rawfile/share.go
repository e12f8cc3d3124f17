package rawfile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"

	"github.com/fdridge/fdridge/dataset"
)

// A share is the part of a text that is read: lines that begin before byte end.
type share struct {
	start int64 // where its first line begins, 0 where that is the first one of the file
	next  int64 // where the next line begins
	end   int64
	mark  int // bytes of a byte order mark, which is part of the first line
	// behind is what Text found behind it: nil for more text, else why there is none.
	behind error
}

var whole = share{end: math.MaxInt64}

// Limit restricts f to the records whose first byte lies in r, from the next line on. A
// reader asks Done before each record. A quoted record that goes on with a line that begins
// at r.Hi or later is an error, because the reader of the next range takes that line for the
// beginning of a record. So where no reader has an error, each range began where a record
// begins.
func (f *File) Limit(r dataset.Range) error {
	if r.Whole() {
		return nil
	}
	if r.Lo >= r.Hi {
		f.share.end = 0
		return nil
	}
	if f.file == nil {
		return &dataset.InputError{File: f.Name, Msg: "is a pipe, of which no part can be read alone"}
	}
	if f.decoder.name == "UTF-16" {
		return &dataset.InputError{File: f.Name, Msg: "is UTF-16 text, of which no part can be read alone; convert it to UTF-8"}
	}
	if f.decoder.name != "" {
		return &dataset.InputError{File: f.Name, Msg: "is a " + f.decoder.name + " stream, of which no part can be read alone; unpack it"}
	}
	f.share.end = r.Hi
	if r.Lo <= f.share.next {
		return nil
	}
	// A line begins at r.Lo where the byte before ends one.
	if _, err := f.file.Seek(r.Lo-1, io.SeekStart); err != nil {
		return f.Wrap(err, 0)
	}
	f.Reset(f.file)
	f.Line, f.size, f.share.mark = 0, 0, 0
	at, err := r.Lo-1, bufio.ErrBufferFull
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

// Done reports whether the next line belongs to another share.
func (f *File) Done() bool { return f.share.next >= f.share.end }

// Text reads on, as an io.Reader does, in the lines of the share, io.EOF at its end. It is
// called in place of ReadLine, not before it.
func (f *File) Text(p []byte) (int, error) {
	if f.Done() {
		return 0, io.EOF
	}
	from := io.Reader(f.Reader)
	if f.Buffered() == 0 { // which saves a copy
		from = f.decoder.text
	}
	n, err := from.Read(p)
	at := f.share.next + int64(f.share.mark)
	f.share.next, f.share.mark = at+int64(n), 0
	if f.share.next < f.share.end {
		return n, err
	}
	// The last line is the one that has byte end − 1.
	last := max(f.share.end-1-at, 0)
	i := int64(bytes.IndexByte(p[last:n], '\n'))
	if i < 0 {
		f.share.next = f.share.end - 1
		return n, err
	}
	if n = int(last + i + 1); f.share.next == at+int64(n) {
		_, f.share.behind = f.Peek(1)
	}
	return n, err
}

// Divided reports whether the text was read to the end of the share, and the file goes on or
// cannot be read there.
func (f *File) Divided() bool { return f.Done() && f.share.behind != io.EOF }

// beyond is the error of a record that goes on with a line of another share.
func (f *File) beyond() error {
	_, f.share.behind = f.Peek(1)
	return f.Beyond(f.Line)
}

// Beyond is the error of a record that goes on behind a line, the last of the share.
func (f *File) Beyond(line int) error {
	if f.share.behind != nil {
		return f.Wrap(f.share.behind, line+1)
	}
	return &dataset.InputError{File: f.Name, Line: line, Msg: "a quoted line break is where the file is divided; take another number of ranks or parts, or make as many files as there are of them"}
}

// Place corrects the line of an error in a share. It counts the lines of the file before the
// share and adds them.
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
