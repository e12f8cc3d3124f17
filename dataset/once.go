package dataset

import "fmt"

// An OnceError reports that rows which can be read once, as those of a [Pipe], are needed again.
// It is [ErrInput].
type OnceError struct {
	What string // what needs them again
	Err  error  // why they were not kept, where they were to be; nil for no other reason
}

func (e *OnceError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("dataset: %s: the rows can be read once, and were not kept: %v", e.What, e.Err)
	}
	return fmt.Sprintf("dataset: %s: the rows can be read once; keep them for further passes (Cached), or do with one", e.What)
}

// Is tells that it is [ErrInput].
func (e *OnceError) Is(target error) bool { return target == ErrInput }

func (e *OnceError) Unwrap() error { return e.Err }

// Once reports whether the rows of a source can be read once only, and so whether it is no whole
// [Source]: a second pass ends in an *[OnceError]. It asks a method Once of the source, which
// sources that are made of others pass on; one without it can be read again. A [Cache] of a source
// that can be read once can be read again.
func Once(src Source) bool {
	s, ok := src.(interface{ Once() bool })
	return ok && s.Once()
}

// Once reports whether the rows come from a [Pipe], see the function of that name.
func (s *Stream) Once() bool { return s.Single }

// Once, of sources that are made of others, is whether one of these can be read once only.

func (r *rows) Once() bool        { return Once(r.src) }
func (s *chosen) Once() bool      { return Once(s.src) }
func (z *zip) Once() bool         { return Once(z.x) || Once(z.y) }
func (s *lastTarget) Once() bool  { return Once(s.src) }
func (s *transformed) Once() bool { return Once(s.src) }
func (s untargeted) Once() bool   { return Once(s.src) }

func (c concat) Once() bool {
	for _, s := range c {
		if Once(s) {
			return true
		}
	}
	return false
}
