package window

import (
	"fmt"
	"math"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A clock shows the time of a stream, which its rows tell.
type clock struct {
	now int64 // in nanoseconds since 1970, or noTime
}

// noTime is the time where none was told: before every other.
const noTime = math.MinInt64

// A TimeError reports a time before one that was told. It is [ridge.ErrInput].
type TimeError struct {
	Row          int // of the block, counted from 0; -1 where no row is of that time
	Time, Before time.Time
}

func (e *TimeError) Error() string {
	const layout = time.RFC3339Nano
	if e.Row < 0 {
		return fmt.Sprintf("ridge: it cannot become %s: it is %s", e.Time.Format(layout), e.Before.Format(layout))
	}
	return fmt.Sprintf("ridge: row %d is of %s, and follows one of %s: times must not decrease", e.Row+1, e.Time.Format(layout), e.Before.Format(layout))
}

// Is tells that it is [ridge.ErrInput].
func (e *TimeError) Is(target error) bool { return target == ridge.ErrInput }

// next is t in nanoseconds, as the time of a row or, -1, of none.
func (c *clock) next(t time.Time, row int) (int64, error) { return nanosAfter(c.now, t, row) }

// told is the clock itself, of whatever it is part of.
func (c *clock) told() *clock { return c }

// rowTimes are the times of the rows of a block, in nanoseconds: those of each, which are known to be
// good, or one for all; or, where rows are counted in place of time, their numbers.
type rowTimes struct {
	each []time.Time // nil: there is no time for each
	one  int64       // of all rows, or of the first where they are numbered
	step int64       // 1 where rows are numbered, else 0
}

// at is the time of row i.
func (r rowTimes) at(i int) int64 {
	if r.each != nil {
		return r.each[i].UnixNano()
	}
	return r.one + int64(i)*r.step
}

// A timed is what rows with times are appended to: a [Window] or a [Fading].
type timed interface {
	Advance(t time.Time) error
	told() *clock
	append(b dataset.Block, times rowTimes) error
}

// appendAt appends rows that are all of time t.
func appendAt(s timed, t time.Time, b dataset.Block) error {
	now, err := s.told().next(t, 0)
	if err != nil {
		return err
	}
	if err := s.append(b, rowTimes{one: now}); err != nil {
		return err
	}
	return s.Advance(t) // where there were no rows
}

// appendTimes appends rows of which row i is of times[i].
func appendTimes(s timed, times []time.Time, b dataset.Block) error {
	if len(times) != b.N {
		return fmt.Errorf("%w: %d times for %d rows", rows.ErrShape, len(times), b.N)
	}
	last := s.told().now
	for i, t := range times {
		var err error
		if last, err = nanosAfter(last, t, i); err != nil {
			return err
		}
	}
	return s.append(b, rowTimes{each: times, one: last})
}

// nanosAfter is t in nanoseconds, which is no less than last.
func nanosAfter(last int64, t time.Time, row int) (int64, error) {
	if t.Before(time.Unix(0, noTime+1)) || t.After(time.Unix(0, math.MaxInt64)) {
		return 0, badinput.Errorf("ridge: the time %v cannot be counted in nanoseconds: it must be in the years 1678 to 2261", t)
	}
	nanos := t.UnixNano()
	if nanos < last {
		return 0, &TimeError{Row: row, Time: t.UTC(), Before: timeOf(last)}
	}
	return nanos, nil
}

// timeOf is a time of so many nanoseconds, in UTC; the zero value for noTime.
func timeOf(nanos int64) time.Time {
	if nanos == noTime {
		return time.Time{}
	}
	return time.Unix(0, nanos).UTC()
}

// before is the time so much earlier, or the first that there is.
func before(nanos int64, by time.Duration) int64 {
	if nanos < noTime+int64(by) {
		return noTime
	}
	return nanos - int64(by)
}
