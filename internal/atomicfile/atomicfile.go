// Package atomicfile writes files that are either whole or not there.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
)

// Write writes a file through a temporary one in the same folder, which is
// synced and renamed over it; then the folder is synced. On an error the file is
// what it was before. A link is followed, a file that is replaced keeps its
// permissions, and a new one has what the umask leaves.
func Write(name string, write func(w io.Writer) error) error {
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
		return replace(Disk, f, other, name, nothing, write)
	}
}

// Destination is where the links that begin at name lead, whether a file is there or not. Links that lead to
// each other in a circle are an error.
func Destination(name string) (string, error) {
	const most = 40 // as systems have it
	to := name
	for range most {
		link, err := os.Readlink(to)
		if err != nil { // it is no link
			return to, nil
		}
		folder := ""
		if !filepath.IsAbs(link) { // it begins in the folder that holds the link, which may be a link itself
			if folder, err = filepath.EvalSymlinks(filepath.Dir(to)); err != nil {
				return "", err
			}
		}
		to = filepath.Join(folder, link)
	}
	return "", &fs.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
}

// create makes a new file, with the permissions of the first of others that there is, or else what the umask leaves.
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

// Replace is Write with names of the caller's choice, all in one folder: it writes to the
// file temporary, in place of what is there, and keeps the file that it replaces as
// previous, where that is not "". The permissions are those of the file that it replaces, or
// else those of previous. Where a rename fails the last whole file is name or, if
// that is not there, previous.
func Replace(d Operations, temporary, name, previous string, write func(w io.Writer) error) error {
	f, err := d.Create(temporary, name, previous)
	if err != nil {
		return err
	}
	return replace(d, f, temporary, name, func() error {
		if previous == "" {
			return nil
		}
		return unless(fs.ErrNotExist, d.Rename(name, previous))
	}, write)
}

// Publish is Replace for a file that others read as it stands: there is a whole file called name at all
// times, once there was one. What is kept as previous, if not "", is another name of it until it is replaced.
func Publish(d Operations, temporary, name, previous string, write func(w io.Writer) error) error {
	f, err := d.Create(temporary, name, previous)
	if err != nil {
		return err
	}
	return replace(d, f, temporary, name, func() error {
		if previous == "" {
			return nil
		}
		if err := unless(fs.ErrNotExist, d.Remove(previous)); err != nil {
			return err
		}
		return unless(fs.ErrNotExist, d.Link(name, previous))
	}, write)
}

// nothing keeps nothing of the file that is replaced.
func nothing() error { return nil }

// unless is err, nil where it is what is expected.
func unless(expected, err error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// replace writes a new file and, once keep has kept what is to be kept of the old one, renames it.
func replace(d Operations, f File, temporary, name string, keep func() error, write func(w io.Writer) error) error {
	err := write(f)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
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

// Operations are what Replace and Publish do to files. Tests have others, which fail.
type Operations interface {
	// Create makes a file anew, with the permissions of the first of others that there is; "" is none.
	Create(name string, others ...string) (File, error)
	Rename(from, to string) error
	Link(from, to string) error // the file from is to, too
	Remove(name string) error
	SyncDir(name string) error
}

// A File is a file that is being written.
type File interface {
	io.Writer
	Sync() error
	Close() error
}

// Disk are the operations of this machine.
var Disk Operations = disk{}

type disk struct{}

// Create makes the file anew: what was there, or where a link led, is not written to.
func (disk) Create(name string, others ...string) (File, error) {
	if info, err := os.Lstat(name); err == nil && !info.IsDir() {
		if err := os.Remove(name); err != nil {
			return nil, err
		}
	}
	return create(name, others...)
}

func (disk) Rename(from, to string) error { return os.Rename(from, to) }

// Link copies the file where the file system gives none a second name.
func (d disk) Link(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		return err
	}
	old, err := os.Open(from)
	if err != nil {
		return err
	}
	defer old.Close() // only read
	f, err := d.Create(to, from)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, old)
	return errors.Join(err, f.Sync(), f.Close())
}

func (disk) Remove(name string) error { return os.Remove(name) }

// SyncDir makes the rename durable. File systems that sync no folders say
// EINVAL, which is not an error of ours.
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
