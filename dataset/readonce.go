package dataset

import (
	"fmt"
	"slices"
)

// A OnceError reports that a second pass over rows was requested, although the rows can be read only once. The rows
// of a [Pipe] are an example. A OnceError matches [ErrInput].
type OnceError struct {
	What string // the operation that needs another pass
	Err  error  // why the rows could not be stored, or nil
}

func (e *OnceError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("dataset: %s: the rows can be read only once, and could not be stored: %v", e.What, e.Err)
	}
	return fmt.Sprintf("dataset: %s: the rows can be read only once; store them for further passes (Cached)", e.What)
}

// Is reports whether target is [ErrInput].
func (e *OnceError) Is(target error) bool { return target == ErrInput }

func (e *OnceError) Unwrap() error { return e.Err }

// Once reports whether the rows of src can be read only once, so that a second pass ends with a *[OnceError]. If
// src has a method Once() bool, Once returns its result, otherwise false.
func Once(src Source) bool {
	s, ok := src.(interface{ Once() bool })
	return ok && s.Once()
}

// Once reports whether the rows can be read only once.
func (s *Stream) Once() bool { return s.Single }

// Sources made from another source.

func (r *rows) Once() bool   { return Once(r.src) }
func (s *subset) Once() bool { return Once(s.src) }
func (z *zip) Once() bool {
	return Once(z.x) || Once(z.y)
}
func (s *lastTarget) Once() bool  { return Once(s.src) }
func (s *transformed) Once() bool { return Once(s.src) }
func (s untargeted) Once() bool   { return Once(s.src) }
func (c concat) Once() bool       { return slices.ContainsFunc(c, Once) }
