package window

import (
	"io"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// allRows is a stream whose rows all have full weight.
type allRows struct{ sum *ridge.Summary }

// Whole returns sum as a stream that keeps all rows. The stream and sum have the same Meta.
func Whole(sum *ridge.Summary) Stream { return &allRows{sum} }

// Settings returns the configuration with all defaults filled in.
func (w *allRows) Settings() Settings { return Settings{Summary: w.sum.Config()} }

// Rows returns the number of rows appended.
func (w *allRows) Rows() int64 { return w.sum.Rows() }

// Now returns the zero time.
func (w *allRows) Now() time.Time { return time.Time{} }

// AppendAt calls [ridge.Summary.AppendBlock].
func (w *allRows) AppendAt(_ time.Time, rows dataset.Block) error { return w.sum.AppendBlock(rows) }

// Advance does nothing.
func (w *allRows) Advance(time.Time) error { return nil }

// Span returns the span of all rows, without times.
func (w *allRows) Span() Span { return Span{Rows: w.sum.Rows()} }

// Summary returns the summary itself.
func (w *allRows) Summary() (*ridge.Summary, Span, error) { return w.sum, w.Span(), nil }

// Copies returns the number of sketches that a merge allocates.
func (w *allRows) Copies() int {
	if w.sum.Joined() {
		return 0
	}
	return mergedLanes(w.sum.Config())
}

// mergedLanes returns the number of sketches that a merge allocates.
func mergedLanes(cfg ridge.SummaryConfig) int { return (cfg.Lanes + 1) / 2 }

// Meta returns the Meta of the summary.
func (w *allRows) Meta() []byte { return w.sum.Meta }

// SetMeta sets the Meta of the summary.
func (w *allRows) SetMeta(meta []byte) { w.sum.Meta = meta }

// WriteTo is [ridge.Summary.WriteTo].
func (w *allRows) WriteTo(to io.Writer) (int64, error) { return w.sum.WriteTo(to) }
