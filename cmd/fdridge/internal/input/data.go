package input

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/excerpt"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge/classes"
)

// Data holds the opened and prepared rows of a fit.
type Data struct {
	Opened  *file.Opened
	Counted *batch.Counter
	Source  dataset.Source // prepared
	Prep    model.Preparation
	Scans   int             // number of passes that the preparation took
	Parts   []Parts         // parts of the data that the rows are, with --part
	Encoded *report.Encoded // nil: no encoding
	Holdout dataset.Holdout
	Held    dataset.Source   // held-out rows; nil: none. See HeldAsFitted
	Classes *classes.Classes // nil: no classification
	Penalised
}

// unique returns names, or nil if a name occurs twice.
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

// Open opens and prepares the rows. For --standardize a pass computes the scaling, unless run.Job contains the
// scaling from a checkpoint.
func Open(ctx context.Context, o *Flags, run Session, be engine.Backend, bar *cli.Progress) (*Data, error) {
	parts, seen := o.partsOf()
	run.part = o.Part.Share
	if run.Seen == nil {
		run.Seen = seen
	}
	looked, err := o.findEncoding(ctx, run, bar)
	if err != nil {
		return nil, err
	}
	like := expected{cells: o.cells()}
	if looked != nil {
		like.cells, like.names, like.planned = looked.Encoding.Cells(), looked.Encoding.Names, true
		if run.Leads() {
			if err := o.writePlan(looked); err != nil {
				return nil, fmt.Errorf("--prepare-out: %w", err)
			}
		}
	}
	opened, src, err := o.open(ctx, run, like)
	if err != nil {
		return nil, err
	}
	if run.Ranks != nil {
		if err := agreeOnLayout(ctx, run.Ranks, opened); err != nil {
			return nil, err
		}
	}
	src, err = run.Cache.wrap(src, func() (string, error) { return o.rowKey(run.Share(), be) })
	if err != nil {
		return nil, err
	}
	d := &Data{Opened: opened, Parts: parts, Encoded: looked}
	if !opened.Text.IsZero() {
		d.Prep.Text = &opened.Text
	}
	if err := d.encode(ctx, o, run, src, bar); err != nil {
		return nil, err
	}
	d.Penalised, err = o.PenaltyFlags.Read(ctx, run.Seen, &d.Prep)
	if err != nil {
		return nil, err
	}
	if o.Standardize == ScaleAll {
		d.Scans++
	}
	learn := func() (*dataset.Scaling, error) {
		err := d.learnScaling(ctx, o, run, bar)
		return d.Prep.Scaling, err
	}
	if run.Job == nil {
		run.Job = new(batch.Job)
	}
	d.Prep.Scaling, err = run.Job.Scaling(learn)
	if err != nil {
		return nil, err
	}
	if o.Labels != nil {
		d.Scans++
		counted := &batch.Counter{Source: d.Counted.Source, Progress: bar.Rows("reading labels", d.Counted.Source)}
		d.Classes, err = classes.LearnShared(ctx, counted, o.Labels.Label, run.gather())
		if err != nil {
			return nil, err
		}
	}
	run.Job.Count(d.Counted)
	d.Prep.Expand(o.expansion)
	encoded := d.Prep
	encoded.Encoding = nil // the rows of d.Counted are already encoded
	d.Source, err = PrepareEncoded(&encoded, d.Counted, be, prepare.EncodeOptions{})
	if err != nil {
		return nil, err
	}
	if d.Held != nil {
		prep := d.Prep
		if !d.HeldAsFitted() {
			prep.Scaling = nil
		}
		d.Held, err = PrepareEncoded(&prep, d.Held, be, prepare.EncodeOptions{Cells: opened.Cells})
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

// scales reports whether the preparation only scales the columns that the file or the encoding gives.
func (d *Data) scales() bool { return d.Prep.Scaling != nil && d.Prep.Expansion() == nil }

// HeldAsFitted reports whether the held-out rows are prepared as for the fit. If it is false, their columns are not
// scaled, so that the coefficients that are returned predict them.
func (d *Data) HeldAsFitted() bool { return d.Classes != nil || !d.scales() }

// Rounding returns bounds on the rounding of the scaled columns, for fdridge.Options.Rounding. It is nil if nothing is
// rounded, or if features are computed from the columns: then the bounds are about the features as computed.
func (d *Data) Rounding(standardized bool) []float64 {
	if !d.scales() {
		return nil
	}
	if standardized || d.P == nil || d.Encoded != nil {
		return d.Prep.Scaling.Rounding()
	}
	p := slices.Clone(d.P)
	for j, v := range p {
		if v == 0 {
			p[j] = 1
		}
	}
	return dataset.PenaltyRounding(p)
}

// Columns returns the names of all columns of a csv file, including the targets. It returns nil if the file is not
// csv or has no header.
func (d *Data) Columns(o *RowFlags) ([]string, error) {
	if d.Opened.Format != "csv" {
		return nil, nil
	}
	text, err := o.csvOptions()
	if err != nil {
		return nil, err
	}
	return csv.Columns(o.DataFiles()[0], text)
}

// learnScaling sets d.Prep.Scaling. For --standardize, a pass over the rows computes the scaling. A column with
// penalty p > 0 is also divided by √p.
func (d *Data) learnScaling(ctx context.Context, o *Flags, run Session, bar *cli.Progress) error {
	var err error
	if o.Standardize == ScaleAll {
		if err := cli.CheckMemory(8*8*float64(d.Prep.Inputs), cli.ManyFeatures, "--standardize: the means and deviations of %d columns", d.Prep.Inputs); err != nil {
			return err
		}
		d.Counted.Progress = bar.Rows("standardising", d.Counted.Source)
		share, reduce := dataset.Share{Size: 1}, func(context.Context, []float64) error { return nil }
		if run.Ranks != nil {
			share, reduce = run.Share(), run.Ranks.Allreduce
		}
		_, d.Prep.Scaling, err = dataset.StandardizeShare(ctx, d.Counted, share, reduce)
		if err != nil {
			return err
		}
		d.Counted.Progress = nil
	}
	d.Prep, err = d.Prep.Penalize(d.Penalised.P)
	return err
}

// findEncoding returns the encoding of each column, from a plan file or from a pass over the rows. The result is nil
// if no flag requires an encoding.
func (o *Flags) findEncoding(ctx context.Context, run Session, bar *cli.Progress) (*report.Encoded, error) {
	if o.plan != nil {
		return &report.Encoded{Encoding: o.plan, Tally: new(prepare.Tally)}, nil
	}
	if o.Rules == nil {
		return nil, nil
	}
	cells := &prepare.Cells{
		Look:   true,
		OneHot: slices.DeleteFunc(slices.Clone(o.oneHot.Items), func(s string) bool { return s == allText }),
	}
	opened, src, err := o.open(ctx, run, expected{cells: cells})
	if err != nil {
		return nil, err
	}
	options := prepare.LookOptions{Names: opened.Names, Rules: *o.Rules}
	options.Cells, options.Share = opened.Cells, dataset.Share{Size: 1}
	held, err := o.heldOut(ctx, run, src)
	if err != nil {
		return nil, err
	}
	if held.Share > 0 {
		options.Held = held.Held
	}
	if run.Ranks != nil {
		options.Share, options.Link = run.Share(), run.Ranks
	}
	e, learnt, err := prepare.Look(
		ctx,
		&batch.Counter{Source: src, Progress: bar.Rows("looking at columns", src)},
		options,
	)
	if err != nil {
		return nil, NameRows(o.Data.Value, err)
	}
	return &report.Encoded{Encoding: e, Learnt: learnt, Tally: new(prepare.Tally)}, nil
}

// heldOut returns the rule that selects the held-out rows of src.
func (o *Flags) heldOut(ctx context.Context, run Session, src dataset.Source) (dataset.Holdout, error) {
	held := run.Holdout
	if held.Share == 0 {
		return held, nil
	}
	if run.Ranks != nil {
		first, err := firstRow(ctx, run.Ranks, src)
		if err != nil {
			return held, err
		}
		held.First = first
	}
	if o.Rows != "" {
		lo, _, err := ParseRows(o.Rows)
		if err != nil {
			return held, err
		}
		held.First += lo
	}
	return held, nil
}

// Warn tells how the text of the files was read, and warns of categorical columns with too many levels. It is called
// before the pass of the fit.
func (d *Data) Warn(bar *cli.Progress, stderr io.Writer) {
	for _, r := range d.Opened.Remarks() {
		bar.Remark(stderr, r)
	}
	if d.Encoded == nil || d.Encoded.Learnt == nil {
		return
	}
	e, learnt := d.Encoded.Encoding, d.Encoded.Learnt
	for _, c := range e.Doubtful(learnt) {
		column, omit := fmt.Sprint("feature ", e.Categories[c].Column+1), "--columns"
		if e.Names != nil {
			name := excerpt.Of(e.Names[e.Categories[c].Column])
			column = "column " + name
			if !strings.ContainsAny(name, " ,'\"\\$…") {
				omit += "=-" + name
			}
		}
		bar.Warn(
			stderr,
			fmt.Sprintf(
				"--onehot: %s has %d levels in %d rows, each with a column of its own; leave the column out (%s), or remove it from --onehot if it is a number",
				column,
				len(e.Categories[c].Levels),
				learnt.Rows-learnt.Dropped,
				omit,
			),
		)
	}
}

// encode splits the rows into the held-out rows d.Held and the other rows d.Counted. It encodes d.Counted for the fit.
// If the encoding needs the levels or means of columns, encode makes a pass over the rows.
func (d *Data) encode(ctx context.Context, o *Flags, run Session, src dataset.Source, bar *cli.Progress) error {
	_, d.Prep.Inputs, _ = src.Dims()
	d.Prep.Names = unique(d.Opened.Names)
	cells := d.Opened.Cells.WithoutLabels()
	fitted := src
	held, err := o.heldOut(ctx, run, src)
	if err != nil {
		return err
	}
	if held.Share > 0 {
		fitted, d.Held, err = held.Split(src)
		if err != nil {
			return err
		}
		d.Holdout = held
	}
	if d.Encoded != nil {
		d.Prep.Encode(d.Encoded.Encoding)
	} else if cells != nil {
		e, err := prepare.NewEncoding(d.Prep.Inputs, d.Prep.Names, cells.Missing, cells.Features)
		if err != nil {
			return err
		}
		d.Encoded = &report.Encoded{Encoding: e, Tally: new(prepare.Tally)}
		if o.Learns() != "" || run.Ranks != nil {
			d.Scans++
			counted := &batch.Counter{Source: src, Progress: bar.Rows("reading columns", src)}
			options := prepare.LearnOptions{Cells: cells}
			if held.Share > 0 {
				options.Held = held.Held
			}
			if run.Ranks != nil {
				options.Share, options.Link = run.Share(), run.Ranks
			}
			d.Encoded.Learnt, err = e.Learn(ctx, counted, options)
			if err != nil {
				return NameRows(o.Data.Value, err)
			}
		}
		d.Prep.Encode(e)
	}
	if d.Encoded != nil {
		d.Prep.Names = unique(d.Prep.Names)
		fitted, err = d.Encoded.Encoding.Apply(fitted, prepare.EncodeOptions{Cells: cells, Tally: d.Encoded.Tally})
		if err != nil {
			return err
		}
	}
	d.Counted = &batch.Counter{Source: fitted}
	return nil
}

// rowKey returns a text that identifies the parsed rows. It contains the files with their digests, the flags that
// affect reading, the block size, and the part of the rows that this process reads.
func (o *Flags) rowKey(share dataset.Share, be engine.Backend) (string, error) {
	settings := batch.FileSettings(batch.Files(o.RowFlags.Files()))
	backend, err := batch.BackendSetting(be)
	if err != nil {
		return "", err
	}
	key := o.textFlags.key() + fmt.Sprintf(
		"%q %q %q %d %q %q %q %q %q %v %q",
		o.Data.Value,
		o.Target.Value,
		o.Weights.Value,
		o.targetCount(),
		o.Format,
		o.delimiter,
		o.header,
		o.columns.Value,
		o.Rows,
		share,
		append(settings, backend),
	)
	if o.transposed {
		key += " transposed"
	}
	if policy := o.policy(); policy != prepare.RefuseMissing {
		key += " missing " + string(policy) // only drop reads rows with a missing target
	}
	return key, nil
}
