package ridge

import "fmt"

// Merge adds the rows that o has seen. Summaries of different dimensions, size
// or intercept, s itself and nil are refused with [ErrShape]; a sum of squares
// beyond range with *[fd.RangeError]; s is then unchanged. o is never changed.
func (s *Summary) Merge(o *Summary) error {
	if !o.made() || !s.made() {
		return fmt.Errorf("%w: merging a summary that is nil or was never made", errShape)
	}
	a, b := s.cfg, o.cfg
	if s == o || a.Dim != b.Dim || a.Targets != b.Targets || a.Size != b.Size || a.Intercept != b.Intercept {
		return fmt.Errorf("%w: merging summaries of %d×%d and %d×%d, size %d and %d, intercept %v and %v, which must differ in nothing but their rows",
			errShape, a.Dim, a.Targets, b.Dim, b.Targets, a.Size, b.Size, a.Intercept, b.Intercept)
	}
	if s.penalty != nil || o.penalty != nil {
		return errView
	}
	other, err := o.all()
	if err != nil {
		return err
	}
	err = s.sum.Merge(other)
	s.changed()
	return err
}

// Join merges the lanes for good, which frees their memory: later reads find what they would
// have found without it, but rows that are appended later go to lanes that begin anew. Where the
// other lanes have not begun, see LanesAfter, there is one from then on.
func (s *Summary) Join() error {
	if !s.made() {
		return errUnmade
	}
	if err := s.sum.Join(); err != nil {
		return err
	}
	s.cfg, s.joined = SummaryConfig(s.sum.Config()), nil
	return nil
}
