package main

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge"
)

func mergeCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "merge A B… --out ALL",
		Short: "Merge sketches of parts of the rows into one",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cli.BadInput("merge needs at least two sketches, not %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return cli.BadInput("--out: it needs a file")
			}
			if err := cli.CheckOutput("out", out); err != nil {
				return err
			}
			return runMerge(cmd.Context(), args, out, cmd.OutOrStdout())
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "write the merged sketch to FILE, which may be one of the inputs")
	return c
}

func runMerge(ctx context.Context, names []string, out string, stdout io.Writer) error {
	be, err := engine.Default()
	if err != nil {
		return cli.BadInput("%w", err)
	}
	if err := checkDistinct(names); err != nil {
		return err
	}
	var all *ridge.Summary
	var first *description
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		sum, d, err := load(name, be)
		if err != nil {
			return err
		}
		if all == nil {
			all, first = sum, d
			rows, err := rowsOf(sum.Config())
			if err != nil {
				return err
			}
			if err := checkLoadMemory(name, float64(sum.Config().Dim), rows); err != nil {
				return err
			}
			continue
		}
		if err := first.join(d); err != nil {
			return cli.BadInput("%s and %s cannot be merged: %w", names[0], name, err)
		}
		if err := all.Merge(sum); err != nil {
			return cli.BadInput("%s: %w", name, err)
		}
	}
	if err := first.save("out", out, all); err != nil {
		return err
	}
	return cli.FirstError(printSketch(stdout, out, all), first.printParts(stdout, out, all.Rows() == 0))
}

// checkDistinct returns an error if two of the file names refer to the same file, because its rows would count
// twice.
func checkDistinct(names []string) error {
	for i, name := range names {
		same := func(other string) bool { return cli.SameFile(other, name) }
		if j := slices.IndexFunc(names[:i], same); j >= 0 {
			return cli.BadInput("%s and %s are the same file: its rows would count twice", names[j], name)
		}
	}
	return nil
}
