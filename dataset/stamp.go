package dataset

import (
	"fmt"
	"io/fs"
	"time"
)

// A Stamp is the size and the modification time of a file. If a program writes to the file, they change. There is
// one exception, because the clock of a file system is coarse: a second write within a few milliseconds that does
// not change the size is not noticed. The zero value stands for no file.
type Stamp struct {
	Size    int64
	ModTime time.Time
}

// StampOf returns the stamp of the file that info describes.
func StampOf(info fs.FileInfo) Stamp {
	return Stamp{info.Size(), info.ModTime()}
}

// None reports whether s is the zero value.
func (s Stamp) None() bool {
	return s.Size == 0 && s.ModTime.IsZero()
}

// Same reports whether two stamps of a file are equal.
func (s Stamp) Same(now Stamp) bool {
	return s.Size == now.Size &&
		s.ModTime.Equal(now.ModTime)
}

func (s Stamp) String() string {
	return fmt.Sprintf("%d bytes of %s", s.Size, s.ModTime.UTC().Format(time.RFC3339Nano))
}

// A ChangedError reports that a file has changed since it was first opened.
type ChangedError struct {
	File    string
	Was, Is Stamp
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf(
		"%s: changed while it was in use: it is %v, was %v; the result would mix both versions, run again",
		e.File,
		e.Is,
		e.Was,
	)
}

// Unwrap returns [ErrInput].
func (e *ChangedError) Unwrap() error { return ErrInput }

// Check compares s with the argument now, the current stamp of the named file. If they differ, it returns a
// *[ChangedError]. If they are equal, or s is the zero value, it returns nil.
func (s Stamp) Check(name string, now Stamp) error {
	if s.None() || s.Same(now) {
		return nil
	}
	return &ChangedError{File: name, Was: s, Is: now}
}

// A Witness is a [Reader] that can detect changes of its file. A [Stream] calls Unchanged after each Read, before it
// yields the rows.
type Witness interface {
	Reader
	// Unchanged returns a *[ChangedError] if the file has changed since the Stream was made.
	Unchanged() error
}

// checkUnchanged returns a *[ChangedError] if the file of r has changed, otherwise err. The change may have caused
// err.
func checkUnchanged(r Reader, err error) error {
	if w, ok := r.(Witness); ok {
		if changed := w.Unchanged(); changed != nil {
			return changed
		}
	}
	return err
}
