package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/input"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/safefile"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/table"
)

// predictOptions holds the flags of the command predict.
type predictOptions struct {
	modelFlags
	in       input.RowFlags
	interval string
	digits   bool
	unknown  string
	stderr   io.Writer // for remarks on the files; nil: none
}

// unknownActions are the values of --unknown.
var unknownActions = []string{"error", "ignore"}

func predictCommand() *cobra.Command {
	o := &predictOptions{modelFlags: modelFlags{formats: outFormats}, in: input.NewRowFlags()}
	c := &cobra.Command{
		Use:   "predict --model MODEL --data FILE",
		Short: "Predict from a model, one line for each row",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.in.Listen(cmd, true)
			err := o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
			return hintAtModel(nameData(o.in.Data.Value, err))
		},
	}
	f := c.Flags()
	o.registerModel(f)
	f.Var(&o.in.Data, "data", "files of rows, as for fit; - for a pipe")
	o.in.RegisterText(f)
	f.Var(&o.in.Target, "target", "target column, if the files have it: R² and RMSE are reported")
	o.in.RegisterKey(f)
	o.in.RegisterRows(f)
	o.in.RegisterSamples(f)
	f.StringVar(
		&o.interval, "interval", "", "add intervals: exact (of the exact fit), coverage (of new rows), or a sketch",
	)
	o.registerOut(
		f, "write the predictions to FILE (default: standard output)",
		"form of predictions: auto, text, csv, arrow, arrows or npy", "print one JSON object instead of lines",
	)
	f.StringVar(&o.unknown, "unknown", "error", "levels that the model does not know: error or ignore")
	cli.SetValues(f, "unknown", unknownActions...)
	f.BoolVar(&o.digits, "digits", false, "with --interval, print value ± bound, with the digits that are proved")
	return c
}

func (o *predictOptions) run(ctx context.Context, stdout, stderr io.Writer) error {
	if o.model == "" || !o.in.Data.Given {
		return cli.BadInput("predict needs --model and --data")
	}
	switch {
	case o.digits && o.kind().isForNewRows():
		return cli.BadInput("--digits: intervals of %s include noise and prove no digits; leave it out", o.interval)
	case o.digits && o.interval == "":
		return cli.BadInput("--digits: it needs --interval")
	case o.digits && o.json:
		return cli.BadInput("--digits: --json prints the ends of the intervals instead; leave out one of the two")
	}
	form, err := o.predictionForm()
	err = cli.FirstError(err, cli.OneOf("unknown", o.unknown, unknownActions...))
	if err != nil {
		return err
	}
	if err := cli.FirstError(
		o.in.Check(), o.in.CheckSamples(), o.in.CheckKey(), cli.CheckOut(o.out),
		cli.Distinct(append(o.in.Files(), o.model, o.kind().file()), cli.Output{Flag: "out", Path: o.out}),
	); err != nil {
		return err
	}
	m, err := o.load()
	if err != nil {
		return err
	}
	if e, ok := errors.AsType[*model.ShortfallError](m.Err()); ok &&
		e.Status != ridge.Unproved &&
		e.Status != ridge.MinimumNorm {
		fmt.Fprintf(stderr, "fdridge: warning: %s: %s\n", o.model, describeShortfall(e))
	} else if !m.Fits[0].Certificate.IsZero() && !m.Proves() {
		fmt.Fprintf(stderr, "fdridge: warning: %s: nothing is proved about its coefficients (no relative error below 1)\n",
			o.model)
	}
	if m.Classes != nil && o.digits {
		return cli.BadInput("--digits: the model predicts classes")
	}
	of, remark, err := o.predictor(m)
	if err != nil {
		return err
	}
	if remark != "" {
		fmt.Fprintln(stderr, remark)
	}
	o.stderr = stderr
	rows, err := o.open(ctx, m)
	if err != nil {
		return err
	}
	of.Encode = prepare.EncodeOptions{
		Cells:         rows.Opened.Cells,
		IgnoreUnknown: o.unknown == "ignore",
		Tally:         new(prepare.Tally),
	}
	p := &predictionRun{
		of:       of,
		gamma:    m.Fits[0].Gamma,
		gammas:   m.Fits[0].Gammas,
		asJSON:   o.json,
		asDigits: o.digits,
		form:     form,
	}
	if o.in.Key() != "" {
		keys, err := o.in.Keys(ctx, rows)
		if err != nil {
			return err
		}
		next, stop := iter.Pull2(keys)
		defer stop()
		p.keys = &keyReader{name: o.in.Key(), next: next}
	}
	if m.Classes != nil {
		p.decider = newDecider(m.Classes, rows.Labels)
	}
	if o.out == "" {
		err = p.run(ctx, rows.Source, stdout)
	} else {
		err = safefile.Write(o.out, func(f io.Writer) error {
			return p.run(ctx, rows.Source, f)
		})
	}
	if err != nil {
		return rows.Locate(err)
	}
	input.RemarkEnd(rows, new(cli.Progress), stderr)
	p.printTally(stderr)
	if p.decider != nil && p.decider.score.Rows > 0 {
		report.WriteAccuracy(stderr, p.decider.Labels, p.decider.score)
	}
	for j, s := range p.scores {
		r2 := "undefined (the target is constant)"
		if v := s.R2(); !math.IsNaN(v) {
			r2 = report.Figure(s.R2Bracket())
		}
		fmt.Fprintf(
			stderr,
			"%s: R² = %s; RMSE = %s over %d rows; MAE = %s; predicting the mean of the targets would have the RMSE %s\n",
			report.TargetName(m, j),
			r2,
			report.Figure(s.RMSEBracket()),
			s.Rows(),
			report.Figure(s.MAEBracket()),
			report.Figure(s.BaselineBracket()),
		)
	}
	return nil
}

// describeShortfall states the proved error and the requested tolerance of a model whose fit missed the tolerance.
func describeShortfall(e *model.ShortfallError) string {
	proved := "none"
	if !math.IsInf(e.Certified, 1) {
		proved = report.AtMost(e.Certified, 3)
	}
	return fmt.Sprintf(
		"the proved bound on the relative error of its coefficients is %s, the tolerance is %g (%v)",
		proved,
		e.Tol,
		e.Status,
	)
}

// open opens rows that have the features of the model m. If the rows also contain the targets, it reads them too.
func (o *predictOptions) open(ctx context.Context, m *model.Model) (*table.Rows, error) {
	rows, err := o.in.OpenFor(ctx, m)
	if err != nil {
		return nil, hintAtTarget(err, o.in.Spec().Target)
	}
	for _, r := range rows.Opened.Remarks() {
		if o.stderr != nil {
			new(cli.Progress).Remark(o.stderr, r)
		}
	}
	return rows, nil
}

// A predictionRun writes the predictions for rows. If the rows contain the targets, it also computes scores of the
// predictions.
type predictionRun struct {
	of       *model.Predictor
	gamma    float64
	gammas   []float64 // γ of each target, if the targets have different γ
	asJSON   bool
	asDigits bool   // write value ± bound, with only the proved digits
	form     string // "csv" with a header, "arrow" for a file, "arrows" for a stream, "npy"; "": plain text or JSON
	scores   []model.Score
	decider  *decider
	block    *blockPredictions // takes the predictions of a block of targets; nil: all targets are predicted together
	keys     *keyReader        // nil: none
	left     int64             // number of rows whose prediction is NaN because of missing values
}

func (p *predictionRun) run(ctx context.Context, src dataset.Source, w io.Writer) error {
	k, _ := p.of.Dims()
	if _, _, t := src.Dims(); t == k && p.decider == nil {
		p.scores = make([]model.Score, t)
	}
	to, err := p.writer(w, dataset.Once(src))
	if err != nil {
		return err
	}
	for row, err := range p.of.Predict(ctx, src) {
		if err != nil {
			return predictionError(err)
		}
		if p.keys != nil {
			if err := p.keys.read(row.Row); err != nil {
				return err
			}
		}
		if p.decider != nil {
			p.decider.decide(&row)
		}
		if math.IsNaN(row.Y[0]) {
			p.left++
		} else {
			for j := range p.scores {
				if !math.IsNaN(row.Observed[j]) {
					p.scores[j].Add(row.Observed[j], row.Y[j])
				}
			}
		}
		if err := to.write(&row); err != nil {
			return err
		}
	}
	return to.end()
}

// printTally prints how many missing values, values of a wrong type, and unknown levels of categories the rows
// have.
func (p *predictionRun) printTally(stderr io.Writer) {
	for _, said := range []struct {
		n         int64
		one, many string
	}{
		{p.of.Encode.Tally.Foreign.Load(),
			"value has another type than in the training rows, such as text in a column of numbers, and counts as missing",
			"values have another type than in the training rows, such as text in a column of numbers, and count as missing"},
		{p.of.Encode.Tally.Filled.Load(), "missing value was replaced as in the training rows",
			"missing values were replaced as in the training rows"},
		{p.left, "row has a missing value and gets NaN, because the model was fitted without such rows",
			"rows have a missing value and get NaN, because the model was fitted without such rows"},
	} {
		switch {
		case said.n == 1:
			fmt.Fprintln(stderr, said.n, said.one)
		case said.n > 1:
			fmt.Fprintln(stderr, said.n, said.many)
		}
	}
	if n := p.of.Encode.Tally.Unknown.Load(); n > 0 {
		fmt.Fprintf(
			stderr,
			"%s of %s that the model does not have (rare or absent in its training rows): "+
				"they count as (other), or the columns of these levels are zero\n",
			count(n, "value"),
			count(int64(p.of.Encode.Tally.UnknownLevels()), "level"),
		)
	}
}

// count returns n with the name of a thing in singular or plural, such as "1 row" or "3 rows".
func count(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}

// predictionError returns an error of a prediction for the user. If the sketch and the model have different rows,
// the message begins with --interval. For a *[model.PreparationError] it returns the cause alone.
func predictionError(err error) error {
	if errors.Is(err, ridge.ErrOtherRows) {
		return cli.BadInput("--interval: %w", err)
	}
	if e, ok := errors.AsType[*model.PreparationError](err); ok {
		return cli.BadInput("%w", e.Err)
	}
	return err
}
