package window

import (
	"io"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// A Stream summarizes rows that are appended as they arrive. It is a [Window], a [Fading], or a summary of all rows
// ([Whole]). Only one goroutine may write at a time. Any number may read while none writes.
type Stream interface {
	// Settings returns the configuration with all defaults filled in.
	Settings() Settings
	// Rows returns the number of rows appended, including rows that are no longer kept.
	Rows() int64
	// Now returns the time that was set last. If no time was set, it returns the zero time.
	Now() time.Time

	// AppendAt adds rows that arrive at time t, and sets the current time to t. If the stream does not use times,
	// it ignores t.
	AppendAt(t time.Time, rows dataset.Block) error
	// Advance sets the time to t.
	Advance(t time.Time) error

	// Span returns a description of the rows that a summary would contain now.
	Span() Span
	// Summary returns a summary of the rows that the stream keeps now, and their Span. The caller must not modify
	// the summary, because a stream of [Whole] returns the summary that was passed to Whole.
	Summary() (*ridge.Summary, Span, error)
	// Copies returns the number of sketches that Summary allocates.
	Copies() int

	// Meta returns the bytes that the caller has attached to the stream. WriteTo writes them, and [Read] reads
	// them.
	Meta() []byte
	// SetMeta attaches bytes to the stream, at most [ridge.MaxMeta]. Meta returns them.
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
