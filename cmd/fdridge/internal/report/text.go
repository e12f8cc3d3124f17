package report

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/fdridge/fdridge/internal/printable"
)

// WriteText writes the report for a person.
func (f *Fit) WriteText(w io.Writer) error {
	w = printable.Writer(w)
	rec := f.record()
	fmt.Fprintf(w, "%d rows × %d features, %d target(s), read %d time(s) in %.2f s on %s (%s), %d MiB at most\n",
		rec.N, rec.D, rec.Targets, rec.Reads, float64(rec.TotalTime), rec.Backend, rec.Kernel, (rec.PeakRSS+1<<20-1)>>20)
	if rec.MethodReason != "" {
		fmt.Fprintf(w, "method %s: %s\n", rec.Method, rec.MethodReason)
	}
	if rec.Encoding != nil {
		for _, line := range []string{rec.Encoding.missing(), rec.Encoding.categorical()} {
			if line != "" {
				fmt.Fprintln(w, line)
			}
		}
	}
	if rec.HeldOut != nil {
		fmt.Fprintln(w, rec.HeldOut.sentence())
	}
	if rec.Penalties != nil {
		fmt.Fprintln(w, rec.Penalties)
	}
	if rec.Choice != nil {
		fmt.Fprintln(w, rec.Choice)
		if why := rec.Choice.reason(); why != "" {
			fmt.Fprintln(w, why)
		}
	}
	if rec.Size > 0 {
		kept := f.scatter()
		if kept == "" {
			kept = fmt.Sprintf("sketch of %d rows", rec.Size)
		}
		fmt.Fprintf(w, "%s%s in %.2f s, ‖AᵀA − BᵀB‖ ≤ %s\n", kept, f.lanes(), float64(rec.SketchTime), AtMost(rec.Fits[0].Shrinkage, 4))
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "\ngamma\ttarget\tmethod\tpasses\trelative error ≤\t‖x̂ − x*‖ ≤\ttraining R²\t"+rec.HeldOut.headings()+"effective dimension\tGCV\tstopped")
	for i, s := range rec.Fits {
		for j, c := range s.Certificates {
			fmt.Fprintf(tab, "%.6g\t%d\t%s\t%d\t%s\t%s\t%s\t%s%s\t%s\t%s\n", s.Gamma, j+1, s.Method, s.Passes,
				AtMost(c.RelativeErrorBound, 3), AtMost(c.ErrorBound, 3), figure(s.R2Bracket[j]), rec.HeldOut.cells(i, j), figure(s.EffectiveDimension), figure(c.GCV), s.Stop)
		}
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	if text := f.unproved(); text != "" {
		fmt.Fprintln(w, "\n"+text)
	}
	if rec.Ranks != nil {
		fmt.Fprintln(tab, "\nrank\trows\tseconds\tof which communicating\tsent\treceived")
		for _, k := range rec.Ranks {
			fmt.Fprintf(tab, "%d\t%d\t%.2f\t%.2f (%s)\t%s\t%s\n", k.Rank, k.Rows, float64(k.Seconds), float64(k.Waiting), percent(float64(k.Share)), megabytes(k.Sent), megabytes(k.Received))
		}
		if err := tab.Flush(); err != nil {
			return err
		}
	}
	for _, written := range [][2]string{{"model", rec.Model}, {"report", f.Written.Page}} {
		if written[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "\n%s written to %s\n", written[0], written[1]); err != nil {
			return err
		}
	}
	return nil
}

// unproved says of which weights nothing is proved, "" where there are none.
func (f *Fit) unproved() string {
	text := ""
	for _, s := range f.Found.Solutions {
		for j := range s.Targets {
			if s.Targets[j].Proves() {
				continue
			}
			if text != "" {
				text += "; "
			}
			text += fmt.Sprintf("gamma %.6g", s.Gamma)
			if len(s.Targets) > 1 {
				text += fmt.Sprintf(", target %d", j+1)
			}
		}
	}
	if text == "" {
		return ""
	}
	return "nothing is proved of these weights, no relative error below 1: " + text
}

func megabytes(b int64) string { return fmt.Sprintf("%.3g MB", float64(b)/1e6) }

// bytesOf writes a size, rounded up.
func bytesOf(b uint64) string {
	if b < 1<<30 {
		return fmt.Sprintf("%d MiB", (b+1<<20-1)>>20)
	}
	return fmt.Sprintf("%.1f GiB", math.Ceil(float64(b)/(1<<30)*10)/10)
}

func secondsOf(s float64) string {
	if s < 60 {
		return fmt.Sprintf("%.2g s", s)
	}
	return time.Duration(s * float64(time.Second)).Round(time.Second).String()
}

// plural is the word for n things.
func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
