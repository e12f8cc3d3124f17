package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// encodingFlags say what becomes of cells that are no numbers.
type encodingFlags struct {
	missing, oneHot string
}

func (o *encodingFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.missing, "missing", "refuse", "missing values: refuse; mean, the mean of the column over the training rows that have it, by a pass of its own, and a level of a categorical column; or drop, rows that have one are left out; the model does the same")
	f.StringVar(&o.oneHot, "onehot", "", "categorical columns, a list of header names or 1-based numbers: columns of 0 and 1 are made of each, a=red for the level red of a; the levels are found by a pass of its own and kept in the model; --penalty, --bands and what follows are about the columns that are made")
}

func (o *encodingFlags) check() error { return oneOf("missing", o.missing, "refuse", "mean", "drop") }

// policy is what --missing says.
func (o *encodingFlags) policy() dataset.Missing {
	if o.missing == "mean" || o.missing == "drop" {
		return dataset.Missing(o.missing)
	}
	return dataset.RefuseMissing
}

// cells say how rows are read, nil where all cells are numbers.
func (o *encodingFlags) cells() *dataset.Cells {
	names := splitList(o.oneHot)
	if o.policy() == dataset.RefuseMissing && len(names) == 0 {
		return nil
	}
	return &dataset.Cells{Missing: o.policy(), OneHot: names}
}

// learns names the flag that takes a pass over the rows before they are fitted, "" for none.
func (o *encodingFlags) learns() string {
	switch {
	case o.oneHot != "":
		return "onehot"
	case o.missing == "mean":
		return "missing mean"
	}
	return ""
}

// checkKept refuses rows that are kept for later runs with codes that these do not know.
func (o *encodingFlags) checkKept(rows *cacheFlags) error {
	if rows.keep && o.oneHot != "" {
		return badInput("--cache-keep: the levels of --onehot are those of a run, of which a later one does not know; leave it out")
	}
	return nil
}

// doubtCategories says, before passes are spent on them, which categorical columns are hardly any.
func (d *data) doubtCategories(bar *progress, stderr io.Writer) {
	if d.encoded == nil || d.encoded.Learnt == nil {
		return
	}
	e, learnt := d.encoded.Encoding, d.encoded.Learnt
	for _, c := range e.Doubtful(learnt) {
		column, omit := fmt.Sprint("feature ", e.Categories[c].Column+1), "--columns"
		if e.Names != nil {
			name := excerpt.Of(e.Names[e.Categories[c].Column])
			column = "column " + name
			if !strings.ContainsAny(name, " ,'\"\\$…") {
				omit += "=-" + name
			}
		}
		bar.warn(stderr, fmt.Sprintf("--onehot: %s has %d levels in %d rows, a column for each, and is hardly a category: leave it out (%s) or, where it is a number, take it out of --onehot", column, len(e.Categories[c].Levels), learnt.Rows-learnt.Dropped, omit))
	}
}

// encode learns what is made of the columns of rows as they were read, and holds rows out. It leaves
// the rows to be fitted in d.counted, those held out in d.held.
func (d *data) encode(ctx context.Context, o *inputFlags, run session, held dataset.Holdout, src dataset.Source, bar *progress) error {
	_, d.prep.Inputs, _ = src.Dims()
	d.prep.Names = unique(d.opened.Names)
	cells := d.opened.Cells
	fitted := src
	if held.Share > 0 {
		if run.ranks != nil {
			first, err := firstRow(ctx, run.ranks, src)
			if err != nil {
				return err
			}
			held.First = first
		}
		if o.rows != "" {
			lo, _, err := parseRows(o.rows)
			if err != nil {
				return err
			}
			held.First += lo
		}
		var err error
		if fitted, d.held, err = held.Split(src); err != nil {
			return err
		}
		d.holdout = held
	}
	if cells != nil {
		e, err := dataset.NewEncoding(d.prep.Inputs, d.prep.Names, cells.Missing, cells.Features)
		if err != nil {
			return err
		}
		d.encoded = &report.Encoded{Encoding: e, Tally: new(dataset.Tally)}
		if o.learns() != "" || run.ranks != nil {
			d.scans++
			counted := &batch.Counter{Source: src, Progress: bar.rows("reading columns", src)}
			options := dataset.LearnOptions{Cells: cells}
			if held.Share > 0 {
				options.Held = held.Held
			}
			if run.ranks != nil {
				options.Share, options.Link = run.share(), run.ranks
			}
			if d.encoded.Learnt, err = e.Learn(ctx, counted, options); err != nil {
				return nameRows(o.data.value, err)
			}
		}
		d.prep.Encode(e)
		d.prep.Names = unique(d.prep.Names)
		if fitted, err = e.Apply(fitted, dataset.EncodeOptions{Cells: cells, Tally: d.encoded.Tally}); err != nil {
			return err
		}
	}
	d.counted = &batch.Counter{Source: fitted}
	return nil
}
