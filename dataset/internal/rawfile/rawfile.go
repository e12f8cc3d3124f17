// Package rawfile opens the files that formats are read from: plain or gzip,
// told apart by their first bytes.
package rawfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"

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
			return fail("is not valid gzip", err)
		}
		r, plain = bufio.NewReaderSize(z, size), -1
	}
	return &File{Reader: r, Name: name, Plain: plain, file: f}, nil
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// Wrap turns an error of reading at a line into an *[dataset.InputError]; io.EOF
// stays as it is.
func (f *File) Wrap(err error, line int) error {
	var known *dataset.InputError
	switch {
	case err == nil || errors.Is(err, io.EOF) || errors.As(err, &known):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &dataset.InputError{File: f.Name, Line: line, Msg: "the gzip stream is truncated"}
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		return &dataset.InputError{File: f.Name, Line: line, Msg: "the gzip stream is damaged", Err: err}
	}
	return &dataset.InputError{File: f.Name, Line: line, Msg: "cannot be read", Err: err}
}
