package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/printable"
	"github.com/fdridge/fdridge/internal/rss"
	"github.com/fdridge/fdridge/ridge"
)

// progress shows how far the passes are: a bar on a terminal, or a line of JSON a
// second for machines.
type progress struct {
	w   io.Writer    // of the bar; nil where there is none
	log *slog.Logger // in place of the bar

	bar    *progressbar.ProgressBar
	title  string
	start  time.Time // of the pass
	told   time.Time // when the last line was written
	waits  dataset.Waits
	before map[string]time.Duration // waits when the pass began
}

// logFormats are the values of --log-format.
var logFormats = []string{"auto", "json", "none"}

// newProgress shows progress on w as --log-format says: auto is a bar where w is a
// terminal, otherwise nothing.
func newProgress(w io.Writer, format string) *progress {
	switch format {
	case "none":
		return &progress{}
	case "json":
		return &progress{log: slog.New(slog.NewJSONHandler(w, nil))}
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &progress{w: w}
	}
	return &progress{}
}

// quiet tells that nothing is to be shown.
func (p *progress) quiet() bool { return p.w == nil && p.log == nil }

// watch is ctx for passes that tell what they wait for.
func (p *progress) watch(ctx context.Context) context.Context {
	if p.quiet() {
		return ctx
	}
	return p.waits.Context(ctx)
}

// waited are the seconds that the pass has waited, by what for, and the same in words: shares of
// what it took, where they count.
func (p *progress) waited(took float64) (seconds map[string]float64, words string) {
	seconds = make(map[string]float64)
	names, times := p.waits.Of()
	for i, name := range names {
		t := (times[i] - p.before[name]).Seconds()
		if t <= 0 {
			continue
		}
		seconds[name] = t
		if share := 100 * t / took; share >= 1 {
			words += fmt.Sprintf(", %.0f %% waiting for %s", share, name)
		}
	}
	return seconds, words
}

// A rate is how fast the rows of a pass are read.
type rate struct {
	rows, total int64 // total is -1 while unknown
	seconds     float64
	bytes       float64 // a second, as float64
	left        float64 // seconds, negative while unknown
}

func rateOf(rows, total int64, d int, seconds float64) rate {
	r := rate{rows: rows, total: total, seconds: seconds, left: -1}
	if seconds > 0 {
		r.bytes = 8 * float64(d) * float64(rows) / seconds
	}
	if total > 0 && rows > 0 {
		r.left = seconds * float64(total-rows) / float64(rows)
	}
	return r
}

// show tells how far a pass is.
func (p *progress) show(title string, rows, total int64, d int) {
	now := time.Now()
	if title != p.title {
		p.finish()
		p.title, p.start, p.before = title, now, make(map[string]time.Duration)
		names, times := p.waits.Of()
		for i, name := range names {
			p.before[name] = times[i]
		}
	}
	r := rateOf(rows, total, d, now.Sub(p.start).Seconds())
	if p.log != nil {
		if now.Sub(p.told) >= time.Second {
			p.told = now
			waited, _ := p.waited(r.seconds)
			p.log.Info("progress", "stage", title, "rows", rows, "rows_total", total, "seconds", r.seconds,
				"bytes_per_second", r.bytes, "seconds_left", r.left, "waited_seconds", waited, "peak_rss_bytes", rss.Peak())
		}
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(p.w), progressbar.OptionShowIts(), progressbar.OptionSetItsString("rows"),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(total > 0))
	}
	_, waits := p.waited(r.seconds)
	p.bar.Describe(fmt.Sprintf("%s, %.2f GB/s, %d MiB%s", title, r.bytes/1e9, rss.Peak()>>20, waits))
	if total > 0 {
		rows = min(rows, total-1) // a full bar would end
	}
	// What a progress bar cannot write is no reason to stop.
	_ = p.bar.Set64(rows)
}

// rows returns a callback for a pass over src, nil where nothing is shown.
func (p *progress) rows(title string, src dataset.Source) func(int64) {
	if p.quiet() {
		return nil
	}
	return func(rows int64) {
		n, d, _ := src.Dims()
		p.show(title, rows, n, d)
	}
}

// passes returns a callback for refining passes of n rows of d features.
func (p *progress) passes(n int64, d int) func(ridge.Progress) {
	if p.quiet() {
		return nil
	}
	return func(s ridge.Progress) {
		title := fmt.Sprintf("pass %d", s.Pass)
		if !math.IsInf(s.RelativeError, 1) {
			title += ", error ≤ " + report.AtMost(s.RelativeError, 2)
		}
		p.show(title, s.Rows, n, d)
	}
}

// fit returns a callback for all of a fit to the rows of src, nil where nothing is shown.
// total is how many rows a pass that refines reads, and is asked when the first begins.
func (p *progress) fit(src dataset.Source, total func() int64) func(fdridge.Stage, ridge.Progress) {
	if p.quiet() {
		return nil
	}
	var refining func(ridge.Progress)
	return func(s fdridge.Stage, now ridge.Progress) {
		if s != fdridge.Refining {
			p.rows(s.String(), src)(now.Rows)
			return
		}
		if refining == nil {
			_, d, _ := src.Dims()
			refining = p.passes(total(), d)
		}
		refining(now)
	}
}

// checkpoint reports what happened to a checkpoint: in the log, or as a line on stderr. One rank
// alone reports what went well; states that were written are in the log alone.
func (p *progress) checkpoint(e batch.Event, leads bool, stderr io.Writer) {
	level := slog.LevelInfo
	if e.Err != nil {
		level = slog.LevelWarn
	}
	switch {
	case p.log != nil:
		p.log.Log(context.Background(), level, e.String(), "pass", e.At.Pass, "rows", e.At.Rows)
	case e.Err != nil || e.Kind == batch.Resumed && leads:
		p.finish()
		fmt.Fprintln(stderr, "fdridge: "+e.String())
	}
}

// warn tells what the user should know: in the log, or as a line on stderr. With --log-format none
// there is no log.
func (p *progress) warn(stderr io.Writer, message string) {
	message = printable.Text(message)
	if p.log != nil {
		p.log.Warn(message)
		return
	}
	p.finish()
	fmt.Fprintln(stderr, "fdridge: warning: "+message)
}

// finish clears the bar.
func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish() // as in show
		p.bar = nil
	}
	p.title = ""
}
