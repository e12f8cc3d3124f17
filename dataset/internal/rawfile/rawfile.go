// Package rawfile opens the files that formats are read from: plain or gzip,
// told apart by their first bytes.
package rawfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"

	"github.com/fdridge/fdridge/dataset"
)

// A File is an open file, uncompressed where it was gzip.
type File struct {
	*bufio.Reader
	Name string
	// Plain is the number of bytes of a file that is not compressed, else -1.
	Plain int64
	file  *os.File
}

// Open opens a regular file. The error is an *[dataset.InputError].
func Open(name string) (*File, error) {
	// Opening a pipe would wait for its writer: look before.
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &dataset.InputError{File: name, Msg: "is not a regular file, which can be read more than once"}
	}
	fail := func(msg string, err error) (*File, error) {
		return nil, &dataset.InputError{File: name, Msg: msg, Err: err}
	}
	f, err := os.Open(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fail("no such file", nil)
		}
		return fail("cannot be opened", err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close() // the error at hand says more
		return fail("cannot be opened", err)
	}
	if info.IsDir() {
		f.Close() // nothing was read
		return fail("is a directory", nil)
	}
	const size = 1 << 18
	r, plain := bufio.NewReaderSize(f, size), info.Size()
	if magic, err := r.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := gzip.NewReader(r)
		if err != nil {
			f.Close() // the error at hand says more
			return nil, (&File{Name: name}).Wrap(err, 0)
		}
		r, plain = bufio.NewReaderSize(z, size), -1
	}
	return &File{Reader: r, Name: name, Plain: plain, file: f}, nil
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// SkipBOM drops a byte order mark, as text may begin with.
func (f *File) SkipBOM() {
	if head, err := f.Peek(3); err == nil && string(head) == "\ufeff" {
		_, _ = f.Discard(3) // they are in the buffer
	}
}

// Wrap turns an error of reading at a line into an *[dataset.InputError]; io.EOF
// stays as it is.
func (f *File) Wrap(err error, line int) error {
	var known *dataset.InputError
	var corrupt flate.CorruptInputError
	var internal flate.InternalError
	switch {
	case err == nil || err == io.EOF || errors.As(err, &known):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &dataset.InputError{File: f.Name, Line: line, Msg: "the gzip stream is truncated"}
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.As(err, &corrupt), errors.As(err, &internal):
		return &dataset.InputError{File: f.Name, Line: line, Msg: "the gzip stream is damaged", Err: err}
	}
	return &dataset.InputError{File: f.Name, Line: line, Msg: "cannot be read", Err: err}
}
