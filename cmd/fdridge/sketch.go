package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/input"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/table"
)

func sketchCommand() *cobra.Command {
	var (
		in   = input.NewFlags()
		size sketchFlags
		runs runFlags
		rows input.CacheFlags
		keep liveFlags
		out  string
	)
	c := &cobra.Command{
		Use:   "sketch --data FILE[,FILE…] --out PART",
		Short: "Sketch rows, to merge and solve later",
		Long: `Sketch rows, to merge and solve later. A sketch made with --standardize cannot be merged with
sketches of other rows, because their means and deviations differ.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := cli.FirstError(
				in.Check(),
				size.check(),
				runs.check(),
				rows.Check(),
				keep.check(),
				in.CheckGiven("sketch"),
				in.CheckKept(&rows),
				cli.CheckWritable("out", out),
			)
			if err != nil {
				return err
			}
			spec := in.Spec()
			isPart := !spec.Share().Whole()
			switch {
			case out == "":
				return cli.BadInput("--out: it needs a file")
			case spec.Decision() == table.DecidedByPass && isPart:
				return cli.BadInput(
					"--prepare: each part would be decided by its own rows, and the sketches could not be merged; use --prepare PLAN",
				)
			case slices.Equal(spec.Missing, []string{"mean"}) && isPart:
				return cli.BadInput(
					"--missing mean: each part would have means of its own, and the sketches could not be merged; use --missing drop",
				)
			case in.Scales() != "" && isPart:
				return cli.BadInput(
					"--standardize: each part would have means and deviations of its own, and the sketches could not be " +
						"merged; leave it out, or use fit --mpi",
				)
			}
			outputs := append(keep.outputs(out), cli.Output{Flag: "out", Path: out})
			if err := cli.Distinct(in.Files(), outputs...); err != nil {
				return err
			}
			if in.Piped() {
				name := input.Name(in.Data.Value)
				if err := rows.CheckPipe(name, in.Scales(), in.Learns()); err != nil {
					return err
				}
			}
			if keep.every == 0 { // a live sketch locks its file itself
				if err := cli.CheckFree("out", out); err != nil {
					return err
				}
			}
			in.Listen(cmd, keep.every > 0)
			if keep.every > 0 {
				err := runLive(
					cmd,
					&liveRun{
						liveFlags: &keep,
						in:        &in,
						size:      &size,
						out:       out,
					},
					&runs,
				)
				return input.ExplainOnce(
					nameData(in.Data.Value, in.NameColumns(err)),
					in.Data.Value,
					input.WaysOfLive,
				)
			}
			cache := rows.Cache()
			err = nameData(
				in.Data.Value,
				in.NameColumns(
					runSketch(cmd.Context(), &in, &size, &runs, cache, out, cmd.OutOrStdout(), cmd.ErrOrStderr()),
				),
			)
			return input.ExplainOnce(err, in.Data.Value, input.WaysOfSketch)
		},
	}
	in.Register(c.Flags())
	in.RegisterPart(c.Flags())
	size.register(c.Flags())
	rows.Register(c.Flags())
	keep.register(c.Flags())
	runs.register(c)
	c.Flags().StringVarP(&out, "out", "o", "", "write the sketch to FILE")
	return c
}

func runSketch(
	ctx context.Context,
	in *input.Flags,
	size *sketchFlags,
	runs *runFlags,
	cache *table.Cache,
	out string,
	stdout, stderr io.Writer,
) error {
	be, err := runs.backend()
	if err != nil {
		return err
	}
	bar := cli.NewProgress(stderr, runs.logFormat)
	defer bar.Finish()
	ctx = bar.Watch(ctx)
	defer input.EndCache(cache, bar, stderr)
	d, err := in.Open(ctx, table.Env{Cache: cache}, be, bar)
	if err != nil {
		return err
	}
	input.Warn(d, bar, stderr)
	_, dim, t := d.Source.Dims()
	if err := size.checkMemory(size.size, dim, t); err != nil {
		return err
	}
	sum, err := ridge.Summarize(
		ctx,
		d.Source,
		size.config(be),
		bar.Rows("sketching", d.Source),
	)
	if err != nil {
		return err
	}
	bar.Finish()
	input.RemarkEnd(d.Rows, bar, stderr)
	described, err := describe(d, in.Target.Value)
	if err != nil {
		return err
	}
	if err := described.save("out", out, sum); err != nil {
		return err
	}
	if err := cli.FirstError(
		printSketch(stdout, out, sum), described.printParts(stdout, out, sum.Rows() == 0),
	); err != nil ||
		in.Scales() == "" {
		return err
	}
	_, err = fmt.Fprintln(
		stdout,
		"the sketch has the means and deviations of these rows (--standardize): solve it, but do not merge it",
	)
	return err
}
