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
	f.Line, f.size, f.mark = 0, 0, 0
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

// beyond is the error of a record that goes on with a line of another share.
func (f *File) beyond() error {
	if _, err := f.Peek(1); err != nil {
		return f.Wrap(err, f.Line+1)
	}
	return &dataset.InputError{File: f.Name, Line: f.Line, Msg: "a quoted line break is where the file is divided; take another number of ranks, or make as many files as ranks"}
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
