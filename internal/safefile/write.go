// Package safefile writes files that a crash does not damage. [Write] writes a file atomically: after a crash, it is
// either complete or missing. A [Checkpoint] stores the state of a long computation.
package safefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Write writes a file atomically. It writes the data to a temporary file in the same folder, and syncs this file.
// It then renames it to name and syncs the folder. If there is an error before the rename, an old file called name
// is unchanged. If name is a symbolic link, Write replaces the file to which the link leads. The new file has the
// permissions of the file that it replaces. If there is none, the permissions follow from the umask.
//
// A name of the form /dev/fd/N means the open file with the descriptor N, which may have no name in any folder.
// Write overwrites this file directly, which is not atomic.
func Write(name string, write func(w io.Writer) error) error {
	if strings.HasPrefix(name, "/dev/fd/") {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	name, err := Destination(name)
	if err != nil {
		return err
	}
	for {
		other := filepath.Join(filepath.Dir(name), fmt.Sprintf(".%s.%08x", filepath.Base(name), rand.Uint32()))
		f, err := create(other, name)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		return replace(Disk, f, other, name, nil, write)
	}
}

// Destination returns the path to which name leads if name is a symbolic link, and otherwise name. It follows links
// to links. The path need not exist. A cycle of links is an error.
func Destination(name string) (string, error) {
	const most = 40 // the limit on most systems
	to := name
	for range most {
		link, err := os.Readlink(to)
		if err != nil { // not a link
			return to, nil
		}
		folder := ""
		if !filepath.IsAbs(link) { // relative to the folder of the link, which may be a link itself
			folder, err = filepath.EvalSymlinks(filepath.Dir(to))
			if err != nil {
				return "", err
			}
		}
		to = filepath.Join(folder, link)
	}
	return "", &fs.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
}

// create creates a new file with this name. It has the permissions of the first file in others that exists. If none
// of them exists, the umask determines the permissions.
func create(name string, others ...string) (*os.File, error) {
	for _, other := range others {
		info, err := os.Stat(other)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()&0o600)
		if err != nil {
			return nil, err
		}
		if err := f.Chmod(info.Mode().Perm()); err != nil {
			return nil, errors.Join(err, f.Close(), os.Remove(name))
		}
		return f, nil
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// Replace writes a file atomically, to the name name. Unlike Write, it does not choose the names of its other
// files: temporary and previous. All files must be in one folder. Replace writes the new data to the file
// temporary. Unless previous is "", it then renames the old file from name to previous. Finally it renames
// temporary to name.
//
// The new file has the permissions of the old file. If there is no old file, it has the permissions of the file
// previous. If a rename fails, the old data are complete: in the file called name, or, if this file does not exist,
// in the file called previous.
func Replace(d Operations, temporary, name, previous string, write func(w io.Writer) error) error {
	return replaceKeeping(d, temporary, name, previous, func() error {
		return unless(fs.ErrNotExist, d.Rename(name, previous))
	}, write)
}

// Publish writes a file that other processes may read at any time. Like Replace, it writes the new data to the file
// temporary and renames this file to name. Once the file called name exists, it is complete at all times. Unless
// previous is "", the old data stay available in the file previous.
func Publish(d Operations, temporary, name, previous string, write func(w io.Writer) error) error {
	return replaceKeeping(d, temporary, name, previous, func() error {
		if err := unless(fs.ErrNotExist, d.Remove(previous)); err != nil {
			return err
		}
		return unless(fs.ErrNotExist, d.Link(name, previous))
	}, write)
}

// replaceKeeping creates the file temporary, fills it by write, and renames it to name. Unless previous is "", it
// calls keep before this rename. The function keep must preserve the old file under the name previous.
func replaceKeeping(
	d Operations,
	temporary, name, previous string,
	keep func() error,
	write func(w io.Writer) error,
) error {
	f, err := d.Create(temporary, name, previous)
	if err != nil {
		return err
	}
	if previous == "" {
		keep = nil
	}
	return replace(d, f, temporary, name, keep, write)
}

// unless returns err, or nil if errors.Is(err, expected).
func unless(expected, err error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// replace fills the new file f by write and renames it from temporary to name. Unless keep is nil, it calls keep
// before the rename, to preserve the old file under another name.
func replace(d Operations, f File, temporary, name string, keep func() error, write func(w io.Writer) error) error {
	err := write(f)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil && keep != nil {
		err = keep()
	}
	if err == nil {
		err = d.Rename(temporary, name)
	}
	if err != nil {
		return errors.Join(err, d.Remove(temporary))
	}
	return d.SyncDir(filepath.Dir(name))
}

// Operations are the file operations that Replace and Publish use. Tests pass operations that fail.
type Operations interface {
	// Create creates a new file with the permissions of the first existing file in others. It ignores empty names
	// in others.
	Create(name string, others ...string) (File, error)
	Rename(from, to string) error
	Link(file, name string) error // gives the file a second name
	Remove(name string) error
	SyncDir(name string) error
}

// A File is a file being written.
type File interface {
	io.Writer
	Sync() error
	Close() error
}

// Disk performs the operations in the file system.
var Disk Operations = disk{}

type disk struct{}

// Create creates a new file. If a file or a link with this name exists, Create first removes it. Otherwise the new
// data could be written to the target of a link.
func (disk) Create(name string, others ...string) (File, error) {
	if info, err := os.Lstat(name); err == nil && !info.IsDir() {
		if err := os.Remove(name); err != nil {
			return nil, err
		}
	}
	return create(name, others...)
}

func (disk) Rename(from, to string) error { return os.Rename(from, to) }

// Link gives the file from a second name. If the file system does not support this, Link copies the file.
func (d disk) Link(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		return err
	}
	old, err := os.Open(from)
	if err != nil {
		return err
	}
	defer old.Close() // opened for reading, so an error of Close does no harm
	f, err := d.Create(to, from)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, old)
	return errors.Join(err, f.Sync(), f.Close())
}

func (disk) Remove(name string) error { return os.Remove(name) }

// SyncDir syncs a folder, so that a rename in it survives a crash. It ignores the error EINVAL, because some file
// systems cannot sync folders.
func (disk) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
