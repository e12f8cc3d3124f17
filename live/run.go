// Package live maintains a sketch of an endless stream of rows in a file that other processes can read at any time.
// The sketch is a summary for ridge regression. It covers all rows, a window of the latest rows, or rows whose
// weights decrease with their age. A [Run] appends rows as they arrive, writes the file at regular intervals, and
// reports the prediction error for new rows. If a run is killed, the next run continues from the file.
package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge/window"
)

// A Run appends rows to a sketch as they arrive, and writes the sketch to a file at regular intervals. The fields
// Sketch, File and Every are required.
type Run struct {
	Sketch window.Stream
	File   *File
	Every  time.Duration // time between two writes of the file; at least ten times the duration of a write
	// Gamma is the ridge penalty of the fit at the end of each interval. 0 means that generalised cross-validation
	// (GCV) chooses the penalty. If the weights of rows decrease with their age, Gamma must be positive, because
	// GCV ignores weights.
	Gamma float64
	// Skip is the number of rows to skip at the beginning of the source. If the source starts again with the first
	// row of the stream, set Skip to the number of rows in the sketch. If the source continues after the last row
	// in the sketch, set Skip to 0.
	Skip int64
	// Blocks selects how rows are divided into blocks.
	Blocks Blocks
	// Tell, if not nil, is called at the end of each interval, after the file was written. Calls may come from
	// different goroutines, but never two at a time.
	Tell func(Interval) error
	// Clock, if not nil, gives the time instead of the machine's clock. Calls may come from different goroutines,
	// but never two at a time.
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

// Do appends the rows of src to the sketch and writes the file. The run ends when the rows end, when ctx is done,
// at an invalid row, or at an error of src. After an invalid row or an error of src, the file contains the blocks
// of rows before the error. With [FixedPrompt], the file also contains the rows of the last block that came before
// the error.
//
// If ctx ends the run, Do returns nil after it has written all appended rows to the file. If no row was ever
// appended, Do returns the error of ctx.
func (r Run) Do(ctx context.Context, src dataset.Source) error {
	if r.Gamma == 0 && r.Sketch.Settings().Fades() {
		return errFading
	}
	if !(r.Every > 0) {
		return errtext.BadInput("live: Every is %v, must be positive", r.Every)
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

// errFading is the error of a Run that has Gamma 0 although the weights of its rows decrease with their age.
var errFading = errtext.BadInput(
	"live: gamma cannot be chosen for rows that fade, because GCV counts rows whatever they weigh: give a gamma",
)

// now returns the time of Clock, or the time stored in the sketch if this is later.
func (s *running) now() time.Time {
	now := s.Clock()
	if last := s.Sketch.Now(); now.Before(last) {
		return last
	}
	return now
}

// follow appends the rows of src as they arrive, while another goroutine writes the file.
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
			errtext.BadInput(
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

// write writes the file after each interval, until ctx is done. If the caller has cancelled the run (s.ctx), write
// also ends the run.
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

// take appends the rows of b, except those that Skip excludes. It returns false if the run must end. err is the
// error of the source.
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

// add appends the rows of b to the sketch. It then predicts these rows and sums the prediction errors.
func (s *running) add(b dataset.Block) error {
	if b.N == 0 {
		return nil
	}
	if err := appendTo(s.Sketch, s.now(), b); err != nil {
		return err
	}
	return s.scorer.add(b)
}

// appendTo appends the rows of b to a sketch. If this fails, the error names the row numbers of b.
func appendTo(to window.Stream, now time.Time, b dataset.Block) error {
	first := to.Rows() + 1
	if err := to.AppendAt(now, b); err != nil {
		return fmt.Errorf("rows %d to %d, which arrived together: %w", first, first+int64(b.N)-1, err)
	}
	return nil
}

// scoreFrom predicts the rows of b from index firstRow on, and sums the prediction errors.
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

// interval writes the sketch to the file if the sketch has changed. It then calls s.Tell with a report of the
// interval. The parameter end tells why the run ends; "" means that the run continues.
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

// finish ends the run and writes the file a last time. why is the reason for the report, and err is the error that
// ended the run, or nil.
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
		s.result = errtext.BadInput("live: the source has no rows")
	}
}
