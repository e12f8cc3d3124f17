package window

import (
	"io"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// allRows is a stream that keeps all rows with their full weight.
type allRows struct{ sum *ridge.Summary }

// Whole returns a stream that appends rows to sum and keeps all rows. The stream and sum share the same Meta.
func Whole(sum *ridge.Summary) Stream { return &allRows{sum} }

func (w *allRows) Settings() Settings {
	return Settings{Summary: w.sum.Config()}
}

func (w *allRows) Rows() int64 { return w.sum.Rows() }

func (w *allRows) Now() time.Time { return time.Time{} }

func (w *allRows) AppendAt(_ time.Time, rows dataset.Block) error {
	return w.sum.AppendBlock(rows)
}

func (w *allRows) Advance(time.Time) error { return nil }

func (w *allRows) Span() Span {
	return Span{Rows: w.sum.Rows()}
}

func (w *allRows) Summary() (*ridge.Summary, Span, error) {
	return w.sum, w.Span(), nil
}

// Copies returns the number of sketches that are allocated when the parallel sketches of the summary are merged.
func (w *allRows) Copies() int {
	if w.sum.Joined() {
		return 0
	}
	return mergedLanes(w.sum.Config())
}

// mergedLanes returns the number of sketches that are allocated to merge the parallel sketches of a summary.
func mergedLanes(cfg ridge.SummaryConfig) int { return (cfg.Lanes + 1) / 2 }

func (w *allRows) Meta() []byte { return w.sum.Meta }

func (w *allRows) SetMeta(meta []byte) { w.sum.Meta = meta }

func (w *allRows) WriteTo(to io.Writer) (int64, error) {
	return w.sum.WriteTo(to)
}
