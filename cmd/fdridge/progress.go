package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/fdridge/fdridge/ridge"
)

// progress shows how far the passes are, on a terminal alone.
type progress struct {
	w     io.Writer // nil where there is no terminal
	bar   *progressbar.ProgressBar
	title string
}

func newProgress(w io.Writer) *progress {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &progress{w: w}
	}
	return &progress{}
}

// show moves the bar; total is -1 while unknown.
func (p *progress) show(title string, rows, total int64) {
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(p.w), progressbar.OptionShowIts(), progressbar.OptionSetItsString("rows"),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(total > 0))
	}
	if title != p.title {
		p.bar.Reset()
		p.bar.Describe(title)
		p.title = title
	}
	// What a progress bar cannot write is no reason to stop.
	_ = p.bar.Set64(rows)
}

// rows returns a callback for a pass of unknown length, nil without a terminal.
func (p *progress) rows(title string) func(int64) {
	if p.w == nil {
		return nil
	}
	return func(rows int64) { p.show(title, rows, -1) }
}

// passes returns a callback for refining passes of n rows.
func (p *progress) passes(n int64) func(ridge.Progress) {
	if p.w == nil {
		return nil
	}
	p.finish()
	return func(s ridge.Progress) {
		p.show(fmt.Sprintf("pass %d, error ≤ %.1e", s.Pass, s.RelativeError), s.Rows, n)
	}
}

// finish clears the bar.
func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish() // as in show
		p.bar, p.title = nil, ""
	}
}
