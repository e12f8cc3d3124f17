package safefile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/fdridge/fdridge/internal/wire"
)

// A Checkpoint stores the state of a long computation in a file. If this process is killed, another process can then
// continue the computation. This process has locked the checkpoint. A checkpoint with the name F consists of these
// files:
//
//	F           the last saved state
//	F.previous  the state saved before F
//	F.new       the next state, while it is being written
//	F.lock      a lock, which contains the name of the process that uses the checkpoint
//
// A new state is written to F.new and synced. Then F is renamed to F.previous, F.new is renamed to F, and the folder
// is synced. After a kill or with a full disk, the last complete state still exists: in F or, between the two
// renames, in F.previous. Each state has the header and checksum of package wire.
type Checkpoint struct {
	name string
	disk Operations
	lock *os.File
	// damaged is true if the newest state is damaged. The file with .previous then holds the last intact state. So
	// Save must not rename the damaged state to the name with .previous.
	damaged bool
}

// CheckpointNames returns the names of all files of a checkpoint. If name is a symbolic link, the files are in the
// folder of the file to which the link leads.
func CheckpointNames(name string) []string {
	to, err := Destination(name)
	if err != nil {
		to = name // OpenCheckpoint returns the error
	}
	return names(to)
}

func names(name string) []string {
	return []string{name, name + ".previous", name + ".new", name + ".lock"}
}

// KeptNames returns the names of the files of a checkpoint that contain a saved state, if they exist. If these
// files are removed, no state is left.
func KeptNames(name string) []string {
	var there []string
	for _, name := range CheckpointNames(name)[:2] {
		if _, err := os.Lstat(name); err == nil {
			there = append(there, name)
		}
	}
	return there
}

// OpenCheckpoint locks the checkpoint with this name, which need not exist. If name is a symbolic link,
// OpenCheckpoint follows it. If another process has locked the checkpoint, the error is a *[LockedError]. The
// checkpoint stays locked until it is closed or this process ends.
func OpenCheckpoint(name string) (*Checkpoint, error) { return open(name, Disk) }

func open(name string, d Operations) (*Checkpoint, error) {
	name, err := Destination(name)
	if err != nil {
		return nil, err
	}
	lock, err := acquire(name + ".lock")
	if err != nil {
		return nil, err
	}
	return &Checkpoint{name: name, disk: d, lock: lock}, nil
}

// A LockedError reports that another process uses the checkpoint.
type LockedError struct {
	Lock   string // the lock file
	Holder string // description of the other process; "" if not written yet
}

func (e *LockedError) Error() string {
	if e.Holder == "" {
		return e.Lock + " is locked by another process"
	}
	return fmt.Sprintf("%s is locked by %s", e.Lock, e.Holder)
}

// Save writes a new state of size bytes and returns it. If Save returns an error, [Checkpoint.Load] still returns
// the state that was saved before. There is one exception: if only the sync of the folder failed, Load returns the
// new state.
func (f *Checkpoint) Save(size int64, write func(w io.Writer) error) (*State, error) {
	previous := f.name + ".previous"
	if f.damaged {
		previous = ""
	}
	err := Replace(f.disk, f.name+".new", f.name, previous, func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<20)
		m := wire.NewWriter(b, wire.Checkpoint, size)
		m.Fail(write(m))
		n, err := m.Close()
		switch {
		case err != nil:
			return err
		case n != size+wire.Frame:
			return fmt.Errorf("checkpoint: a state has %d bytes instead of %d", n-wire.Frame, size)
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

// A State is a saved state of a computation. If [Checkpoint.Load] returned it, its checksum was verified.
type State struct {
	*io.SectionReader
	Damage error // the error of the state that was saved after this state, if that later state is damaged; otherwise nil
	file   *os.File
}

// Name returns the name of the file that contains the state.
func (s *State) Name() string { return s.file.Name() }

// Close closes the file of the state.
func (s *State) Close() error { return s.file.Close() }

// Load returns the newest state that is not damaged, or nil if no state was saved. If all saved states are damaged,
// it returns an error.
func (f *Checkpoint) Load() (*State, error) {
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

// verify reads the state in a file completely, checks it, and returns its size in bytes.
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
		return 0, errors.Join(err, errors.New("data follow the state"))
	}
	return size, nil
}

// Publish saves a file that other processes read directly. Unlike Save, it writes no header and no checksum. Once
// the file exists, it is complete at all times. Publish keeps the old file under its name with .previous appended.
func (f *Checkpoint) Publish(write func(w io.Writer) error) error {
	previous := f.name + ".previous"
	if f.damaged {
		previous = ""
	}
	err := Publish(f.disk, f.name+".new", f.name, previous, func(w io.Writer) error {
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

// Published calls the function read with the last file that Publish wrote. If read returns an error, this file
// counts as damaged. Published then calls read with the file that Publish wrote before the last one. The result
// damage is the error of read for the damaged file.
//
// The result found is false if no file exists. Published returns an error if all files are damaged, or if a file
// was written by a newer version of the program.
func (f *Checkpoint) Published(read func(*os.File) error) (found bool, damage, err error) {
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
	defer file.Close() // it was opened for reading, so an error of Close is harmless
	return read(file)
}

// Release unlocks the checkpoint and removes the lock file. The saved states remain.
func (f *Checkpoint) Release() error {
	return errors.Join(f.disk.Remove(f.name+".lock"), f.lock.Close())
}

// Close unlocks the checkpoint. The saved states remain.
func (f *Checkpoint) Close() error { return f.lock.Close() }

// Remove removes all files of the checkpoint and unlocks it. It removes the older state before the newer state, and
// the lock file last.
func (f *Checkpoint) Remove() error {
	var errs []error
	files := names(f.name)
	for _, name := range []string{files[1], files[2], files[0], files[3]} {
		if err := f.disk.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, f.lock.Close())...)
}
