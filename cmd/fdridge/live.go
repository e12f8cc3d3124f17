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

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/input"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/jsonfields"
	"github.com/fdridge/fdridge/live"
	"github.com/fdridge/fdridge/ridge/window"
	"github.com/fdridge/fdridge/table"
)

// liveFlags are the flags of a live sketch. The file of a live sketch is rewritten at intervals while rows arrive.
type liveFlags struct {
	every            time.Duration
	window, halfLife string
	gamma            string
	replay           bool

	flags   *pflag.FlagSet
	forgets window.Policy
	at      float64 // γ as a number; 0: chosen at each interval
}

// liveOnly lists the flags that need --every. notLive maps the flags that cannot be given together with --every to
// the reasons.
var (
	liveOnly = []string{"window", "half-life", "gamma", "replay"}
	notLive  = map[string]string{
		"standardize": "the means and deviations of future rows are unknown",
		"cache":       "the cache would grow without limit",
		"part":        "future rows cannot be divided into parts; give each task its own rows",
		"transposed":  "it reads the rows several times",
	}
)

func (o *liveFlags) register(f *pflag.FlagSet) {
	o.flags = f
	f.DurationVar(&o.every, "every", 0, "write --out at this interval while rows arrive, until they end or Ctrl-C")
	f.StringVar(&o.window, "window", "", "keep only the newest rows: a number, or a time like 90m")
	f.StringVar(&o.halfLife, "half-life", "", "halve the weight of a row after so many rows, or a time like 90m")
	f.StringVar(&o.gamma, "gamma", "auto", "gamma of the fit that scores each interval")
	f.BoolVar(&o.replay, "replay", false, "the pipe repeats its rows in each run: skip those already in the file")
}

// check validates and parses the flags.
func (o *liveFlags) check() error {
	if !o.flags.Changed("every") {
		for _, name := range liveOnly {
			if o.flags.Changed(name) {
				return cli.BadInput("--%s: it needs --every", name)
			}
		}
		return nil
	}
	if o.every < time.Millisecond {
		return cli.BadInput("--every: %v, must be 1ms or more", o.every)
	}
	for _, name := range slices.Sorted(maps.Keys(notLive)) {
		if o.flags.Changed(name) {
			return cli.BadInput("--%s: it excludes --every: %s", name, notLive[name])
		}
	}
	var err error
	switch {
	case o.window != "" && o.halfLife != "":
		return cli.BadInput("--half-life: it forgets old rows, and so does --window; leave out one of the two")
	case o.window != "":
		o.forgets.Rows, o.forgets.Duration, err = parseSpan("window", o.window)
	case o.halfLife != "":
		o.forgets.HalfLifeRows, o.forgets.HalfLife, err = parseSpan("half-life", o.halfLife)
	}
	if err != nil || o.gamma == "auto" {
		if err == nil && o.halfLife != "" {
			err = cli.BadInput(
				"--gamma: with --half-life give a number, because GCV counts rows regardless of their weights",
			)
		}
		return err
	}
	o.at, err = cli.ParseNumber(o.gamma)
	if err != nil || !(o.at > 0) {
		return cli.BadInput("--gamma: %q is neither a positive number nor auto", errtext.Excerpt(o.gamma))
	}
	return nil
}

// outputs returns the files that a live sketch writes in addition to the file out.
func (o *liveFlags) outputs(out string) (files []cli.Output) {
	if o.every > 0 && out != "" {
		for _, name := range live.Names(out)[1:] {
			files = append(files, cli.Output{Flag: "out", Path: name})
		}
	}
	return files
}

// parseSpan parses a number of rows, such as 1000, or a duration, such as 90m. It returns 0 for whichever of rows
// and over the text does not contain.
func parseSpan(flag, text string) (rows int64, over time.Duration, err error) {
	rows, err = strconv.ParseInt(text, 10, 64)
	if err == nil && rows > 0 {
		return rows, 0, nil
	}
	over, err = time.ParseDuration(text)
	if err == nil && over > 0 {
		return 0, over, nil
	}
	return 0, 0, cli.BadInput(
		"--%s: %q is neither a number of rows nor a time; examples: 1000, 90m, 48h",
		flag,
		errtext.Excerpt(text),
	)
}

// A liveRun holds the flags and the output streams of the command sketch --every.
type liveRun struct {
	*liveFlags
	in     *input.Flags
	size   *sketchFlags
	out    string
	stdout io.Writer
	stderr io.Writer
}

// runLive runs the command sketch --every. It returns an error if --window is given and --lanes is above 1, because
// the rows of a window are not sketched in parallel.
func runLive(cmd *cobra.Command, o *liveRun, runs *runFlags) error {
	if o.window != "" && o.size.lanes > 1 {
		return cli.BadInput("--lanes: a window has one lane")
	}
	be, err := runs.backend()
	if err != nil {
		return err
	}
	o.stdout, o.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
	bar := cli.NewProgress(o.stderr, "none") // the live sketch prints its progress as lines of JSON
	defer bar.Finish()
	return o.run(cmd.Context(), be, bar)
}

// run updates the live sketch until the rows end or the user interrupts the command.
func (o *liveRun) run(ctx context.Context, be engine.Backend, bar *cli.Progress) (err error) {
	if err := cli.WantSketch.Check(o.out); err != nil {
		return cli.BadInput("--out: %w", err)
	}
	file, err := live.Open(o.out)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sketch, damage, err := file.Load(be)
	switch {
	case err != nil:
		return cli.BadInput("--out: the existing file cannot be continued as a live sketch: %w", err)
	case damage != nil:
		bar.Warn(o.stderr, fmt.Sprintf("%s; continuing from %s", errtext.Error(damage), live.Names(o.out)[1]))
	}
	d, err := o.in.Open(ctx, table.Env{}, be, bar)
	if err != nil {
		if sketch != nil && ctx.Err() != nil {
			return nil // no new rows have arrived, so the file is complete
		}
		return err
	}
	input.Warn(d, bar, o.stderr)
	described, err := describe(d, o.in.Target.Value)
	if err != nil {
		return err
	}
	meta, err := json.Marshal(described)
	if err != nil {
		return err
	}
	_, dim, t := d.Source.Dims()
	o.size.copied = o.in.Piped() && o.window == ""
	if err := o.size.checkMemory(o.size.size, dim, t); err != nil {
		return err
	}
	cfg := window.Settings{Summary: o.size.config(be), Policy: o.forgets}
	cfg.Summary.Dim, cfg.Summary.Targets = dim, t
	run := live.Run{
		File:   file,
		Every:  o.every,
		Gamma:  o.at,
		Blocks: live.Fixed,
		Tell:   func(i live.Interval) error { return jsonfields.Encode(o.stdout, i, "") },
	}
	if o.in.Piped() {
		run.Blocks = live.FixedPrompt
	}
	if sketch == nil {
		sketch, err = window.NewStream(cfg)
		if err != nil {
			return err
		}
		sketch.SetMeta(meta)
	} else if run.Skip, err = o.resume(sketch, cfg, meta); err != nil {
		return err
	}
	run.Sketch = sketch
	if err := run.Do(ctx, d.Source); err != nil {
		return err
	}
	input.RemarkEnd(d.Rows, bar, o.stderr)
	return nil
}

// resume prepares to add rows to the existing live sketch s. It returns an error if s does not match the
// description meta or the settings cfg. The result skip is the number of rows at the start of the data that s
// already contains.
func (o *liveRun) resume(s window.Stream, cfg window.Settings, meta []byte) (skip int64, err error) {
	there, err := readDescription(s)
	if err == nil {
		var here description // decoded from JSON, as readDescription does
		if err := json.Unmarshal(meta, &here); err != nil {
			return 0, err
		}
		err = there.checkSame(&here)
	}
	if err == nil && len(there.Parts) > 0 {
		err = errors.New("it has parts of files (--part)")
	}
	if err == nil {
		err = live.CheckSettings(s, cfg)
	}
	if err != nil {
		return 0, cli.BadInput(
			"--out: %s cannot be continued as a live sketch: %w; use another --out, or remove %s",
			o.out,
			err,
			strings.Join(live.Kept(o.out), " and "),
		)
	}
	n := s.Rows()
	if o.replay || !o.in.Piped() {
		fmt.Fprintf(
			o.stderr,
			"fdridge: continuing from %s: the first %d rows of %s are in it already and are skipped\n",
			o.out,
			n,
			input.Name(o.in.Data.Value),
		)
		return n, nil
	}
	fmt.Fprintf(
		o.stderr,
		"fdridge: continuing from %s with %d rows: the next row is row %d; use --replay if the rows start again\n",
		o.out,
		n,
		n+1,
	)
	return 0, nil
}
