package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/excerpt"
	"github.com/fdridge/fdridge/live"
	"github.com/fdridge/fdridge/ridge/window"
)

// liveFlags make of a sketch one that is written again and again, while rows come.
type liveFlags struct {
	every            time.Duration
	window, halfLife string
	gamma            string
	replay           bool

	flags   *pflag.FlagSet
	forgets window.Policy
	at      float64 // gamma; 0: it is chosen
}

// liveOnly are the flags that need --every, notLive those that it does not go with, and why.
var (
	liveOnly = []string{"window", "half-life", "gamma", "replay"}
	notLive  = map[string]string{
		"standardize": "the means and deviations of rows that are yet to come are not known",
		"cache":       "a cache grows without end",
		"part":        "of rows that are yet to come it is not known which part they are of; give each task its own",
		"transposed":  "it reads the rows again and again",
	}
)

func (o *liveFlags) register(f *pflag.FlagSet) {
	o.flags = f
	f.DurationVar(&o.every, "every", 0, "a live sketch: write --out again and again while rows come, at such intervals, at most; what it takes is left ten times in between. Each time a line of JSON tells of the interval. A run goes on from the file that it finds, which has lost the rows of the last interval at most; FILE.previous is the one before. End of rows, SIGTERM and Ctrl-C write it for the last time, exit code 0")
	f.StringVar(&o.window, "window", "", "with --every, the newest rows alone: the last N, or those that came in the last T, such as 90m")
	f.StringVar(&o.halfLife, "half-life", "", "with --every, each row counts half as much after N more, or after T, such as 90m")
	f.StringVar(&o.gamma, "gamma", "auto", "with --every, of the fit that predicts the rows of each interval before they are learned, for the JSON lines; auto: chosen each time by GCV, of the sketch; with --half-life it must be said")
	f.BoolVar(&o.replay, "replay", false, "with --every, where --data is a pipe whose rows begin anew with each run: leave out as many as the file has of them. Without it they are taken to go on. Files always begin anew")
}

// check validates the flags and reads them.
func (o *liveFlags) check() error {
	if !o.flags.Changed("every") {
		for _, name := range liveOnly {
			if o.flags.Changed(name) {
				return badInput("--%s: it is of live sketches: say --every", name)
			}
		}
		return nil
	}
	if o.every < time.Millisecond {
		return badInput("--every: %v, must be 1ms or more", o.every)
	}
	for _, name := range slices.Sorted(maps.Keys(notLive)) {
		if o.flags.Changed(name) {
			return badInput("--%s: it does not go with --every: %s", name, notLive[name])
		}
	}
	var err error
	switch {
	case o.window != "" && o.halfLife != "":
		return badInput("--half-life: it does not go with --window: rows fade, or they leave")
	case o.window != "":
		o.forgets.Rows, o.forgets.Duration, err = parseSpan("window", o.window)
	case o.halfLife != "":
		o.forgets.HalfLifeRows, o.forgets.HalfLife, err = parseSpan("half-life", o.halfLife)
	}
	if err != nil || o.gamma == "auto" {
		if err == nil && o.halfLife != "" {
			err = badInput("--gamma: with --half-life none can be chosen, for GCV counts rows, whatever they weigh: say one")
		}
		return err
	}
	if o.at, err = parseNumber(o.gamma); err != nil || !(o.at > 0) {
		return badInput("--gamma: %q is neither a positive number nor auto", excerpt.Of(o.gamma))
	}
	return nil
}

// outputs are the files that are written beside --out.
func (o *liveFlags) outputs(out string) (files []output) {
	if o.every > 0 && out != "" {
		for _, name := range live.Names(out)[1:] {
			files = append(files, output{"out", name})
		}
	}
	return files
}

// parseSpan reads a number of rows, or a time.
func parseSpan(flag, text string) (rows int64, over time.Duration, err error) {
	if rows, err = strconv.ParseInt(text, 10, 64); err == nil && rows > 0 {
		return rows, 0, nil
	}
	if over, err = time.ParseDuration(text); err == nil && over > 0 {
		return 0, over, nil
	}
	return 0, 0, badInput("--%s: %q is neither a number of rows nor a time, such as 1000, 90m or 48h", flag, excerpt.Of(text))
}

// A liveRun is a live sketch of the command.
type liveRun struct {
	*liveFlags
	in     *inputFlags
	size   *sketchFlags
	out    string
	stdout io.Writer
	stderr io.Writer
}

// runLive is runSketch for a live sketch.
func runLive(cmd *cobra.Command, o *liveRun, runs *runFlags) error {
	if o.window != "" && o.size.lanes > 1 {
		return badInput("--lanes: a window has one lane")
	}
	be, err := runs.backend()
	if err != nil {
		return err
	}
	o.stdout, o.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
	bar := newProgress(o.stderr, "none") // the lines of JSON tell how far it is
	defer bar.finish()
	return o.run(cmd.Context(), be, bar)
}

// run keeps the sketch until the rows end or the command is told to.
func (o *liveRun) run(ctx context.Context, be engine.Backend, bar *progress) (err error) {
	if err := wantSketch.check(o.out); err != nil {
		return badInput("--out: %w", err)
	}
	file, err := live.Open(o.out)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sketch, damage, err := file.Load(be)
	switch {
	case err != nil:
		return badInput("--out: a live sketch goes on from the file that is there, and cannot: %w", err)
	case damage != nil:
		bar.warn(o.stderr, fmt.Sprintf("%v: going on from %s", damage, live.Names(o.out)[1]))
	}
	d, err := openData(ctx, o.in, session{}, be, bar)
	if err != nil {
		if sketch != nil && ctx.Err() != nil {
			return nil // no rows came: the file has all there were
		}
		return err
	}
	described, err := d.describe(&o.in.rowFlags)
	if err != nil {
		return err
	}
	meta, err := json.Marshal(described)
	if err != nil {
		return err
	}
	_, dim, t := d.source.Dims()
	o.size.copied = o.in.piped() && o.window == ""
	if err := o.size.checkMemory(o.size.size, dim, t); err != nil {
		return err
	}
	cfg := window.Settings{Summary: o.size.config(be), Policy: o.forgets}
	cfg.Summary.Dim, cfg.Summary.Targets = dim, t
	run := live.Run{File: file, Every: o.every, Gamma: o.at, Blocks: live.Fixed, Tell: tellJSON(o.stdout)}
	if o.in.piped() {
		run.Blocks = live.FixedPrompt
	}
	if sketch == nil {
		if sketch, err = window.NewStream(cfg); err != nil {
			return err
		}
		sketch.SetMeta(meta)
	} else if run.Skip, err = o.goOn(sketch, cfg, meta); err != nil {
		return err
	}
	run.Sketch = sketch
	return run.Do(ctx, d.source)
}

// goOn checks that a sketch can go on with the rows at hand, which meta describes, says so, and returns how
// many of them it has.
func (o *liveRun) goOn(s window.Stream, cfg window.Settings, meta []byte) (skip int64, err error) {
	there, err := describedBy(s)
	if err == nil {
		var here description // as it is read, to be compared with what was
		if err := json.Unmarshal(meta, &here); err != nil {
			return 0, err
		}
		err = there.goesWith(&here)
	}
	if err == nil && len(there.Parts) > 0 {
		err = errors.New("it is of parts of files, which merge with the others")
	}
	if err == nil {
		err = live.CanGoOn(s, cfg)
	}
	if err != nil {
		return 0, badInput("--out: a live sketch goes on from %s, and cannot: %w; to begin anew say another --out, or remove %s", o.out, err, strings.Join(live.Kept(o.out), " and "))
	}
	n := s.Rows()
	if o.replay || !o.in.piped() {
		fmt.Fprintf(o.stderr, "fdridge: going on from %s: the first %d rows of %s are in it, and are left out\n", o.out, n, dataName(o.in.data.value))
		return n, nil
	}
	fmt.Fprintf(o.stderr, "fdridge: going on from %s, which has %d rows: the first that comes is row %d; --replay, where they begin anew\n", o.out, n, n+1)
	return 0, nil
}

// tellJSON tells of intervals as lines of JSON.
func tellJSON(w io.Writer) func(live.Interval) error {
	lines := json.NewEncoder(w)
	return func(i live.Interval) error { return lines.Encode(i) }
}
