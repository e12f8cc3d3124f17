package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/internal/badinput"
)

// A Run keeps a live sketch. Sketch, File and Every are required.
type Run struct {
	Sketch *Sketch
	File   *File
	Every  time.Duration // how often the file is written; what that takes is left ten times in between
	// Gamma is the regularisation of the fit that is told of at the end of each interval, and that predicts the
	// rows of the next; 0: it is chosen each time, of the sketch, by GCV. Of rows that fade none can be
	// chosen, for GCV counts them.
	Gamma float64
	// Skip is how many rows of the source are passed over at first: as many as the sketch has, where the
	// source begins anew with these; 0 where it goes on.
	Skip int64
	// Tell, if not nil, is told of each interval, after the file is written.
	Tell func(Interval) error
	// Clock, if not nil, tells the time in place of the machine's.
	Clock func() time.Time
}

// running is a Run at work.
type running struct {
	Run
	skipped int64
	view    engine.CSR
	judge   judge

	written int64     // rows of the file
	told    int64     // rows when the interval began
	begun   time.Time // when it did
}

// Do appends the rows of a source until there are no more or ctx is done; then it writes the file, and an
// error is that of the source. So it does where the source or a row is bad: what came before is kept. Rows
// are appended in blocks as the source has them; one of which a row is refused is left out whole.
//
// That ctx is done is no error where all rows that were appended are in the file; where there is neither
// row nor file it is ctx's.
func (r Run) Do(ctx context.Context, src dataset.Source) error {
	ctx = background.IfNil(ctx)
	if r.Gamma == 0 && r.Sketch.Fades() {
		return errUnchosen
	}
	if !(r.Every > 0) {
		return badinput.Errorf("live: Every is %v, must be positive", r.Every)
	}
	if r.Clock == nil {
		r.Clock = time.Now
	}
	s := &running{Run: r, written: r.Sketch.Rows(), told: r.Sketch.Rows(), begun: r.Clock()}
	fit, _, _, err := fitOf(r.Sketch, r.Gamma)
	if err == nil {
		s.judge.refit(fit)
	} // else what is told of the first interval says why
	return s.follow(ctx, src)
}

// errUnchosen refuses to choose γ of rows that fade.
var errUnchosen = badinput.Errorf("live: of rows that fade no gamma can be chosen: GCV counts rows, whatever they weigh; say one")

// now is the time that it is, which never goes back.
func (s *running) now() time.Time {
	now := s.Clock()
	if last := s.Sketch.Now(); now.Before(last) {
		return last
	}
	return now
}

// A handed block, or the error in its place, was read on another goroutine.
type handed struct {
	b   dataset.Block
	err error
}

// follow appends rows as they come and writes at each interval.
func (s *running) follow(ctx context.Context, src dataset.Source) (err error) {
	reading, stop := context.WithCancel(ctx)
	blocks, next := make(chan handed), make(chan struct{})
	go func() {
		defer close(blocks)
		for b, err := range src.Blocks(reading) {
			select {
			case blocks <- handed{b, err}:
			case <-reading.Done():
				return
			}
			select {
			case <-next: // the block is no longer in use
			case <-reading.Done():
				return
			}
		}
	}()
	defer func() {
		stop()
		for range blocks { // until the goroutine has ended
		}
	}()
	timer := time.NewTimer(s.Every)
	defer timer.Stop()
	for {
		select {
		case h, more := <-blocks:
			switch {
			case ctx.Err() != nil:
				return s.end(ctx, Stopped, nil)
			case !more && s.skipped < s.Skip:
				err := badinput.Errorf("live: there are %d rows, and the sketch has %d of them: these are other rows, or they do not begin anew", s.skipped, s.Skip)
				return s.end(ctx, Failed, err)
			case !more:
				return s.end(ctx, EndOfRows, nil)
			case h.err != nil:
				return s.end(ctx, Failed, h.err)
			}
			if err := s.take(h.b); err != nil {
				return s.end(ctx, Failed, err)
			}
			next <- struct{}{}
		case <-timer.C:
			begun := time.Now()
			if err := s.interval(""); err != nil {
				return err
			}
			timer.Reset(max(s.Every, 10*time.Since(begun)))
		case <-ctx.Done():
			return s.end(ctx, Stopped, nil)
		}
	}
}

// take appends the rows of a block that are not skipped.
func (s *running) take(b dataset.Block) error {
	if left := s.Skip - s.skipped; left > 0 {
		n := int(min(left, int64(b.N)))
		s.skipped += int64(n)
		c := s.Sketch.Config().Summary
		b = b.Cut(n, b.N, c.Dim, c.Targets, &s.view)
	}
	if b.N == 0 {
		return nil
	}
	first := s.Sketch.Rows() + 1
	if err := s.Sketch.Append(s.now(), b); err != nil {
		return fmt.Errorf("rows %d to %d, which came together: %w", first, first+int64(b.N)-1, err)
	}
	return s.judge.add(b)
}

// interval writes the file, where it is another than before, and tells of the interval.
func (s *running) interval(end string) error {
	now := s.now()
	if err := s.Sketch.Advance(now); err != nil {
		return err
	}
	rows := s.Sketch.Rows()
	i := Interval{Time: now.UTC().Truncate(time.Millisecond), Rows: rows, NewRows: rows - s.told, Seconds: now.Sub(s.begun).Seconds(), Next: s.judge.verdict(), End: end}
	if i.Seconds > 0 {
		i.Rate = float64(i.NewRows) / i.Seconds
	}
	if rows > s.written || rows > 0 && (s.Sketch.timed() || s.File.damaged) {
		var err error
		if i.Written, err = s.File.Write(s.Sketch); err != nil {
			return err
		}
		s.written = rows
	}
	fit, known, span, err := fitOf(s.Sketch, s.Gamma)
	i.Fit, i.Covered = known, span.Rows
	if err != nil {
		i.Unfitted = err.Error()
	}
	s.judge.refit(fit)
	s.told, s.begun = rows, now
	if s.Tell == nil {
		return nil
	}
	return s.Tell(i)
}

// end writes the file for the last time. err is why the run ended, nil where that is no error.
func (s *running) end(ctx context.Context, why string, err error) error {
	if s.Sketch.Rows() == 0 {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = badinput.Errorf("live: no rows came")
		}
		return err
	}
	return errors.Join(err, s.interval(why))
}
