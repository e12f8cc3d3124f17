package main

import (
	"context"
	"fmt"
	"io"

	"github.com/fdridge/fdridge/ridge"
	"github.com/spf13/cobra"
)

func sketchCommand() *cobra.Command {
	var (
		in   = newInputFlags()
		size sketchFlags
		runs runFlags
		rows cacheFlags
		keep liveFlags
		out  string
	)
	c := &cobra.Command{
		Use:   "sketch --data FILE[,FILE…] --out PART",
		Short: "Make the sketch of some rows, to be merged and solved later",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := firstError(in.check(), size.check(), runs.check(), rows.check(), keep.check(), in.checkGiven("sketch"), in.checkKept(&rows), checkWritable("out", out)); err != nil {
				return err
			}
			switch {
			case out == "":
				return badInput("--out: no file is named")
			case in.missing == "mean" && !in.part.share.Whole():
				return badInput("--missing mean: its means would be those of this part alone, and the sketches of other parts would not merge with it; say drop")
			case in.standardize && !in.part.share.Whole():
				return badInput("--standardize: each part would be scaled by means and deviations of its own, and none of them merge; sketch without it, or fit by ranks (--mpi)")
			}
			if err := distinct(in.files(), append(keep.outputs(out), output{"out", out})...); err != nil {
				return err
			}
			if in.piped() {
				if err := rows.checkPipe(dataName(in.data.value), in.scales(), in.learns()); err != nil {
					return err
				}
			}
			if keep.every == 0 { // a live sketch takes the lock, and waits for a killed process to let go of it
				if err := checkFree("out", out); err != nil {
					return err
				}
			}
			in.listen(cmd, keep.every > 0)
			if keep.every > 0 {
				err := runLive(cmd, &liveRun{liveFlags: &keep, in: &in, size: &size, out: out}, &runs)
				return nameOnce(nameData(in.data.value, in.nameColumns(err)), in.data.value, waysOfLive)
			}
			cache := &rowCache{cacheFlags: &rows}
			err := nameData(in.data.value, in.nameColumns(runSketch(cmd.Context(), &in, &size, &runs, cache, out, cmd.OutOrStdout(), cmd.ErrOrStderr())))
			return nameOnce(err, in.data.value, waysOfSketch)
		},
	}
	in.register(c.Flags())
	in.part.registerPart(c.Flags(), "the sketches of all parts merge into that of all rows")
	c.Flags().Lookup("standardize").Usage = "scale the input columns to mean 0 and deviation 1 of these rows first, sparse ones to deviation 1 alone, by a pass of its own; such a sketch is solved as it is, and merges with none of other rows, whose means and deviations are others"
	size.register(c.Flags())
	rows.register(c.Flags())
	keep.register(c.Flags())
	runs.register(c)
	c.Flags().StringVarP(&out, "out", "o", "", "the file to write")
	return c
}

func runSketch(ctx context.Context, in *inputFlags, size *sketchFlags, runs *runFlags, cache *rowCache, out string, stdout, stderr io.Writer) error {
	be, err := runs.backend()
	if err != nil {
		return err
	}
	bar := newProgress(stderr, runs.logFormat)
	defer bar.finish()
	ctx = bar.watch(ctx)
	defer cache.end(bar, stderr)
	d, err := openData(ctx, in, session{cache: cache}, be, bar)
	if err != nil {
		return err
	}
	d.doubtCategories(bar, stderr)
	_, dim, t := d.source.Dims()
	if err := size.checkMemory(size.size, dim, t); err != nil {
		return err
	}
	sum, err := ridge.Summarize(ctx, d.source, size.config(be), bar.rows("sketching", d.source))
	if err != nil {
		return err
	}
	bar.finish()
	described, err := d.describe(&in.rowFlags)
	if err != nil {
		return err
	}
	if err := described.save("out", out, sum); err != nil {
		return err
	}
	if err := firstError(printSketch(stdout, out, sum), described.printParts(stdout, out, sum.Rows() == 0)); err != nil || !in.standardize {
		return err
	}
	_, err = fmt.Fprintln(stdout, "standardised by the means and deviations of these rows: to be solved as it is, it merges with no sketch of others")
	return err
}
