package dataset

import (
	"fmt"
	"io/fs"
	"time"
)

// A Stamp tells whether a file was written to: its size, and when it was modified last.
// Clocks of file systems tick, every few milliseconds as a rule: of two changes in one
// tick that leave the size the second is not told by it. The zero value is that of no
// file.
type Stamp struct {
	Size    int64
	ModTime time.Time
}

// StampOf is that of a file as info describes it.
func StampOf(info fs.FileInfo) Stamp { return Stamp{info.Size(), info.ModTime()} }

// None tells that s is the zero value.
func (s Stamp) None() bool { return s.Size == 0 && s.ModTime.IsZero() }

// Same tells that a file that was s, and is now, was not written to in between.
func (s Stamp) Same(now Stamp) bool { return s.Size == now.Size && s.ModTime.Equal(now.ModTime) }

func (s Stamp) String() string {
	return fmt.Sprintf("%d bytes of %s", s.Size, s.ModTime.UTC().Format(time.RFC3339Nano))
}

// A ChangedError reports a file that is not what it was when it was opened first. Every
// pass must read the same rows: what was computed of some of them is of no use.
type ChangedError struct {
	File    string
	Was, Is Stamp
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s: changed while it was in use: it is %v, was %v; what was computed is of neither, run again", e.File, e.Is, e.Was)
}

// Unwrap tells that it is [ErrInput].
func (e *ChangedError) Unwrap() error { return ErrInput }

// Check returns a *[ChangedError] where a file is not what it was. The stamp of no file
// asks for nothing.
func (s Stamp) Check(name string, now Stamp) error {
	if s.None() || s.Same(now) {
		return nil
	}
	return &ChangedError{File: name, Was: s, Is: now}
}

// A Witness is a [Reader] that can tell whether its file is being changed. A [Stream]
// asks after each Read, before it hands on the rows.
type Witness interface {
	Reader
	// Unchanged returns a *[ChangedError] where the file is not what it was when the
	// Stream was made.
	Unchanged() error
}

// unchanged asks r, if it can tell. What it says goes before err, which may come of it:
// half of a line that is just being written, say.
func unchanged(r Reader, err error) error {
	if w, ok := r.(Witness); ok {
		if changed := w.Unchanged(); changed != nil {
			return changed
		}
	}
	return err
}
