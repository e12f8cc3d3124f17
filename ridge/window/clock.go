package window

import (
	"fmt"
	"math"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A clock holds the current time of a stream, which the caller sets.
type clock struct {
	now int64 // in nanoseconds since 1970, or noTime
}

// noTime is earlier than every time that can be set.
const noTime = math.MinInt64

// A TimeError reports a time that is earlier than the current time of the stream. It matches [ridge.ErrInput].
type TimeError struct {
	Row          int // index of the row in the block; -1 for an argument of Advance
	Time, Before time.Time
}

func (e *TimeError) Error() string {
	const layout = time.RFC3339Nano
	if e.Row < 0 {
		return fmt.Sprintf(
			"ridge: the time cannot be set to %s: it is already %s",
			e.Time.Format(layout),
			e.Before.Format(layout),
		)
	}
	return fmt.Sprintf(
		"ridge: row %d has time %s, after a row at %s: times must not decrease",
		e.Row+1,
		e.Time.Format(layout),
		e.Before.Format(layout),
	)
}

// Is reports whether target is [ridge.ErrInput].
func (e *TimeError) Is(target error) bool { return target == ridge.ErrInput }

// next converts t, the time of row number row of a block, to nanoseconds. If t is earlier than the current time,
// next returns a *[TimeError].
func (c *clock) next(t time.Time, row int) (int64, error) {
	return nanosAfter(c.now, t, row)
}

func (c *clock) theClock() *clock { return c }

// rowTimes holds times in nanoseconds, or row numbers.
type rowTimes struct {
	each  []time.Time // time of each row; nil if the other fields apply
	first int64       // time of the first row
	step  int64       // 1 if times are row numbers, 0 if all rows have the time first
}

func (r rowTimes) at(i int) int64 {
	if r.each != nil {
		return r.each[i].UnixNano()
	}
	return r.first + int64(i)*r.step
}

// A timedStream is a [Window] or a [Fading].
type timedStream interface {
	Advance(t time.Time) error
	theClock() *clock
	append(b dataset.Block, times rowTimes) error
}

// appendAt appends the rows of b with time t.
func appendAt(s timedStream, t time.Time, b dataset.Block) error {
	now, err := s.theClock().next(t, 0)
	if err != nil {
		return err
	}
	if err := s.append(b, rowTimes{first: now}); err != nil {
		return err
	}
	return s.Advance(t) // sets the time even if b has no rows
}

// appendTimes appends the rows of b to s. times holds one time for each row.
func appendTimes(s timedStream, times []time.Time, b dataset.Block) error {
	if len(times) != b.N {
		return fmt.Errorf("%w: %d times for %d rows", rows.ErrShape, len(times), b.N)
	}
	last := s.theClock().now
	for i, t := range times {
		var err error
		last, err = nanosAfter(last, t, i)
		if err != nil {
			return err
		}
	}
	return s.append(b, rowTimes{each: times, first: last})
}

// nanosAfter converts t, the time of row number row of a block, to nanoseconds. If t is earlier than last,
// nanosAfter returns a *[TimeError].
func nanosAfter(last int64, t time.Time, row int) (int64, error) {
	if t.Before(time.Unix(0, noTime+1)) ||
		t.After(time.Unix(0, math.MaxInt64)) {
		return 0, errtext.BadInput(
			"ridge: the time %v cannot be counted in nanoseconds: it must be in the years 1678 to 2261",
			t,
		)
	}
	nanos := t.UnixNano()
	if nanos < last {
		return 0, &TimeError{Row: row, Time: t.UTC(), Before: timeOf(last)}
	}
	return nanos, nil
}

// timeOf returns a time in UTC, zero for noTime.
func timeOf(nanos int64) time.Time {
	if nanos == noTime {
		return time.Time{}
	}
	return time.Unix(0, nanos).UTC()
}

// before returns nanos − d, but at least noTime.
func before(nanos int64, d time.Duration) int64 {
	if nanos < noTime+int64(d) {
		return noTime
	}
	return nanos - int64(d)
}
