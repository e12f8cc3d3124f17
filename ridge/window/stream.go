package window

import (
	"fmt"
	"io"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// A Stream is a summary that rows are appended to as they come, whatever it forgets: [Whole], a [Window] or
// a [Fading]. One goroutine may write at a time; any number may read while none writes.
type Stream interface {
	// Settings returns the configuration in force.
	Settings() Settings
	// Rows returns the number of rows appended, those that are forgotten included.
	Rows() int64
	// Now returns the last time that was told; zero if none was.
	Now() time.Time

	// AppendAt adds rows that come at time t, and makes it that time. A stream that keeps no times takes no
	// notice of t.
	AppendAt(t time.Time, rows dataset.Block) error
	// Advance makes it time t.
	Advance(t time.Time) error

	// Span returns which rows a summary would cover that were read now.
	Span() Span
	// Summary returns a summary of the rows that count now, for reading, and says which these are. The
	// summary of [Whole] is the stream itself.
	Summary() (*ridge.Summary, Span, error)
	// Copies returns the number of sketches that Summary needs memory for, beside those of the stream.
	Copies() int

	// Meta returns the bytes of the caller's own that are written and read along with the stream.
	Meta() []byte
	// SetMeta sets them: at most [ridge.MaxMeta] bytes.
	SetMeta(meta []byte)
	// WriteTo writes the message that [Read] reads.
	io.WriterTo
}

// notes are bytes of the caller's own.
type notes struct{ meta []byte }

// Meta returns the caller's own bytes, which each summary has that is read. See [ridge.Summary].
func (n *notes) Meta() []byte { return n.meta }

// SetMeta sets the caller's own bytes.
func (n *notes) SetMeta(meta []byte) { n.meta = meta }

// A Policy says which rows count: all, if it is the zero value. At most one field is set.
type Policy struct {
	Rows         int64         // the last so many
	Duration     time.Duration // those of the last so much time
	HalfLife     time.Duration // each half as much after so much time
	HalfLifeRows int64         // each half as much after so many more
}

// ByTime reports whether rows may be forgotten though no others come.
func (p Policy) ByTime() bool { return p.Duration > 0 || p.HalfLife > 0 }

// Fades reports whether rows have other weights than they came with.
func (p Policy) Fades() bool { return p.HalfLife > 0 || p.HalfLifeRows > 0 }

// DependsOnBlocks reports whether the last bits depend on the blocks that rows come in, and on nothing else.
// A window has the same bits for any blocks. If time counts, the bits also depend on when rows come.
func (p Policy) DependsOnBlocks() bool { return p.Rows == 0 && !p.ByTime() }

// String describes p in words.
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

// Settings are the configuration of a stream.
type Settings struct {
	Summary ridge.SummaryConfig
	Policy
}
