package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/atomicfile"
)

// plotOptions are the flags of plot.
type plotOptions struct{ out, kind string }

func plotCommand() *cobra.Command {
	o := &plotOptions{}
	c := &cobra.Command{
		Use:   "plot FILE… --out CHART.png|CHART.svg",
		Short: "Draw the path over γ, a sketch's spectrum, or the convergence of a fit",
		Long: `Draws what fit --json or solve --json printed, a model of several γ that --out
wrote, or a sketch; of several files side by side.

path: GCV, training error and effective dimension against γ, each as the bracket
that is proved, with the γ chosen and those that the sketch leaves open.
spectrum: the squared singular values of a sketch beside its bound η.
convergence: the certified relative error after each pass beside what the sketch's
bound predicted before the first.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return badInput("plot needs a file: what fit --json printed, a model or a sketch")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(args); err != nil {
				return err
			}
			return o.run(args, cmd.OutOrStdout())
		},
	}
	c.Flags().StringVarP(&o.out, "out", "o", "", "the picture to write, .png or .svg")
	c.Flags().StringVar(&o.kind, "kind", "", strings.Join(report.Kinds, ", ")+" (default: what the files hold, where that is one of these)")
	return c
}

func (o *plotOptions) check(names []string) error {
	if o.out == "" {
		return badInput("--out: no file is named")
	}
	if ext := filepath.Ext(o.out); ext != ".png" && ext != ".svg" {
		return badInput("--out: %s must end in .png or .svg", o.out)
	}
	if o.kind != "" {
		if err := oneOf("kind", o.kind, report.Kinds...); err != nil {
			return err
		}
	}
	return firstError(checkOut(o.out), distinct(names, output{"out", o.out}))
}

func (o *plotOptions) run(names []string, stdout io.Writer) error {
	all := make([]*report.Drawable, len(names))
	for i, name := range names {
		var err error
		if all[i], err = readDrawable(name); err != nil {
			return err
		}
	}
	kind, err := report.ChooseKind(o.kind, all)
	if err != nil {
		return err
	}
	f, err := report.Draw(kind, all)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(o.out, func(w io.Writer) error { return f.Save(w, filepath.Ext(o.out)[1:]) }); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	note := ""
	if n := len(f.LeftOut()); n > 0 {
		note = fmt.Sprintf("; %d values are zero or not finite and not drawn", n)
	}
	_, err = fmt.Fprintf(stdout, "%s: %s of %s%s\n", o.out, kind, strings.Join(names, ", "), note)
	return err
}

// readDrawable reads a report or a model, or a sketch.
func readDrawable(name string) (*report.Drawable, error) {
	if err := wantChart.check(name); err != nil {
		return nil, err
	}
	text, err := readText(name)
	if err != nil {
		return nil, badInput("%w", err)
	}
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return report.OfText(name, text)
	}
	be, err := engine.Default()
	if err != nil {
		return nil, badInput("%w", err)
	}
	sum, _, err := load(name, be)
	if err != nil {
		return nil, fmt.Errorf("neither JSON nor a sketch: %w", err)
	}
	return report.OfSummary(name, sum)
}
