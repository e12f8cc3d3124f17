package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/internal/fileformat"
	"github.com/fdridge/fdridge/internal/safefile"
)

// plotOptions holds the flags of the command plot.
type plotOptions struct{ out, kind string }

func plotCommand() *cobra.Command {
	o := &plotOptions{}
	c := &cobra.Command{
		Use:   "plot FILE… --out CHART.png|CHART.svg",
		Short: "Draw a regularisation path, a spectrum or the convergence of a fit",
		Long: `Draw a report of fit --json or solve --json, a model with several gammas, or a sketch. Several
files are drawn side by side.

  path         GCV, training error and effective dimension against gamma, each with its proved
               bracket; marks the chosen gamma and those that could also be the best
  spectrum     squared singular values of a sketch, with the bound η of its error
  convergence  relative error after each pass, proved and as predicted before the first pass`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.BadInput("plot needs a file: a report of fit --json, a model or a sketch")
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
	c.Flags().StringVarP(&o.out, "out", "o", "", "write the picture to FILE, .png or .svg")
	c.Flags().StringVar(
		&o.kind,
		"kind",
		"",
		"what to draw: "+strings.Join(report.Kinds, ", ")+" (default: the only one in the files)",
	)
	cli.SetValues(c.Flags(), "kind", report.Kinds...)
	return c
}

func (o *plotOptions) check(names []string) error {
	if o.out == "" {
		return cli.BadInput("--out: it needs a file")
	}
	if err := checkPicture("out", o.out); err != nil {
		return err
	}
	if o.kind != "" {
		if err := cli.OneOf("kind", o.kind, report.Kinds...); err != nil {
			return err
		}
	}
	return cli.FirstError(cli.CheckOut(o.out), cli.Distinct(names, cli.Output{Flag: "out", Path: o.out}))
}

func (o *plotOptions) run(names []string, stdout io.Writer) error {
	all := make([]*report.Drawable, len(names))
	for i, name := range names {
		var err error
		all[i], err = readDrawable(name)
		if err != nil {
			return err
		}
	}
	kind, err := report.ChooseKind(o.kind, all)
	if err != nil {
		return err
	}
	f := report.Draw(kind, all)
	if err := savePicture(f, "out", o.out); err != nil {
		return err
	}
	note := ""
	if n := len(f.LeftOut()); n > 0 {
		note = fmt.Sprintf("; %d values are zero or not finite and not drawn", n)
	}
	_, err = fmt.Fprintf(stdout, "%s: %s of %s%s\n", o.out, kind, strings.Join(names, ", "), note)
	return err
}

// checkPicture returns an error unless a file name ends in .png or .svg. flag is the name of the flag that gave the
// file name.
func checkPicture(flag, name string) error {
	if ext := filepath.Ext(name); ext != ".png" && ext != ".svg" {
		return cli.BadInput("--%s: %s must end in .png or .svg", flag, name)
	}
	return nil
}

// savePicture writes a figure to a file whose name checkPicture has accepted. flag is the name of the flag that
// gave the file name.
func savePicture(f *chart.Figure, flag, name string) error {
	err := safefile.Write(name, func(w io.Writer) error {
		return f.Save(w, filepath.Ext(name)[1:])
	})
	if err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	return nil
}

// readDrawable reads a JSON report, a model or a sketch. It returns the charts that can be drawn of it.
func readDrawable(name string) (*report.Drawable, error) {
	if err := cli.WantChart.Check(name); err != nil {
		return nil, err
	}
	text, err := cli.ReadText(name)
	if err != nil {
		return nil, cli.BadInput("%w", err)
	}
	if fileformat.Of(text) == fileformat.Model {
		m, err := readModel("", name)
		if err != nil {
			return nil, err
		}
		return report.OfModel(name, m)
	}
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return report.OfReport(name, text)
	}
	be, err := engine.Default()
	if err != nil {
		return nil, cli.BadInput("%w", err)
	}
	sum, _, err := load(name, be)
	if err != nil {
		return nil, fmt.Errorf("neither JSON nor a sketch: %w", err)
	}
	return report.OfSummary(name, sum)
}
