// Package checkpoint keeps the state of a long computation in a file, for a process
// that goes on when this one was killed. Of a checkpoint called F there are
//
//	F           the state that was saved last
//	F.previous  the one before
//	F.new       the next one, in the making
//	F.lock      locked while a process works with them; tells which
//
// A state is written to F.new, synced and renamed, F having become F.previous; then
// the folder is synced. A process that is killed in between, or a disk that is full,
// leaves the last state whole, in F or, between the two renames, in F.previous. Each
// state is framed and has a checksum, see package wire.
package checkpoint

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/fdridge/fdridge/internal/atomicfile"
	"github.com/fdridge/fdridge/internal/wire"
)

// A File is a checkpoint that no other process works with.
type File struct {
	name string
	disk atomicfile.Operations
	lock *os.File
	// damaged is set where the last state is damaged: Save then keeps the one before it.
	damaged bool
}

// Names are those of all files of a checkpoint. If its name is a link, they are beside the file that it leads to.
func Names(name string) []string {
	to, err := atomicfile.Destination(name)
	if err != nil {
		to = name // Open says what is wrong
	}
	return names(to)
}

func names(name string) []string {
	return []string{name, name + ".previous", name + ".new", name + ".lock"}
}

// Kept are those files of a checkpoint that there are and that a state is loaded from: all of them have
// to go where there is to be none.
func Kept(name string) []string {
	var there []string
	for _, name := range Names(name)[:2] {
		if _, err := os.Lstat(name); err == nil {
			there = append(there, name)
		}
	}
	return there
}

// Open locks a checkpoint, which need not exist. A link is followed. Where another process has it the
// error is *[LockedError]. The lock ends with Close, or with the process.
func Open(name string) (*File, error) { return open(name, atomicfile.Disk) }

func open(name string, d atomicfile.Operations) (*File, error) {
	name, err := atomicfile.Destination(name)
	if err != nil {
		return nil, err
	}
	lock, err := acquire(name + ".lock")
	if err != nil {
		return nil, err
	}
	return &File{name: name, disk: d, lock: lock}, nil
}

// A LockedError says that another process works with a checkpoint.
type LockedError struct {
	Lock   string // the file that is locked
	Holder string // by whom, "" if it doesn't say yet
}

func (e *LockedError) Error() string {
	if e.Holder == "" {
		return e.Lock + " is locked by another process"
	}
	return fmt.Sprintf("%s is locked by %s", e.Lock, e.Holder)
}

// Save makes a new state, of size bytes, and returns it. After an error Load still finds
// the last state, or this one where only the sync of the folder failed.
func (f *File) Save(size int64, write func(w io.Writer) error) (*State, error) {
	previous := f.name + ".previous"
	if f.damaged {
		previous = ""
	}
	err := atomicfile.Replace(f.disk, f.name+".new", f.name, previous, func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<20)
		m := wire.NewWriter(b, wire.Checkpoint, size)
		m.Fail(write(m))
		n, err := m.Close()
		switch {
		case err != nil:
			return err
		case n != size+wire.Frame:
			return fmt.Errorf("checkpoint: a state of %d bytes was to have %d", n-wire.Frame, size)
		}
		return b.Flush()
	})
	if err != nil {
		return nil, err
	}
	f.damaged = false
	file, err := os.Open(f.name)
	if err != nil {
		return nil, err
	}
	return newState(file, size), nil
}

// A State is one that was saved, checked against its checksum.
type State struct {
	*io.SectionReader
	Damage error // what is wrong with the state that was saved after it, nil for nothing
	file   *os.File
}

// Name is that of the file of the state.
func (s *State) Name() string { return s.file.Name() }

// Close closes the file of the state.
func (s *State) Close() error { return s.file.Close() }

// Load returns the last state that is whole, nil where none was saved. Damaged states
// alone are an error.
func (f *File) Load() (*State, error) {
	var damage error
	for _, name := range names(f.name)[:2] {
		s, err := load(name)
		switch {
		case err == nil:
			s.Damage, f.damaged = damage, damage != nil
			return s, nil
		case errors.Is(err, fs.ErrNotExist):
		case errors.Is(err, wire.ErrVersion):
			return nil, fmt.Errorf("%s: %w", name, err)
		default:
			damage = errors.Join(damage, fmt.Errorf("%s: %w", name, err))
		}
	}
	return nil, damage
}

func load(name string) (*State, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	size, err := verify(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return newState(file, size), nil
}

func newState(file *os.File, size int64) *State {
	return &State{SectionReader: io.NewSectionReader(file, wire.Start, size), file: file}
}

// verify reads a state through and returns how many bytes it has.
func verify(file *os.File) (int64, error) {
	m := wire.NewReader(file)
	_, size := m.Preamble(wire.Checkpoint)
	if m.Err() == nil {
		io.CopyN(io.Discard, m, size) // m keeps the error
	}
	m.Close()
	switch err := m.Err(); {
	case err == io.EOF:
		return 0, errors.New("is empty")
	case err != nil:
		return 0, err
	}
	if info, err := file.Stat(); err != nil || info.Size() != m.N() {
		return 0, errors.Join(err, errors.New("more follows the state"))
	}
	return size, nil
}

// Publish is Save for a file that others read as it stands: it has no frame, and once there is one
// there is one at all times. F.previous is another name of it until it is replaced.
func (f *File) Publish(write func(w io.Writer) error) error {
	previous := f.name + ".previous"
	if f.damaged {
		previous = ""
	}
	err := atomicfile.Publish(f.disk, f.name+".new", f.name, previous, func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<20)
		if err := write(b); err != nil {
			return err
		}
		return b.Flush()
	})
	if err == nil {
		f.damaged = false
	}
	return err
}

// Published has the last file that Publish made read, or where that is damaged, which read tells by an
// error, the one before: damage is then what is wrong with the last. It reports false where there is
// neither. Damaged ones alone, and one that is too new, are an error.
func (f *File) Published(read func(*os.File) error) (found bool, damage, err error) {
	for _, name := range names(f.name)[:2] {
		err := readFile(name, read)
		switch {
		case err == nil:
			f.damaged = damage != nil
			return true, damage, nil
		case errors.Is(err, fs.ErrNotExist):
		case errors.Is(err, wire.ErrVersion):
			return false, nil, fmt.Errorf("%s: %w", name, err)
		default:
			damage = errors.Join(damage, fmt.Errorf("%s: %w", name, err))
		}
	}
	return false, nil, damage
}

func readFile(name string, read func(*os.File) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close() // only read
	return read(file)
}

// Release ends the lock and removes its file, and leaves the states.
func (f *File) Release() error {
	return errors.Join(f.disk.Remove(f.name+".lock"), f.lock.Close())
}

// Close ends the lock and leaves the states.
func (f *File) Close() error { return f.lock.Close() }

// Remove removes all files of the checkpoint and ends the lock. The lock is the last file
// to go, and the last state goes after the one before it.
func (f *File) Remove() error {
	var errs []error
	files := names(f.name)
	for _, name := range []string{files[1], files[2], files[0], files[3]} {
		if err := f.disk.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, f.lock.Close())...)
}
