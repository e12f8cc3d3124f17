package window

import (
	"io"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// A whole is the stream of which all rows count.
type whole struct{ sum *ridge.Summary }

// Whole returns sum as a stream, of which all rows count. Both have the same Meta.
func Whole(sum *ridge.Summary) Stream { return &whole{sum} }

// Settings returns the configuration in force.
func (w *whole) Settings() Settings { return Settings{Summary: w.sum.Config()} }

// Rows returns the number of rows appended.
func (w *whole) Rows() int64 { return w.sum.Rows() }

// Now returns the zero time: none is kept.
func (w *whole) Now() time.Time { return time.Time{} }

// AppendAt is [ridge.Summary.AppendBlock].
func (w *whole) AppendAt(_ time.Time, rows dataset.Block) error { return w.sum.AppendBlock(rows) }

// Advance does nothing.
func (w *whole) Advance(time.Time) error { return nil }

// Span returns all rows, without times.
func (w *whole) Span() Span { return Span{Rows: w.sum.Rows()} }

// Summary returns the summary that w is.
func (w *whole) Summary() (*ridge.Summary, Span, error) { return w.sum, w.Span(), nil }

// Copies returns the number of lanes that are merged at a time: half of them, if there are several.
func (w *whole) Copies() int {
	if w.sum.Joined() {
		return 0
	}
	return mergedLanes(w.sum.Config())
}

// mergedLanes returns the number of sketches made while the lanes of a summary are merged.
func mergedLanes(cfg ridge.SummaryConfig) int { return (cfg.Lanes + 1) / 2 }

// Meta returns the Meta of the summary.
func (w *whole) Meta() []byte { return w.sum.Meta }

// SetMeta sets the Meta of the summary.
func (w *whole) SetMeta(meta []byte) { w.sum.Meta = meta }

// WriteTo is [ridge.Summary.WriteTo].
func (w *whole) WriteTo(to io.Writer) (int64, error) { return w.sum.WriteTo(to) }
