//go:build unix && !solaris && !aix

package checkpoint

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

// A process that was killed holds its lock until the system has torn it down: patience
// is how long that is waited for. Tests, in which nobody is killed, wait less.
var patience = 3 * time.Second

// owner is how the text of a lock begins.
const owner = "process "

// acquire locks a file, which it makes, by flock: the lock ends with the process,
// however it ends.
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
		// Who asks is not being torn down.
		if locked, ok := errors.AsType[*LockedError](err); ok && locked.Holder != holder() && time.Since(start) < patience {
			time.Sleep(patience / 30)
			err = nil
		}
		if err = errors.Join(err, closed); err != nil {
			return nil, err
		}
	}
}

// Locked returns a *[LockedError] if a process works with the checkpoint of that name. A file that other programs have
// locked, under the name of our lock, is none.
func Locked(name string) error {
	name = Names(name)[3]
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() // which ends the lock
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); {
		case errors.Is(err, syscall.EINTR):
			continue
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return nil // it can be locked, or it cannot be locked by anybody
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

// take locks f and writes who has it. It reports false where whoever had the lock
// has removed the file meanwhile: another process may lock the next by its name.
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
		return false, fmt.Errorf("%s is not the lock of a checkpoint, and is left as it is", name)
	}
	if err := f.Truncate(0); err != nil {
		return false, err
	}
	_, err = f.WriteAt([]byte(holder()+"\n"), 0)
	return true, err
}

// holder is what this process writes into a lock that it takes.
func holder() string {
	text := fmt.Sprintf("%s%d", owner, os.Getpid())
	if host, err := os.Hostname(); err == nil {
		text += " on " + host
	}
	return text
}
