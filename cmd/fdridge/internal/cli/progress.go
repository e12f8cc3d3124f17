package cli

import (
	"context"
	"encoding/json"
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
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/jsonfields"
	"github.com/fdridge/fdridge/internal/rss"
	"github.com/fdridge/fdridge/ridge"
)

// Progress shows the progress of passes over the rows. On a terminal it shows a bar. With --log-format json it
// writes a line of JSON each second instead.
type Progress struct {
	w   io.Writer    // of the bar; nil: no bar
	log *slog.Logger // instead of the bar

	bar    *progressbar.ProgressBar
	title  string
	start  time.Time // of the pass
	logged time.Time // time of the last line
	waits  dataset.Waits
	before map[string]time.Duration // waiting time by reason, at the start of the pass
}

// LogFormats are the values of --log-format.
var LogFormats = []string{"auto", "json", "none"}

// NewProgress returns a Progress that writes to w. format is the value of --log-format: "json", "none" or "auto".
// With "auto" it shows a bar if w is a terminal, otherwise nothing.
func NewProgress(w io.Writer, format string) *Progress {
	switch format {
	case "none":
		return &Progress{}
	case "json":
		return &Progress{log: slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: keepFloat}))}
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &Progress{w: w}
	}
	return &Progress{}
}

// keepFloat makes slog write each float64 with a point or an exponent, even if it is an integer.
func keepFloat(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case float64, map[string]float64:
		if text, err := jsonfields.Value(v); err == nil {
			a.Value = slog.AnyValue(json.RawMessage(text))
		}
	}
	return a
}

// isQuiet reports whether nothing is shown.
func (p *Progress) isQuiet() bool {
	return p.w == nil && p.log == nil
}

// Watch returns a context for a pass over the rows. The readers of the rows record in this context how long they
// wait, for example for the disk.
func (p *Progress) Watch(ctx context.Context) context.Context {
	if p.isQuiet() {
		return ctx
	}
	return p.waits.Context(ctx)
}

// waited returns how long the current pass has waited so far. The map seconds has a key for each thing the pass
// waited for, such as the disk. words states the waiting times as percentages of elapsed, the seconds since the
// pass began.
func (p *Progress) waited(elapsed float64) (seconds map[string]float64, words string) {
	seconds = make(map[string]float64)
	names, times := p.waits.Of()
	for i, name := range names {
		t := (times[i] - p.before[name]).Seconds()
		if t <= 0 {
			continue
		}
		seconds[name] = t
		if share := 100 * t / elapsed; share >= 1 {
			words += fmt.Sprintf(", %.0f %% waiting for %s", share, name)
		}
	}
	return seconds, words
}

// A rate describes how far a pass over the rows has got and how fast it is.
type rate struct {
	rows, total int64 // total -1: unknown
	seconds     float64
	bytes       float64 // bytes per second, counting 8 bytes for each number
	left        float64 // estimated seconds left; negative: unknown
}

func rateOf(rows, total int64, d int, seconds float64) rate {
	r := rate{
		rows:    rows,
		total:   total,
		seconds: seconds,
		left:    -1,
	}
	if seconds > 0 {
		r.bytes = 8 * float64(d) * float64(rows) / seconds
	}
	if total > 0 && rows > 0 {
		r.left = seconds * float64(total-rows) / float64(rows)
	}
	return r
}

// show shows the progress of a pass.
func (p *Progress) show(title string, rows, total int64, d int) {
	now := time.Now()
	if title != p.title {
		p.Finish()
		p.title = title
		p.start = now
		p.before = make(map[string]time.Duration)
		names, times := p.waits.Of()
		for i, name := range names {
			p.before[name] = times[i]
		}
	}
	r := rateOf(rows, total, d, now.Sub(p.start).Seconds())
	if p.log != nil {
		if now.Sub(p.logged) >= time.Second {
			p.logged = now
			waited, _ := p.waited(r.seconds)
			p.log.Info(
				"progress",
				"stage",
				title,
				"rows",
				rows,
				"rows_total",
				total,
				"seconds",
				r.seconds,
				"bytes_per_second",
				r.bytes,
				"seconds_left",
				r.left,
				"waited_seconds",
				waited,
				"peak_rss_bytes",
				rss.Peak(),
			)
		}
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(
			total,
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionShowIts(),
			progressbar.OptionSetItsString("rows"),
			progressbar.OptionThrottle(
				100*time.Millisecond,
			),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionSetPredictTime(total > 0),
		)
	}
	_, waits := p.waited(r.seconds)
	p.bar.Describe(fmt.Sprintf("%s, %.2f GB/s, %d MiB%s", title, r.bytes/1e9, rss.Peak()>>20, waits))
	if total > 0 {
		rows = min(rows, total-1) // the bar would finish if it were full
	}
	// An error in writing the bar is ignored.
	_ = p.bar.Set64(rows)
}

// Rows returns a callback that shows the progress of a pass over src. The callback's argument is the number of rows
// read so far. Rows returns nil if p shows nothing.
func (p *Progress) Rows(title string, src dataset.Source) func(int64) {
	if p.isQuiet() {
		return nil
	}
	return func(rows int64) {
		n, d, _ := src.Dims()
		p.show(title, rows, n, d)
	}
}

// passes returns a callback that shows the progress of the passes that refine a solution. Each pass reads n rows of
// d features. It returns nil if p shows nothing.
func (p *Progress) passes(n int64, d int) func(ridge.Progress) {
	if p.isQuiet() {
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

// Fit returns a callback that shows the progress of a fit to the rows of src, or nil if p shows nothing. The
// callback calls countRows once, at the first pass that refines the solution, to get the number of rows of such a
// pass.
func (p *Progress) Fit(src dataset.Source, countRows func() int64) func(fdridge.Stage, ridge.Progress) {
	if p.isQuiet() {
		return nil
	}
	var refining func(ridge.Progress)
	return func(s fdridge.Stage, now ridge.Progress) {
		if s != fdridge.Refining {
			p.Rows(s.String(), src)(now.Rows)
			return
		}
		if refining == nil {
			_, d, _ := src.Dims()
			refining = p.passes(countRows(), d)
		}
		refining(now)
	}
}

// Fraction shows the progress of some work on a terminal. title names the work, and done is the completed fraction.
func (p *Progress) Fraction(title string, done float64) {
	if p.w == nil {
		return
	}
	const whole = 1000
	if p.bar == nil {
		p.bar = progressbar.NewOptions(
			whole,
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(true),
		)
	}
	p.bar.Describe(title)
	_ = p.bar.Set(int(whole * min(done, 0.999))) // the bar would finish if it were full
}

// Checkpoint reports an event of a checkpoint in the log. Without a log it prints errors on stderr. If isLeader is
// true, it also prints there that a run was resumed.
func (p *Progress) Checkpoint(e batch.Event, isLeader bool, stderr io.Writer) {
	level := slog.LevelInfo
	if e.Err != nil {
		level = slog.LevelWarn
	}
	switch {
	case p.log != nil:
		p.log.Log(context.Background(), level, e.String(), "pass", e.At.Pass, "rows", e.At.Rows)
	case e.Err != nil || e.Kind == batch.Resumed && isLeader:
		p.Finish()
		fmt.Fprintln(stderr, "fdridge: "+e.String())
	}
}

// Warn writes a warning to the log, or to stderr if p has no log.
func (p *Progress) Warn(stderr io.Writer, message string) {
	message = errtext.Text(message)
	if p.log != nil {
		p.log.Warn(message)
		return
	}
	p.Finish()
	fmt.Fprintln(stderr, "fdridge: warning: "+message)
}

// Remark writes a remark about a text file to the log, or to stderr if p has no log. A remark that expresses a
// doubt becomes a warning, any other remark becomes a note.
func (p *Progress) Remark(stderr io.Writer, r dataset.Remark) {
	if r.Doubt {
		p.Warn(stderr, r.String())
		return
	}
	message := errtext.Text(r.String())
	if p.log != nil {
		p.log.Info(message)
		return
	}
	p.Finish()
	fmt.Fprintln(stderr, "fdridge: note: "+message)
}

// Finish clears the bar.
func (p *Progress) Finish() {
	if p.bar != nil {
		_ = p.bar.Finish() // an error in writing the bar is ignored
		p.bar = nil
	}
	p.title = ""
}
