package ridge

import "fmt"

// Merge adds the rows of o to s, and leaves o unchanged. The error is [ErrShape] if o is nil or s itself. It is
// also [ErrShape] if o and s differ in dimensions, sketch size or intercept setting. The error is *[fd.RangeError]
// if the sum of squares is out of range. After an error, s is unchanged.
func (s *Summary) Merge(o *Summary) error {
	if !o.isValid() || !s.isValid() {
		return fmt.Errorf("%w: merging a summary that is nil or a zero Summary", errShape)
	}
	a, b := s.cfg, o.cfg
	if s == o ||
		a.Dim != b.Dim ||
		a.Targets != b.Targets ||
		a.Size != b.Size ||
		a.Intercept != b.Intercept {
		return fmt.Errorf(
			"%w: merging summaries of %d×%d and %d×%d, size %d and %d, intercept %v and %v, which must differ in "+
				"nothing but their rows",
			errShape,
			a.Dim,
			a.Targets,
			b.Dim,
			b.Targets,
			a.Size,
			b.Size,
			a.Intercept,
			b.Intercept,
		)
	}
	if s.penalty != nil || o.penalty != nil {
		return errView
	}
	other, err := o.all()
	if err != nil {
		return err
	}
	err = s.sum.Merge(other)
	s.invalidate()
	return err
}

// Join merges the parallel sketches of s ([SummaryConfig.Lanes]) into one, which frees memory. Results do not
// depend on Join, because every method that reads s merges the sketches first.
func (s *Summary) Join() error {
	if !s.isValid() {
		return errZeroValue
	}
	if err := s.sum.Join(); err != nil {
		return err
	}
	s.cfg = SummaryConfig(s.sum.Config())
	s.joined = nil
	return nil
}
