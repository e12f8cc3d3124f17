package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/atomicfile"
	"github.com/fdridge/fdridge/internal/excerpt"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// A description is what the command keeps in a sketch's file beside the summary:
// where its rows came from and what was done to them.
type description struct {
	Format      string            `json:"format"`
	Target      string            `json:"target,omitempty"`
	Columns     []string          `json:"columns,omitempty"`
	NNZ         int64             `json:"nnz"`
	Preparation model.Preparation `json:"preparation"`
}

// columns are the names in the header of a csv file, nil where there are none.
func (d *data) columns(o *rowFlags) ([]string, error) {
	if d.opened.Format != "csv" {
		return nil, nil
	}
	text, err := o.csvOptions()
	if err != nil {
		return nil, err
	}
	return csv.Columns(splitList(o.data.value)[0], text)
}

func (d *data) describe(o *rowFlags) (*description, error) {
	columns, err := d.columns(o)
	return &description{d.opened.Format, o.target.value, columns, d.counted.Nonzeros(), d.prep}, err
}

// save writes a summary to a file, whole or not at all.
func (d *description) save(name string, sum *ridge.Summary) error {
	meta, err := json.Marshal(d)
	if err != nil {
		return err
	}
	sum.Meta = meta
	return atomicfile.Write(name, func(w io.Writer) error {
		_, err := sum.WriteTo(w)
		return err
	})
}

// load reads a file that save wrote.
func load(name string, be engine.Backend) (*ridge.Summary, *description, error) {
	f, err := open(name)
	if err != nil {
		return nil, nil, badInput("%w", err)
	}
	defer f.Close() // only read
	sum, err := ridge.ReadSummary(f, be)
	if errors.Is(err, io.EOF) {
		err = errors.New("is empty")
	}
	if err != nil {
		return nil, nil, badInput("%s: %w", name, err)
	}
	if n, err := f.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		return nil, nil, badInput("%s: more follows the sketch", name)
	}
	d := float64(sum.Config().Dim)
	if err := holds(name, d, float64(sum.Sketch().BinarySize())/(8*d)); err != nil {
		return nil, nil, err
	}
	var kept description
	if len(sum.Meta) > 0 {
		if err := json.Unmarshal(sum.Meta, &kept); err != nil {
			return nil, nil, badInput("%s: what it says of its rows cannot be read: %w", name, err)
		}
	}
	return sum, &kept, nil
}

// holds refuses a sketch of so many rows that there is no memory for them and for
// their inner products.
func holds(name string, d, rows float64) error {
	return fits(8*rows*(2*d+3*rows), "was it made by this program?", "%s: a sketch of %.0f rows of %.0f features", name, rows, d)
}

func sketchCommand() *cobra.Command {
	var (
		in   = newInputFlags()
		size sketchFlags
		runs runFlags
		out  string
	)
	c := &cobra.Command{
		Use:   "sketch --data FILE[,FILE…] --out PART",
		Short: "Make the sketch of some rows, to be merged and solved later",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := firstError(in.check(), size.check(), runs.check(), checkOutput("out", out)); err != nil {
				return err
			}
			switch {
			case out == "":
				return badInput("--out: no file is named")
			case size.error > 0:
				return badInput("--size: %v is an error at some gamma, of which a sketch knows none; see plan --error", size.error)
			}
			if err := distinct(in.files(), named{"out", out}); err != nil {
				return err
			}
			return about(in.data.value, runSketch(cmd.Context(), &in, &size, &runs, out, cmd.OutOrStdout(), cmd.ErrOrStderr()))
		},
	}
	in.register(c.Flags())
	c.Flags().Lookup("standardize").Usage = "scale the input columns to mean 0 and deviation 1 of these rows first, sparse ones to deviation 1 alone, by a pass of its own; such a sketch is solved as it is, and merges with none of other rows, whose means and deviations are others"
	size.register(c.Flags())
	runs.register(c)
	c.Flags().StringVarP(&out, "out", "o", "", "the file to write")
	return c
}

func runSketch(ctx context.Context, in *inputFlags, size *sketchFlags, runs *runFlags, out string, stdout, stderr io.Writer) error {
	be, err := runs.backend()
	if err != nil {
		return err
	}
	bar := newProgress(stderr, runs.logFormat)
	defer bar.finish()
	d, err := openData(ctx, in, opening{}, nil, be, bar)
	if err != nil {
		return err
	}
	_, dim, t := d.source.Dims()
	if err := room(size.size, dim, t); err != nil {
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
	if err := described.save(out, sum); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	if err := tellSketch(stdout, out, sum); err != nil || !in.standardize {
		return err
	}
	_, err = fmt.Fprintln(stdout, "standardised by the means and deviations of these rows: to be solved as it is, it merges with no sketch of others")
	return err
}

// tellSketch says what a file holds now. The bound is that of what a fit is made from, as
// the report of one has it: of the sketch after a last shrink, to m rows.
func tellSketch(w io.Writer, name string, sum *ridge.Summary) error {
	cfg := sum.Config()
	spectrum, err := sum.Sketch().Spectrum()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s: %d rows × %d features, %d target(s), m = %d, ‖AᵀA − BᵀB‖ ≤ %s, %d bytes\n",
		name, sum.Rows(), cfg.Dim, cfg.Targets, cfg.Size, report.AtMost(spectrum.Bound.FD(), 4), sum.BinarySize())
	return err
}

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
	if err := noneTwice(names); err != nil {
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
			cfg := sum.Config()
			if err := holds(name, float64(cfg.Dim), float64(min(cfg.Size, cfg.Dim))+float64(cfg.ShrinkRows)); err != nil {
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
	if err := first.save(out, all); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return tellSketch(stdout, out, all)
}

// noneTwice refuses to merge a file with itself, by whatever names.
func noneTwice(names []string) error {
	for i, name := range names {
		same := func(other string) bool { return sameFile(other, name) }
		if j := slices.IndexFunc(names[:i], same); j >= 0 {
			return badInput("%s and %s are one file: its rows would count twice", names[j], name)
		}
	}
	return nil
}

// join refuses rows that were not prepared alike.
func (d *description) join(o *description) error {
	switch {
	case d.Target != o.Target:
		return fmt.Errorf("the target is %q in one and %q in the other", excerpt.Of(d.Target), excerpt.Of(o.Target))
	case !reflect.DeepEqual(d.Preparation.Scaling, o.Preparation.Scaling):
		return errors.New("their columns were standardised by different means and deviations, or other penalties; sketch without --standardize")
	case !reflect.DeepEqual(d.Preparation, o.Preparation):
		return errors.New("their columns or features differ")
	}
	d.NNZ += o.NNZ
	return nil
}
