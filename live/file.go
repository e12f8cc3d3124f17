package live

import (
	"errors"
	"io"
	"os"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/checkpoint"
	"github.com/fdridge/fdridge/ridge/window"
)

// A File is that of a live sketch, which no other process writes. Of one called F there are
//
//	F           the sketch as it was written last: whole, and there at all times, so that others may read it
//	F.previous  as it was written before
//	F.new       the next, in the making
//	F.lock      locked while a process writes them; tells which
type File struct {
	states  *checkpoint.File
	damaged bool // F is, and what [File.Load] returned is F.previous
}

// Names are those of all its files.
func Names(name string) []string { return checkpoint.Names(name) }

// Kept are those of its files that there are and that [File.Load] reads: to begin anew all of them have to go.
func Kept(name string) []string { return checkpoint.Kept(name) }

// Open locks the file of a live sketch, which need not exist. A link is followed. Where another process writes it the error is
// *[checkpoint.LockedError].
func Open(name string) (*File, error) {
	states, err := checkpoint.Open(name)
	if err != nil {
		return nil, err
	}
	return &File{states: states}, nil
}

// Load returns the last sketch that is whole, nil where none was written. damage is what is wrong with one
// that was written after it. A file that holds none, and has no F.previous that does, is an error.
func (f *File) Load(be engine.Backend) (s window.Stream, damage, err error) {
	found, damage, err := f.states.Published(func(file *os.File) (err error) {
		s, err = ReadOnly(file, be)
		return err
	})
	if !found {
		s = nil
	}
	f.damaged = damage != nil
	return s, damage, err
}

// ReadOnly is [window.Read] of a file that holds nothing else.
func ReadOnly(file *os.File, be engine.Backend) (window.Stream, error) {
	s, err := window.Read(file, be)
	if errors.Is(err, io.EOF) {
		err = errors.New("is empty")
	}
	if err != nil {
		return nil, err
	}
	if n, err := file.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		return nil, errors.Join(errors.New("more follows the sketch"), unlessEOF(err))
	}
	return s, nil
}

// unlessEOF is err, nil for the end of a file.
func unlessEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// Write writes the sketch as it is, and returns how many bytes it has.
func (f *File) Write(s window.Stream) (size int64, err error) {
	err = f.states.Publish(func(w io.Writer) error {
		size, err = s.WriteTo(w)
		return err
	})
	if err == nil {
		f.damaged = false
	}
	return size, err
}

// Close lets other processes write the file.
func (f *File) Close() error { return f.states.Release() }
