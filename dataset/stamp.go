package dataset

import (
	"fmt"
	"io/fs"
	"time"
)

// A Stamp is the size of a file and when it was modified last. It changes when the file is
// written to, with one exception: the clock of a file system ticks every few milliseconds,
// and a second change in the same tick that leaves the size as it is leaves the stamp, too.
// The zero value is the stamp of no file.
type Stamp struct {
	Size    int64
	ModTime time.Time
}

// StampOf returns the stamp of the file that info describes.
func StampOf(info fs.FileInfo) Stamp { return Stamp{info.Size(), info.ModTime()} }

// None reports whether s is the zero value.
func (s Stamp) None() bool { return s.Size == 0 && s.ModTime.IsZero() }

// Same reports whether two stamps of a file are the same: it was not written to between
// them.
func (s Stamp) Same(now Stamp) bool { return s.Size == now.Size && s.ModTime.Equal(now.ModTime) }

func (s Stamp) String() string {
	return fmt.Sprintf("%d bytes of %s", s.Size, s.ModTime.UTC().Format(time.RFC3339Nano))
}

// A ChangedError reports a file that was written to since it was first opened. Every pass
// must read the same rows; what was computed from two versions of them is of no use.
type ChangedError struct {
	File    string
	Was, Is Stamp
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s: changed while it was in use: it is %v, was %v; what was computed is of neither, run again", e.File, e.Is, e.Was)
}

// Unwrap tells that it is [ErrInput].
func (e *ChangedError) Unwrap() error { return ErrInput }

// Check returns a *[ChangedError] where now, the stamp of a file, is not s. Where s is the
// stamp of no file, any will do.
func (s Stamp) Check(name string, now Stamp) error {
	if s.None() || s.Same(now) {
		return nil
	}
	return &ChangedError{File: name, Was: s, Is: now}
}

// A Witness is a [Reader] that can tell whether its file was changed. A [Stream] asks it
// after each Read, before it hands on the rows.
type Witness interface {
	Reader
	// Unchanged returns a *[ChangedError] where the file is not what it was when the
	// Stream was made.
	Unchanged() error
}

// unchanged returns err, the error of reading from r, or instead of it a *[ChangedError]
// where r can tell that its file was changed: that may be why the reading failed.
func unchanged(r Reader, err error) error {
	if w, ok := r.(Witness); ok {
		if changed := w.Unchanged(); changed != nil {
			return changed
		}
	}
	return err
}
