package window

import (
	"fmt"
	"io"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// A Stream summarizes rows that are appended as they arrive. It is a [Window], a [Fading], or a summary of all rows
// ([Whole]). One goroutine may write at a time; any number may read while none writes.
type Stream interface {
	// Settings returns the configuration with all defaults filled in.
	Settings() Settings
	// Rows returns the number of rows appended, including rows that are no longer kept.
	Rows() int64
	// Now returns the time that was set last, or the zero time if none was set.
	Now() time.Time

	// AppendAt adds rows that arrive at time t, and sets the current time to t. A stream without times ignores t.
	AppendAt(t time.Time, rows dataset.Block) error
	// Advance sets the time to t.
	Advance(t time.Time) error

	// Span describes the rows that a summary would contain now.
	Span() Span
	// Summary returns a summary of the rows that the stream keeps now, and their Span. The summary must not be modified.
	// A stream of [Whole] returns the summary that was passed to Whole.
	Summary() (*ridge.Summary, Span, error)
	// Copies returns the number of sketches that Summary allocates.
	Copies() int

	// Meta returns bytes that the caller has attached to the stream. They are written and read with the stream.
	Meta() []byte
	// SetMeta sets the bytes that Meta returns, at most [ridge.MaxMeta].
	SetMeta(meta []byte)
	// WriteTo writes the message that [Read] reads.
	io.WriterTo
}

// notes implements Meta and SetMeta.
type notes struct{ meta []byte }

// Meta returns the caller's bytes, copied to every summary.
func (n *notes) Meta() []byte { return n.meta }

// SetMeta sets the bytes of the caller.
func (n *notes) SetMeta(meta []byte) { n.meta = meta }

// A Policy selects the rows that a stream keeps, or how their weights change. The zero value keeps all rows. At most
// one field may be set.
type Policy struct {
	Rows         int64         // keep the last Rows rows
	Duration     time.Duration // keep the rows of the last Duration
	HalfLife     time.Duration // halve the weights after each HalfLife
	HalfLifeRows int64         // halve the weights after each HalfLifeRows rows
}

// ByTime reports whether the kept rows or their weights change as time passes, even if no rows are appended.
func (p Policy) ByTime() bool { return p.Duration > 0 || p.HalfLife > 0 }

// Fades reports whether the weights of rows change.
func (p Policy) Fades() bool { return p.HalfLife > 0 || p.HalfLifeRows > 0 }

// DependsOnBlocks reports whether a summary has other round-off if the same rows are appended in other blocks. With
// Rows, Duration or HalfLife it has not.
func (p Policy) DependsOnBlocks() bool { return p.Rows == 0 && !p.ByTime() }

// String returns a description of p.
func (p Policy) String() string {
	switch {
	case p.Rows != 0:
		return fmt.Sprintf("the last %d rows", p.Rows)
	case p.Duration != 0:
		return fmt.Sprintf("the rows of the last %v", p.Duration)
	case p.HalfLife != 0:
		return fmt.Sprintf("rows with a half-life of %v", p.HalfLife)
	case p.HalfLifeRows != 0:
		return fmt.Sprintf("rows with a half-life of %d rows", p.HalfLifeRows)
	}
	return "all rows"
}

// Settings is the configuration of a stream.
type Settings struct {
	Summary ridge.SummaryConfig
	Policy
}
