// Package live keeps the summary of a stream that does not end in a file, for others to read while it
// grows: of all rows, of those in a window, or of rows that fade. A [Run] appends rows as they come, writes
// the file again and again, and tells what it sees of the stream's law; a run that was killed goes on from
// the file.
package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/ridge/window"
)

// A Run keeps a live sketch. Sketch, File and Every are required.
type Run struct {
	Sketch window.Stream
	File   *File
	Every  time.Duration // how often the file is written; what that takes is left ten times in between
	// Gamma is the regularisation of the fit that is told of at the end of each interval, and that predicts the
	// rows of the next; 0: it is chosen each time, of the sketch, by GCV. Of rows that fade none can be
	// chosen, for GCV counts them.
	Gamma float64
	// Skip is how many rows of the source are passed over at first: as many as the sketch has, where the
	// source begins anew with these; 0 where it goes on.
	Skip int64
	// Blocks says in which blocks the rows are appended.
	Blocks Blocks
	// Tell, if not nil, is told of each interval, after the file is written. It is called by several
	// goroutines, one at a time.
	Tell func(Interval) error
	// Clock, if not nil, tells the time in place of the machine's. It is called as Tell is.
	Clock func() time.Time
}

// running is a Run at work. One goroutine reads rows and appends them, another writes the file at each interval.
type running struct {
	Run
	ctx  context.Context
	stop context.CancelFunc // ends the reading
	view engine.CSR

	mu       sync.Mutex // guards what follows, and the sketch
	skipped  int64
	judge    judge
	waiting  waiting
	written  int64     // rows of the file
	told     int64     // rows when the interval began
	begun    time.Time // when it did
	finished bool      // the file was written for the last time
	result   error     // of the run, once it is finished
}

// Do appends the rows of a source until there are no more or ctx is done; then it writes the file, and an
// error is that of the source. So it does where the source or a row is bad: what came before is kept. A block
// of which a row is refused is left out whole, but see [FixedPrompt].
//
// That ctx is done is no error where all rows that were appended are in the file; where there is neither
// row nor file it is ctx's.
func (r Run) Do(ctx context.Context, src dataset.Source) error {
	ctx = background.IfNil(ctx)
	if r.Gamma == 0 && r.Sketch.Settings().Fades() {
		return errUnchosen
	}
	if !(r.Every > 0) {
		return badinput.Errorf("live: Every is %v, must be positive", r.Every)
	}
	if r.Clock == nil {
		r.Clock = time.Now
	}
	s := &running{Run: r, ctx: ctx, written: r.Sketch.Rows(), told: r.Sketch.Rows(), begun: r.Clock()}
	if err := s.waiting.prepare(r); err != nil {
		return err
	}
	fit, _, _, err := fitOf(r.Sketch, r.Gamma)
	if err == nil {
		s.judge.refit(fit)
	} // else what is told of the first interval says why
	return s.follow(src)
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

// follow appends rows as they come, while another goroutine writes the file.
func (s *running) follow(src dataset.Source) error {
	reading, stop := context.WithCancel(s.ctx)
	s.stop = stop
	var writer sync.WaitGroup
	writer.Go(func() { s.write(reading) })
	defer writer.Wait()
	defer stop()
	for b, err := range src.Blocks(reading) {
		if !s.take(b, err) {
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ctx.Err() != nil:
		s.finish(Stopped, nil)
	case s.skipped < s.Skip:
		s.finish(Failed, badinput.Errorf("live: there are %d rows, and the sketch has %d of them: these are other rows, or they do not begin anew", s.skipped, s.Skip))
	default:
		s.finish(EndOfRows, nil)
	}
	return s.result
}

// write writes the file at each interval until the reading ends, and for the last time as soon as the run is stopped.
func (s *running) write(reading context.Context) {
	timer := time.NewTimer(s.Every)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			s.mu.Lock()
			begun := time.Now()
			if !s.finished {
				s.tick()
			}
			s.mu.Unlock()
			timer.Reset(max(s.Every, 10*time.Since(begun)))
		case <-reading.Done():
			if s.ctx.Err() != nil {
				s.mu.Lock()
				s.finish(Stopped, nil)
				s.mu.Unlock()
			}
			return
		}
	}
}

// take appends the rows of a block that are not skipped. It reports whether more are wanted.
func (s *running) take(b dataset.Block, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.finished || err != nil && s.ctx.Err() != nil {
		return false
	}
	if err == nil {
		if left := s.Skip - s.skipped; left > 0 {
			n := int(min(left, int64(b.N)))
			s.skipped += int64(n)
			c := s.Sketch.Settings().Summary
			b = b.Cut(n, b.N, c.Dim, c.Targets, &s.view)
		}
		if s.waiting.used {
			err = s.regroup(b)
		} else {
			err = s.add(b)
		}
	}
	if err != nil {
		s.finish(Failed, err)
	}
	return err == nil && s.ctx.Err() == nil
}

// add appends a block, and judges its rows.
func (s *running) add(b dataset.Block) error {
	if b.N == 0 {
		return nil
	}
	if err := appendTo(s.Sketch, s.now(), b); err != nil {
		return err
	}
	return s.judge.add(b)
}

// appendTo is Append with an error that says which rows are refused.
func appendTo(to window.Stream, now time.Time, b dataset.Block) error {
	first := to.Rows() + 1
	if err := to.AppendAt(now, b); err != nil {
		return fmt.Errorf("rows %d to %d, which came together: %w", first, first+int64(b.N)-1, err)
	}
	return nil
}

// judgeFrom judges the rows of a block from one on: those before were judged.
func (s *running) judgeFrom(first int, b dataset.Block) error {
	if first > 0 {
		c := s.Sketch.Settings().Summary
		b = b.Cut(first, b.N, c.Dim, c.Targets, new(engine.CSR))
	}
	return s.judge.add(b)
}

// tick ends an interval.
func (s *running) tick() {
	sketch, err := s.current()
	if err != nil {
		s.finish(Failed, err)
		return
	}
	if err := s.interval(sketch, ""); err != nil {
		s.finished, s.result = true, err
		s.stop()
	}
}

// interval writes a sketch to the file, where it is another than before, and tells of the interval.
func (s *running) interval(sketch window.Stream, end string) error {
	now := s.now()
	byTime := sketch.Settings().ByTime()
	if byTime {
		if err := sketch.Advance(now); err != nil {
			return err
		}
	}
	rows := sketch.Rows()
	i := Interval{Time: now.UTC().Truncate(time.Millisecond), Rows: rows, NewRows: rows - s.told, Seconds: now.Sub(s.begun).Seconds(), Next: s.judge.verdict(), End: end}
	if i.Seconds > 0 {
		i.Rate = float64(i.NewRows) / i.Seconds
	}
	if rows > s.written || rows > 0 && (byTime || s.File.damaged) {
		var err error
		if i.Written, err = s.File.Write(sketch); err != nil {
			return err
		}
		s.written = rows
	}
	fit, known, span, err := fitOf(sketch, s.Gamma)
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

// finish writes the file for the last time, and ends the run. err is why it ends, nil where that is no error.
func (s *running) finish(why string, err error) {
	if s.finished {
		return
	}
	s.finished = true
	s.stop()
	if failed := s.settle(why); err == nil && failed != nil {
		why, err = Failed, failed
	}
	switch {
	case s.Sketch.Rows() > 0:
		s.result = errors.Join(err, s.interval(s.Sketch, why))
	case err != nil:
		s.result = err
	case s.ctx.Err() != nil:
		s.result = s.ctx.Err()
	default:
		s.result = badinput.Errorf("live: no rows came")
	}
}
