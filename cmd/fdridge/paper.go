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

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/internal/rss"
	"github.com/fdridge/fdridge/paper"
)

// paperOptions holds the flags of the command paper.
type paperOptions struct {
	cfg                  paper.Config
	figures, ratio       cli.List
	rows                 string
	gamma                cli.Single
	threads              int
	threadsGiven, asJSON bool
}

func paperCommand() *cobra.Command {
	o := &paperOptions{gamma: cli.Single{Hint: "; several are one list, G,G"}}
	c := &cobra.Command{
		Use:   "paper",
		Short: "Redraw the figures of the paper and judge its claims",
		Long: `Repeat the experiments of C. Dickens, "Ridge Regression with Frequent Directions" (2020), and two
of our own. The command writes figures/figureN.png, .svg, .csv and .json, and RESULTS.md, which
compares each claim of the paper with the numbers. A flag replaces the paper's setting in every
figure.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.threadsGiven = cmd.Flags().Changed("threads")
			// 0 means the default, so it cannot be given
			for _, flag := range []string{"size", "dim", "noise", "trials", "iterations"} {
				if f := cmd.Flags().Lookup(flag); f.Changed && f.Value.String() == "0" {
					return cli.BadInput("--%s: 0, must be positive", flag)
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
	f.Var(&o.figures, "figures", "figures to draw, a list of numbers (default: all)")
	f.StringVar(&o.cfg.Out, "out", "paper-results", "write the results into this folder")
	f.BoolVar(&o.cfg.Quick, "quick", false, "use small sizes, as a test")
	f.Uint64Var(&o.cfg.Seed, "seed", 1, "seed of all random numbers")
	f.StringVar(&o.rows, "rows", "", "number of rows, or all (default: 1024 synthetic, 10000 real)")
	f.IntVar(&o.cfg.Size, "size", 0, "rows of the sketches (default: 256)")
	f.Var(&o.gamma, "gamma", "regularisations, a list (default: 2⁻⁸…2⁶, figures 3 to 5: 10,100,1000)")
	f.IntVar(&o.cfg.Dim, "dim", 0, "number of synthetic features, figures 1 and 2 (default: 512)")
	f.Var(&o.ratio, "ratio", "effective dimension / d, figures 1 and 2 (default: 0.15,0.25)")
	f.Float64Var(&o.cfg.Noise, "noise", 0, "standard deviation of the noise, figures 1 and 2 (default: 2)")
	f.IntVar(&o.cfg.Trials, "trials", 0, "number of trials of random methods, figures 1 and 2 (default: 10)")
	f.StringVar(
		&o.cfg.Data,
		"data",
		os.Getenv("FDRIDGE_DATA"),
		"folder of the real data, figures 3 to 7; or set FDRIDGE_DATA",
	)
	f.StringVar(&o.cfg.Features, "features", "", "rff:D,gamma=G,seed=S, poly:K or none (default: rff:1024,gamma=1)")
	f.IntVar(&o.cfg.Iterations, "iterations", 0, "number of iterations, figures 3 to 5 (default: 10)")
	f.IntVar(&o.threads, "threads", 0, "number of threads (default: all cores)")
	f.BoolVar(&o.asJSON, "json", false, "print one JSON object instead of text")
	// The folder in FDRIDGE_DATA is hidden from --help.
	f.Lookup("data").DefValue = ""
	return c
}

// commandLine returns the given command line. It leaves out --out, --data and --json, which do not change the
// computed numbers.
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

// check copies the values of the flags to o.cfg and returns an error if one cannot be parsed. The function
// paper.Run checks the values further.
func (o *paperOptions) check() error {
	var err error
	switch {
	case o.threadsGiven && (o.threads < 1 || o.threads > 1024):
		return cli.BadInput("--threads: %d, must be 1 to 1024", o.threads)
	case o.cfg.Out == "":
		return cli.BadInput("--out: it needs a folder")
	case o.rows == "all":
		o.cfg.Rows = -1
	case o.rows != "":
		o.cfg.Rows, err = strconv.ParseInt(o.rows, 10, 64)
		if err != nil || o.cfg.Rows < 1 {
			return cli.BadInput("--rows: %q must be a number >= 1 or all", o.rows)
		}
	}
	for _, s := range o.figures.Items {
		f, err := strconv.Atoi(s)
		if err != nil {
			return cli.BadInput("--figures: %q is not a number", s)
		}
		o.cfg.Figures = append(o.cfg.Figures, f)
	}
	if o.gamma.Given {
		o.cfg.Gammas, err = cli.ParseGammas(o.gamma.Value, false)
		if err != nil {
			return err
		}
		slices.Sort(o.cfg.Gammas)
		o.cfg.Gammas = slices.Compact(o.cfg.Gammas)
	}
	for _, s := range o.ratio.Items {
		r, err := cli.ParseNumber(s)
		if err != nil {
			return cli.BadInput("--ratio: %q is not a number", s)
		}
		o.cfg.Ratios = append(o.cfg.Ratios, r)
	}
	return nil
}

// paperReport is the JSON object that paper --json prints.
type paperReport struct {
	Figures   []int    `json:"figures"`
	Results   string   `json:"results"` // path of RESULTS.md
	Files     []string `json:"files"`   // paths of all written files
	TotalTime float64  `json:"total_seconds"`
	PeakRSS   int64    `json:"peak_rss_bytes"`
}

func (o *paperOptions) run(ctx context.Context, stdout, stderr io.Writer) error {
	if o.threads > 0 {
		runtime.GOMAXPROCS(o.threads)
	}
	bar := cli.NewProgress(stderr, "auto")
	defer bar.Finish()
	o.cfg.Progress = func(s paper.Progress) {
		bar.Fraction(fmt.Sprintf("figure %d: %s", s.Figure, s.What), s.Done)
	}
	start := time.Now()
	files, err := paper.Run(ctx, o.cfg)
	bar.Finish()
	if err != nil {
		return err
	}
	rep := paperReport{
		Figures:   o.cfg.Figures,
		Results:   filepath.Join(o.cfg.Out, "RESULTS.md"),
		Files:     files,
		TotalTime: time.Since(start).Seconds(),
		PeakRSS:   rss.Peak(),
	}
	if rep.Figures == nil {
		rep.Figures = paper.Figures()
	}
	if o.asJSON {
		return report.WriteJSON(stdout, rep)
	}
	_, err = fmt.Fprintf(
		stdout,
		"figures %v in %.1f s; %d files written, verdicts in %s\n",
		rep.Figures,
		rep.TotalTime,
		len(rep.Files),
		rep.Results,
	)
	return err
}
