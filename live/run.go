// Package live maintains a sketch of an endless stream in a file that others can read at any time. The sketch covers
// all rows, a window of the latest rows, or rows whose weights fade. A [Run] appends rows as they arrive, writes the
// file at regular intervals, and reports the prediction error for new rows. After a run is killed, the next run
// continues from the file.
package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/ridge/window"
)

// A Run appends rows to a sketch as they arrive, and writes the sketch to a file at regular intervals. Sketch, File
// and Every are required.
type Run struct {
	Sketch window.Stream
	File   *File
	Every  time.Duration // time between two writes of the file; at least ten times the duration of a write
	// Gamma is the γ of the fit at the end of each interval. 0 means that GCV chooses γ at each interval. If weights
	// fade, Gamma must be positive, because GCV ignores the weights of rows.
	Gamma float64
	// Skip is the number of rows to skip at the beginning. If src starts again with the first row, set Skip to the
	// number of rows in the sketch. If src continues after the last row of the sketch, set it to 0.
	Skip int64
	// Blocks selects how rows are divided into blocks.
	Blocks Blocks
	// Tell, if not nil, is called after each write of the file. Calls may come from different goroutines, one at a
	// time.
	Tell func(Interval) error
	// Clock, if not nil, replaces the machine's clock. Calls may come from different goroutines, one at a time.
	Clock func() time.Time
}

// running is the state of a Run. One goroutine appends rows; another writes the file.
type running struct {
	Run
	ctx  context.Context
	stop context.CancelFunc // ends the reading of rows
	view engine.CSR

	mu        sync.Mutex // guards the fields below and the sketch
	skipped   int64
	scorer    scorer
	pending   pending
	written   int64     // number of rows in the file
	startRows int64     // number of rows at the start of the interval
	startTime time.Time // start of the interval
	finished  bool      // the last write of the file is done
	result    error     // set when finished
}

// Do appends the rows of src to the sketch and writes the file. The run ends when the rows end, when ctx is done, at
// an invalid row, or at an error of src. After such an error the file contains the blocks before the error, see also
// [FixedPrompt].
//
// When ctx is done, Do returns nil if the file contains all rows that were appended. If no row was read, it returns the
// error of ctx.
func (r Run) Do(ctx context.Context, src dataset.Source) error {
	if r.Gamma == 0 && r.Sketch.Settings().Fades() {
		return errFading
	}
	if !(r.Every > 0) {
		return badinput.Errorf("live: Every is %v, must be positive", r.Every)
	}
	if r.Clock == nil {
		r.Clock = time.Now
	}
	s := &running{
		Run:       r,
		ctx:       ctx,
		written:   r.Sketch.Rows(),
		startRows: r.Sketch.Rows(),
		startTime: r.Clock(),
	}
	if err := s.pending.prepare(r); err != nil {
		return err
	}
	fit, _, _, err := fitOf(r.Sketch, r.Gamma)
	if err == nil {
		s.scorer.refit(fit)
	} // the first interval reports the error
	return s.follow(src)
}

// errFading reports a Run whose weights fade although Gamma is 0.
var errFading = badinput.Errorf(
	"live: gamma cannot be chosen for rows that fade, because GCV counts rows whatever they weigh: give a gamma",
)

// now returns Clock's time, but never before the sketch's time.
func (s *running) now() time.Time {
	now := s.Clock()
	if last := s.Sketch.Now(); now.Before(last) {
		return last
	}
	return now
}

// follow appends arriving rows, while another goroutine writes the file.
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
		s.finish(
			Failed,
			badinput.Errorf(
				"live: the source has %d rows, but the sketch has %d: these are other rows, or the source does not "+
					"start again with the first row",
				s.skipped,
				s.Skip,
			),
		)
	default:
		s.finish(EndOfRows, nil)
	}
	return s.result
}

// write writes the file after each interval, until ctx is done. If the context s.ctx of the run is then done, too,
// write ends the run.
func (s *running) write(ctx context.Context) {
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
		case <-ctx.Done():
			if s.ctx.Err() != nil {
				s.mu.Lock()
				s.finish(Stopped, nil)
				s.mu.Unlock()
			}
			return
		}
	}
}

// take appends the rows of b, except rows to skip. If the result is false, the run ends.
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
		if s.pending.regroups {
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

// add appends a block, and scores the predictions for its rows.
func (s *running) add(b dataset.Block) error {
	if b.N == 0 {
		return nil
	}
	if err := appendTo(s.Sketch, s.now(), b); err != nil {
		return err
	}
	return s.scorer.add(b)
}

// appendTo adds the row numbers of b to an error.
func appendTo(to window.Stream, now time.Time, b dataset.Block) error {
	first := to.Rows() + 1
	if err := to.AppendAt(now, b); err != nil {
		return fmt.Errorf("rows %d to %d, which arrived together: %w", first, first+int64(b.N)-1, err)
	}
	return nil
}

// scoreFrom scores the rows of b from index firstRow on.
func (s *running) scoreFrom(firstRow int, b dataset.Block) error {
	if firstRow > 0 {
		c := s.Sketch.Settings().Summary
		b = b.Cut(firstRow, b.N, c.Dim, c.Targets, new(engine.CSR))
	}
	return s.scorer.add(b)
}

// tick writes the file at the end of an interval.
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

// interval writes the sketch to the file if the sketch has changed. It then reports the interval to s.Tell. The
// parameter end is the reason why the run ends, or "" if it continues.
func (s *running) interval(sketch window.Stream, end string) error {
	now := s.now()
	byTime := sketch.Settings().ByTime()
	if byTime {
		if err := sketch.Advance(now); err != nil {
			return err
		}
	}
	rows := sketch.Rows()
	i := Interval{
		Time:    now.UTC().Truncate(time.Millisecond),
		Rows:    rows,
		NewRows: rows - s.startRows,
		Seconds: now.Sub(s.startTime).Seconds(),
		Next:    s.scorer.predictionError(),
		End:     end,
	}
	if i.Seconds > 0 {
		i.Rate = float64(i.NewRows) / i.Seconds
	}
	if rows > s.written || rows > 0 && (byTime || s.File.damaged) {
		var err error
		i.Written, err = s.File.Write(sketch)
		if err != nil {
			return err
		}
		s.written = rows
	}
	fit, known, span, err := fitOf(sketch, s.Gamma)
	i.Fit, i.Covered = known, span.Rows
	if err != nil {
		i.Unfitted = err.Error()
	}
	s.scorer.refit(fit)
	s.startRows, s.startTime = rows, now
	if s.Tell == nil {
		return nil
	}
	return s.Tell(i)
}

// finish ends the run and writes the file a last time. err is the error that ended the run, or nil.
func (s *running) finish(why string, err error) {
	if s.finished {
		return
	}
	s.finished = true
	s.stop()
	if failed := s.flushAtEnd(why); err == nil && failed != nil {
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
		s.result = badinput.Errorf("live: the source has no rows")
	}
}
