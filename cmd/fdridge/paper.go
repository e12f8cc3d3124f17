package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/internal/rss"
	"github.com/fdridge/fdridge/paper"
)

// paperOptions are the flags of paper.
type paperOptions struct {
	cfg                  paper.Config
	figures, rows        string
	gamma, ratio         once
	threads              int
	threadsGiven, asJSON bool
}

func paperCommand() *cobra.Command {
	o := &paperOptions{
		gamma: once{hint: "; several are one list, G,G"},
		ratio: once{hint: "; several are one list, R,R"},
	}
	c := &cobra.Command{
		Use:   "paper",
		Short: "Redraw the figures of the paper, and ours, and judge its claims",
		Long: `Runs the experiments of C. Dickens, "Ridge Regression with Frequent Directions"
(2020), and two of ours, and writes figures/figureN.png, .svg, .csv and .json and
RESULTS.md, which judges each claim of the paper by the numbers. A flag that is not
given is each figure's own setting, the paper's; one that is given holds for every
figure that knows it.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.threadsGiven = cmd.Flags().Changed("threads")
			for _, flag := range []string{"size", "dim", "noise", "trials", "iterations"} { // 0 is the default
				if f := cmd.Flags().Lookup(flag); f.Changed && f.Value.String() == "0" {
					return badInput("--%s: 0, must be positive", flag)
				}
			}
			o.cfg.Command = commandLine(cmd)
			if err := o.check(); err != nil {
				return err
			}
			return o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.StringVar(&o.figures, "figures", "", fmt.Sprintf("those to draw, of %v (default: all)", paper.Figures()))
	f.StringVar(&o.cfg.Out, "out", "paper-results", "folder for the results")
	f.BoolVar(&o.cfg.Quick, "quick", false, "small sizes, to see that all works")
	f.Uint64Var(&o.cfg.Seed, "seed", 1, "all that is random follows from it")
	f.StringVar(&o.rows, "rows", "", "rows n, or all there are of the real data (default: 1024 synthetic, 10000 real)")
	f.IntVar(&o.cfg.Size, "size", 0, "rows m of the sketches (default: 256)")
	f.Var(&o.gamma, "gamma", "regularisations γ, a list (default: 2⁻⁸ to 2⁶ for figures 1 and 2; 10,100,1000 for 3 to 5)")
	f.IntVar(&o.cfg.Dim, "dim", 0, "features d of the synthetic data, figures 1 and 2 (default: 512)")
	f.Var(&o.ratio, "ratio", "effective dimension over d of figures 1 and 2, a list (default: 0.15,0.25)")
	f.Float64Var(&o.cfg.Noise, "noise", 0, "standard deviation of the noise, figures 1 and 2 (default: 2)")
	f.IntVar(&o.cfg.Trials, "trials", 0, "trials of the random methods, figures 1 and 2 (default: 10)")
	f.StringVar(&o.cfg.Data, "data", os.Getenv("FDRIDGE_DATA"), "folder of the real data, figures 3 to 7; also FDRIDGE_DATA")
	f.BoolVar(&o.cfg.Fetch, "fetch", false, "fetch data that are missing from their public home, and check them")
	f.StringVar(&o.cfg.Features, "features", "", "features of the real data: rff:D,gamma=G,seed=S or poly:K or none (default: rff:1024,gamma=1 with --seed)")
	f.IntVar(&o.cfg.Iterations, "iterations", 0, "iterations, figures 3 to 5 (default: 10)")
	f.IntVar(&o.threads, "threads", 0, "threads to use (default: all)")
	f.BoolVar(&o.asJSON, "json", false, "print one JSON object")
	// The folder of FDRIDGE_DATA is no default to show.
	f.Lookup("data").DefValue = ""
	return c
}

// commandLine is the command with the flags that decide the numbers, for the
// record: not where files are, nor how to print.
func commandLine(cmd *cobra.Command) string {
	words := []string{cmd.CommandPath()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case slices.Contains([]string{"out", "data", "json"}, f.Name):
		case f.Value.Type() == "bool":
			words = append(words, "--"+f.Name+"="+f.Value.String())
		default:
			words = append(words, "--"+f.Name, f.Value.String())
		}
	})
	return strings.Join(words, " ")
}

// check turns the flags into a paper.Config. paper.Run checks their values.
func (o *paperOptions) check() error {
	var err error
	switch {
	case o.threadsGiven && (o.threads < 1 || o.threads > 1024):
		return badInput("--threads: %d, must be 1 to 1024", o.threads)
	case o.cfg.Out == "":
		return badInput("--out: no folder is named")
	case o.rows == "all":
		o.cfg.Rows = -1
	case o.rows != "":
		if o.cfg.Rows, err = strconv.ParseInt(o.rows, 10, 64); err != nil || o.cfg.Rows < 1 {
			return badInput("--rows: %q must be a number >= 1 or all", o.rows)
		}
	}
	for _, s := range splitList(o.figures) {
		f, err := strconv.Atoi(s)
		if err != nil {
			return badInput("--figures: %q is not a number", s)
		}
		o.cfg.Figures = append(o.cfg.Figures, f)
	}
	if o.figures != "" && o.cfg.Figures == nil {
		return badInput("--figures: %q names none", o.figures)
	}
	if o.gamma.set {
		if o.cfg.Gammas, err = parseGammas(o.gamma.value, false); err != nil {
			return err
		}
		slices.Sort(o.cfg.Gammas)
		o.cfg.Gammas = slices.Compact(o.cfg.Gammas)
	}
	for _, s := range splitList(o.ratio.value) {
		r, err := parseNumber(s)
		if err != nil {
			return badInput("--ratio: %q is not a number", s)
		}
		o.cfg.Ratios = append(o.cfg.Ratios, r)
	}
	return nil
}

// paperReport is the object that paper --json prints.
type paperReport struct {
	Figures   []int    `json:"figures"`
	Results   string   `json:"results"` // RESULTS.md
	Files     []string `json:"files"`   // all that was written
	TotalTime float64  `json:"total_seconds"`
	PeakRSS   int64    `json:"peak_rss_bytes"`
}

func (o *paperOptions) run(ctx context.Context, stdout, stderr io.Writer) error {
	if o.threads > 0 {
		runtime.GOMAXPROCS(o.threads)
	}
	bar := newProgress(stderr, "auto")
	defer bar.finish()
	o.cfg.Progress = bar.figures()
	start := time.Now()
	files, err := paper.Run(ctx, o.cfg)
	bar.finish()
	if err != nil {
		return err
	}
	rep := paperReport{
		Figures: o.cfg.Figures, Results: filepath.Join(o.cfg.Out, "RESULTS.md"), Files: files,
		TotalTime: time.Since(start).Seconds(), PeakRSS: rss.Peak(),
	}
	if rep.Figures == nil {
		rep.Figures = paper.Figures()
	}
	if o.asJSON {
		return report.WriteJSON(stdout, rep)
	}
	_, err = fmt.Fprintf(stdout, "figures %v in %.1f s; %d files written, the verdicts to %s\n", rep.Figures, rep.TotalTime, len(rep.Files), rep.Results)
	return err
}

// figures returns a callback for the experiments, nil without a terminal.
func (p *progress) figures() func(paper.Progress) {
	if p.w == nil {
		return nil
	}
	const whole = 1000
	return func(s paper.Progress) {
		if p.bar == nil {
			p.bar = progressbar.NewOptions(whole, progressbar.OptionSetWriter(p.w), progressbar.OptionThrottle(100*time.Millisecond),
				progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(true))
		}
		p.bar.Describe(fmt.Sprintf("figure %d: %s", s.Figure, s.What))
		_ = p.bar.Set(int(whole * min(s.Done, 0.999))) // as in show; a full bar would end
	}
}
