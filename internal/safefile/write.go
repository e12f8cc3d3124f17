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

// Write writes a file atomically. It writes a temporary file in the same folder, syncs it, renames it to name and
// syncs the folder. If there is an error, the old file is unchanged. If name is a symbolic link, Write replaces the
// file to which the link leads. A replaced file keeps its permissions; a new file gets its permissions from the
// umask.
//
// A name /dev/fd/N stands for a file that the parent process has opened, possibly without a name. Write overwrites
// this file in place.
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

// Destination follows the symbolic link name, and all further links, to the final path. No file need exist there. A
// cycle of links is an error.
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

// create creates a new file with the permissions of the first file in others that exists. If none exists, the umask
// determines the permissions.
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

// Replace writes a file atomically, like Write, but the caller names all files, which must be in one folder. Replace
// writes the new data to the file named temporary. Unless previous is "", it then renames the old file from name to
// previous. Finally it renames temporary to name.
//
// The new file has the permissions of the old file or, if there is none, of previous. If a rename fails, the file
// called name is complete or, if it does not exist, the file called previous is complete.
func Replace(d Operations, temporary, name, previous string, write func(w io.Writer) error) error {
	return replaceKeeping(d, temporary, name, previous, func() error {
		return unless(fs.ErrNotExist, d.Rename(name, previous))
	}, write)
}

// Publish writes the file temporary and renames it to name, like Replace, for a file that other processes read
// directly. Once name exists, it is a complete file at all times. The old file is kept under the name previous,
// unless previous is "".
func Publish(d Operations, temporary, name, previous string, write func(w io.Writer) error) error {
	return replaceKeeping(d, temporary, name, previous, func() error {
		if err := unless(fs.ErrNotExist, d.Remove(previous)); err != nil {
			return err
		}
		return unless(fs.ErrNotExist, d.Link(name, previous))
	}, write)
}

// replaceKeeping creates the file temporary and calls [replace] to fill and rename this file. If previous is "", the
// old file is not kept.
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

// replace writes the new file f and renames it to name. Before the rename, it calls keep, unless keep is nil, to keep
// the old file under another name.
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

// Operations are the file operations of Replace and Publish. Tests replace them by operations that fail.
type Operations interface {
	// Create creates a new file with the permissions of the first existing file in others. Empty names in others are
	// ignored.
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

// Create removes an existing file or link first. So the new data are never written to the target of a link.
func (disk) Create(name string, others ...string) (File, error) {
	if info, err := os.Lstat(name); err == nil && !info.IsDir() {
		if err := os.Remove(name); err != nil {
			return nil, err
		}
	}
	return create(name, others...)
}

func (disk) Rename(from, to string) error { return os.Rename(from, to) }

// Link copies the file if the file system does not support hard links.
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

// SyncDir makes a rename durable. It ignores EINVAL, because some file systems cannot sync folders.
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
