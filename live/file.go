package live

import (
	"errors"
	"io"
	"os"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/safefile"
	"github.com/fdridge/fdridge/ridge/window"
)

// A File holds a sketch (a small summary of the rows) that one process updates while others read it. If the name of
// the File is F, it consists of these files:
//
//	F           the last sketch written; always complete, so that others may read it at any time
//	F.previous  the sketch written before the one in F
//	F.new       the next sketch while it is being written
//	F.lock      locked while a process has the File open; contains the id of this process
type File struct {
	states  *safefile.Checkpoint
	damaged bool // F is damaged, so Load has returned F.previous
}

// Names returns the names of all files that the [File] with this name may use. [File] describes these four files.
func Names(name string) []string { return safefile.CheckpointNames(name) }

// Kept returns the files of the [File] with this name that hold the last sketch and the sketch before it, if they
// exist. If none exists, Kept returns nothing, and a run starts with an empty sketch.
func Kept(name string) []string { return safefile.KeptNames(name) }

// Open locks the [File] with this name, whose files need not exist. If name is a symbolic link, Open follows it. If
// another process has locked the File, the error is a *[safefile.LockedError].
func Open(name string) (*File, error) {
	states, err := safefile.OpenCheckpoint(name)
	if err != nil {
		return nil, err
	}
	return &File{states: states}, nil
}

// Load returns the sketch in the file F, which has the name of f, or nil if there is no sketch yet. If F is
// damaged, Load returns the older sketch in F.previous, and damage tells what is wrong. If F is damaged and there
// is no F.previous, Load returns an error.
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

// ReadOnly reads a sketch from file by [window.Read]. It returns an error if the file contains data after the
// sketch.
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

// unlessEOF returns nil if err is io.EOF, and otherwise err.
func unlessEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// Write writes the sketch and returns its size in bytes.
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

// Close unlocks the file.
func (f *File) Close() error { return f.states.Release() }
