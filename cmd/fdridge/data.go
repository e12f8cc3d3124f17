package main

import (
	"context"

	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/model"
)

// data are the opened rows of a fit.
type data struct {
	opened  *file.Opened
	counted *batch.Counter
	source  dataset.Source // prepared
	prep    model.Preparation
	scans   int             // passes that preparing took
	parts   []partSet       // that the rows are, with --part
	encoded *report.Encoded // nil: the columns are fitted as they come
	holdout dataset.Holdout
	held    dataset.Source // the rows that are held out, as they were read; nil: none are
	penalised
}

// unique returns names, or nil where two columns have the same name: no column can be found
// by it.
func unique(names []string) []string {
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n] {
			return nil
		}
		seen[n] = true
	}
	return names
}

// openData opens and prepares the rows. With standardize it makes a pass for the scaling, unless the
// job has kept one.
func openData(ctx context.Context, o *inputFlags, run session, be engine.Backend, bar *progress) (*data, error) {
	parts, seen := o.partsOf()
	if run.part = o.part.share; run.seen == nil {
		run.seen = seen
	}
	opened, src, err := o.open(ctx, run, expected{cells: o.cells()})
	if err != nil {
		return nil, err
	}
	if run.ranks != nil {
		if err := agreeOn(ctx, run.ranks, opened); err != nil {
			return nil, err
		}
	}
	if src, err = run.cache.rows(src, func() (string, error) { return o.rowKey(run.share(), be) }); err != nil {
		return nil, err
	}
	d := &data{opened: opened, parts: parts}
	if err := d.encode(ctx, o, run, run.holdout, src, bar); err != nil {
		return nil, err
	}
	if d.penalised, err = o.penaltyFlags.read(ctx, run.seen, &d.prep); err != nil {
		return nil, err
	}
	if o.standardize {
		d.scans++
	}
	learn := func() (*dataset.Scaling, error) {
		err := d.learnScaling(ctx, o, run, bar)
		return d.prep.Scaling, err
	}
	if run.job == nil {
		run.job = new(batch.Job)
	}
	if d.prep.Scaling, err = run.job.Scaling(learn); err != nil {
		return nil, err
	}
	run.job.Count(d.counted)
	d.prep.Expand(o.expansion)
	encoded := d.prep
	encoded.Encoding = nil // which the counted rows have been through
	if d.source, err = prepare(&encoded, d.counted, be); err != nil {
		return nil, err
	}
	if d.held != nil {
		if d.held, err = prepareEncoded(&d.prep, d.held, be, dataset.EncodeOptions{Cells: opened.Cells}); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// columns are the names in the header of a csv file, the target's among them, nil where there
// are none. Of other formats a model has the names of its features alone.
func (d *data) columns(o *rowFlags) ([]string, error) {
	if d.opened.Format != "csv" {
		return nil, nil
	}
	text, err := o.csvOptions()
	if err != nil {
		return nil, err
	}
	return csv.Columns(o.dataFiles()[0], text)
}

// learnScaling makes the pass that --standardize asks for, and puts the penalty into the
// scaling.
func (d *data) learnScaling(ctx context.Context, o *inputFlags, run session, bar *progress) error {
	var err error
	if o.standardize {
		if err := checkMemory(8*8*float64(d.prep.Inputs), manyFeatures, "--standardize: the means and deviations of %d columns", d.prep.Inputs); err != nil {
			return err
		}
		d.counted.Progress = bar.rows("standardising", d.counted.Source)
		share, reduce := dataset.Share{Size: 1}, func(context.Context, []float64) error { return nil }
		if run.ranks != nil {
			share, reduce = run.share(), run.ranks.Allreduce
		}
		if _, d.prep.Scaling, err = dataset.StandardizeShare(ctx, d.counted, share, reduce); err != nil {
			return err
		}
		d.counted.Progress = nil
	}
	d.prep, err = d.prep.Penalize(d.penalised.p)
	return err
}
