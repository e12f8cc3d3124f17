package main

import (
	"context"
	"io"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge"
	"github.com/spf13/cobra"
)

func mergeCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "merge A B… --out ALL",
		Short: "Merge sketches into that of all their rows",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return badInput("merge needs two sketches or more, %d are named", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return badInput("--out: no file is named")
			}
			if err := checkOutput("out", out); err != nil {
				return err
			}
			return runMerge(cmd.Context(), args, out, cmd.OutOrStdout())
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "the file to write; may be one of those merged")
	return c
}

func runMerge(ctx context.Context, names []string, out string, stdout io.Writer) error {
	be, err := engine.Default()
	if err != nil {
		return badInput("%w", err)
	}
	if err := refuseTwice(names); err != nil {
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
			return badInput("%s and %s don't go together: %w", names[0], name, err)
		}
		if err := all.Merge(sum); err != nil {
			return badInput("%s: %w", name, err)
		}
	}
	if err := first.save("out", out, all); err != nil {
		return err
	}
	return firstError(printSketch(stdout, out, all), first.printParts(stdout, out, all.Rows() == 0))
}

// refuseTwice refuses to merge a file with itself, by whatever names.
func refuseTwice(names []string) error {
	for i, name := range names {
		same := func(other string) bool { return sameFile(other, name) }
		if j := slices.IndexFunc(names[:i], same); j >= 0 {
			return badInput("%s and %s are one file: its rows would count twice", names[j], name)
		}
	}
	return nil
}
