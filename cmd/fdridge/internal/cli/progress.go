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
	"github.com/fdridge/fdridge/internal/jsonfields"
	"github.com/fdridge/fdridge/internal/printable"
	"github.com/fdridge/fdridge/internal/rss"
	"github.com/fdridge/fdridge/ridge"
)

// Progress shows the progress of passes: as a bar on a terminal, or as a line of JSON each second.
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

// NewProgress returns a Progress that writes to w, for a value of --log-format. "auto" shows a bar if w is a
// terminal, and nothing otherwise.
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

// keepFloat makes slog write a float64 with a point or an exponent.
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

// Watch returns a context for a pass over the rows. Readers record in this context how long they wait, for example
// for the disk.
func (p *Progress) Watch(ctx context.Context) context.Context {
	if p.isQuiet() {
		return ctx
	}
	return p.waits.Context(ctx)
}

// waited returns how many seconds the current pass has waited so far. The keys name what it waited for, such as the
// disk. It also returns these times in words, as percentages of elapsed, the duration of the pass in seconds.
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

// A rate is the position and the speed of a pass.
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

// Rows returns a callback that shows the progress of a pass over src; its argument is the number of rows read so far.
// Rows returns nil if nothing is shown.
func (p *Progress) Rows(title string, src dataset.Source) func(int64) {
	if p.isQuiet() {
		return nil
	}
	return func(rows int64) {
		n, d, _ := src.Dims()
		p.show(title, rows, n, d)
	}
}

// passes returns a callback that shows the progress of refining passes over n rows of d features.
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

// Fit returns a callback that shows the progress of a fit to src, or nil if nothing is shown. countRows returns the
// number of rows of a refining pass; it is called at the first refining pass.
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

// Checkpoint reports an event of a checkpoint in the log. Without a log, errors are printed on stderr. The resumption
// of a run is also printed, if isLeader is true.
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

// Warn writes a warning to the log. Without a log the warning is a line on stderr.
func (p *Progress) Warn(stderr io.Writer, message string) {
	message = printable.Text(message)
	if p.log != nil {
		p.log.Warn(message)
		return
	}
	p.Finish()
	fmt.Fprintln(stderr, "fdridge: warning: "+message)
}

// Remark writes a remark about a text file to the log. Without a log it is a line on stderr, and a warning if the
// remark is a doubt.
func (p *Progress) Remark(stderr io.Writer, r dataset.Remark) {
	if r.Doubt {
		p.Warn(stderr, r.String())
		return
	}
	message := printable.Text(r.String())
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
