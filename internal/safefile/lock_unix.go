//go:build unix && !solaris && !aix

package safefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

// patience is the longest time that acquire waits for a lock of another process. If this process was killed, its
// lock lasts until the system has removed the process. Tests use a shorter time.
var patience = 3 * time.Second

// owner is the first word in a lock file.
const owner = "process "

// acquire creates a lock file and locks it by the system call flock. The system releases the lock when the process
// ends.
func acquire(name string) (*os.File, error) {
	for start := time.Now(); ; {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o644)
		if err != nil {
			return nil, err
		}
		same, err := take(f, name)
		if err == nil && same {
			return f, nil
		}
		closed := f.Close()
		// If this process itself has the lock, acquire does not wait, because the lock would not be released.
		locked, ok := errors.AsType[*LockedError](err)
		if ok && locked.Holder != holder() && time.Since(start) < patience {
			time.Sleep(patience / 30)
			err = nil
		}
		err = errors.Join(err, closed)
		if err != nil {
			return nil, err
		}
	}
}

// Locked returns a *[LockedError] if a process that uses the checkpoint with this name has locked it. Otherwise it
// returns nil, also if another program has locked the lock file.
func Locked(name string) error {
	name = CheckpointNames(name)[3]
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() // also releases the lock
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); {
		case errors.Is(err, syscall.EINTR):
			continue
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return nil // it is not locked, or locking is not supported
		}
		break
	}
	text := make([]byte, 512)
	n, err := f.Read(text)
	if err != nil && err != io.EOF {
		return err
	}
	if holder := string(text[:n]); strings.HasPrefix(holder, owner) {
		return &LockedError{name, strings.TrimSpace(holder)}
	}
	return nil
}

// take locks the lock file f, which has the given name, and writes the identity of this process to it. It returns
// false if f was removed before it was locked. The lock is then worthless, because another process could lock a new
// file with this name.
func take(f *os.File, name string) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EINTR):
		return false, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		text, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return false, err
		}
		return false, &LockedError{name, strings.TrimSpace(string(text))}
	case err != nil:
		return false, fmt.Errorf("%s cannot be locked: %w", name, err)
	}
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	if there, err := os.Stat(name); err != nil || !os.SameFile(mine, there) {
		return false, nil
	}
	if text, err := os.ReadFile(name); err != nil {
		return false, err
	} else if len(text) > 0 && !strings.HasPrefix(string(text), owner) {
		return false, fmt.Errorf("%s is not the lock of a checkpoint and is left unchanged", name)
	}
	if err := f.Truncate(0); err != nil {
		return false, err
	}
	_, err = f.WriteAt([]byte(holder()+"\n"), 0)
	return true, err
}

// holder returns the text that identifies this process in a lock file: its number and the name of the machine.
func holder() string {
	text := fmt.Sprintf("%s%d", owner, os.Getpid())
	if host, err := os.Hostname(); err == nil {
		text += " on " + host
	}
	return text
}
