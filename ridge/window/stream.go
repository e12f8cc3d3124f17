package window

import (
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
