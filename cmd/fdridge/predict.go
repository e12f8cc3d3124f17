package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/atomicfile"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// predictOptions are the flags of predict.
type predictOptions struct {
	in              rowFlags
	model, interval string
	gamma           once
	out             string
	outFormat       string
	json, digits    bool
	unknown         string
}

func predictCommand() *cobra.Command {
	o := &predictOptions{in: newRowFlags()}
	c := &cobra.Command{
		Use:   "predict --model MODEL --data FILE",
		Short: "Predict from a model, a line for each row",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.in.listen(cmd, true)
			return nameModel(nameData(o.in.data.value, o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())))
		},
	}
	f := c.Flags()
	f.StringVar(&o.model, "model", "", "the model that fit --out wrote")
	f.Var(&o.in.data, "data", "files of rows, or - or a FIFO, as for fit; features are found by their names where the files have any; of what comes through a pipe predictions are written as it comes")
	f.StringVar(&o.in.format, "format", "auto", "as for fit")
	f.StringVar(&o.in.delimiter, "delimiter", "", "as for fit")
	f.StringVar(&o.in.header, "header", "auto", "as for fit")
	f.Var(&o.gamma, "gamma", "which γ of a model with several")
	f.Var(&o.in.target, "target", "the target column, where the file has one: it is left out of the features, and R² and RMSE on it are reported (svmlight: the label, always)")
	f.StringVar(&o.in.rows, "rows", "", "A:B: only rows A to B, from 1, inclusive")
	o.in.registerTurned(f)
	f.StringVar(&o.interval, "interval", "", "the sketch that fit --save-sketch, sketch or merge wrote of the rows of the fit: print prediction,low,high with a proved interval for what the exact ridge solution at the model's γ predicts, by the sketch and by the model's certificate, whichever is narrower; the model itself, where it was fitted with --intercept=false: by its certificate alone")
	f.StringVar(&o.out, "out", "", "write the predictions here (default: standard output)")
	f.StringVar(&o.outFormat, "out-format", "auto", "text, a line for each row; arrow or arrows, an Arrow file or stream of the columns prediction and, with --interval, low and high, each with _1, _2, … for several targets; auto: by the suffix of --out")
	f.StringVar(&o.unknown, "unknown", "error", "a level of a categorical column that the model does not know: error, or ignore: all columns of it are zero, and they are counted")
	f.BoolVar(&o.json, "json", false, "print one JSON object in place of lines")
	f.BoolVar(&o.digits, "digits", false, "with --interval, for people: print what the exact solution predicts as value ± bound, with the digits that are proved, in place of prediction,low,high")
	return c
}

func (o *predictOptions) run(ctx context.Context, stdout, stderr io.Writer) error {
	if o.model == "" || !o.in.data.set {
		return badInput("predict needs --model and --data")
	}
	switch {
	case o.digits && o.interval == "":
		return badInput("--digits: the digits that are proved are those of an interval, --interval")
	case o.digits && o.json:
		return badInput("--digits: it is for people, --json has all digits")
	}
	asArrow, err := o.arrow()
	if err = firstError(err, oneOf("unknown", o.unknown, "error", "ignore")); err != nil {
		return err
	}
	if err := firstError(o.in.check(), o.in.checkTurned(), checkOut(o.out), distinct(append(o.in.files(), o.model, o.interval), output{"out", o.out})); err != nil {
		return err
	}
	m, err := readModel(o.model)
	if err != nil {
		return err
	}
	if m, err = chooseFit(m, o.gamma); err != nil {
		return err
	}
	if e, ok := errors.AsType[*model.ShortfallError](m.Err()); ok && e.Status != ridge.Unproved {
		fmt.Fprintf(stderr, "fdridge: warning: %s: %s\n", o.model, shortfallOf(e))
	} else if !m.Fits[0].Certificate.IsZero() && !m.Proves() {
		fmt.Fprintf(stderr, "fdridge: warning: %s: nothing is proved of its weights: no relative error below 1\n", o.model)
	}
	of, err := o.predictor(m)
	if err != nil {
		return err
	}
	if of.Basis() == model.BySummary {
		fmt.Fprintf(stderr, "intervals: by the sketch alone; %s was written before models kept what narrows them: fit once more for narrower ones\n", o.model)
	}
	targets, _ := of.Dims()
	src, cells, err := o.open(m, targets)
	if err != nil {
		return err
	}
	of.Encode = dataset.EncodeOptions{Cells: cells, IgnoreUnknown: o.unknown == "ignore", Tally: new(dataset.Tally)}
	p := &predictionRun{of: of, gamma: m.Fits[0].Gamma, asJSON: o.json, asDigits: o.digits, asArrow: asArrow}
	if o.out == "" {
		err = p.run(ctx, src, stdout)
	} else {
		err = atomicfile.Write(o.out, func(f io.Writer) error { return p.run(ctx, src, f) })
	}
	if err != nil {
		return err
	}
	p.tell(stderr)
	for j, s := range p.scores {
		r2 := "undefined, the target is constant"
		if v := s.R2(); !math.IsNaN(v) {
			r2 = fmt.Sprintf("%.6g", v)
		}
		fmt.Fprintf(stderr, "target %d: R² = %s; RMSE = %.6g over %d rows\n", j+1, r2, s.RMSE(), s.Rows())
	}
	return nil
}

// shortfallOf says of a model's fit what is certified and what was asked for.
func shortfallOf(e *model.ShortfallError) string {
	certified := "no relative error of its weights is certified"
	if !math.IsInf(e.Certified, 1) {
		certified = fmt.Sprintf("its weights are certified to a relative error of %s", report.AtMost(e.Certified, 3))
	}
	return fmt.Sprintf("%s, %g was asked for; %v", certified, e.Tol, e.Status)
}

// open opens rows with the features of the model. Labels are a target to compare with.
func (o *predictOptions) open(m *model.Model, targets int) (dataset.Source, *dataset.Cells, error) {
	in := o.in
	if in.target.set {
		in.targets = targets
	}
	format, err := file.Format(in.dataFiles()[0], file.Options{Format: in.format, Origin: file.Origin{Pipe: in.pipe}})
	if err != nil {
		return nil, nil, err
	}
	if file.Labelled(format) {
		in.targets = 1
	}
	opened, src, err := in.openLike(&m.Preparation, "model", targets, false)
	if err != nil {
		return nil, nil, err
	}
	return src, opened.Cells, checkPreparationMemory(&m.Preparation)
}

// predictor returns what predicts by the model, with intervals where they are asked for: by
// the sketch in a file, or by the model itself.
func (o *predictOptions) predictor(m *model.Model) (*model.Predictor, error) {
	be, err := engine.Default()
	if err != nil {
		return nil, badInput("%w", err)
	}
	var by *model.Intervals
	switch {
	case o.interval == "":
	case sameFile(o.interval, o.model):
		by = &model.Intervals{ByModel: true}
	default:
		sum, d, err := load(o.interval, be)
		if err != nil {
			return nil, err
		}
		by = &model.Intervals{Summary: sum, Preparation: &d.Preparation}
	}
	p, err := m.Predictor(by)
	if e, ok := errors.AsType[*model.CertificateError](err); ok {
		return nil, badInput("--model: its certificate cannot be read: %w", e.Err)
	}
	if e, ok := errors.AsType[*model.SummaryError](err); ok {
		switch {
		case errors.Is(e, model.ErrPreparation):
			return nil, badInput("--interval: the rows of %s were prepared in another way than the model's", o.interval)
		case errors.Is(e, model.ErrShape):
			return nil, badInput("--interval: the sketch in %s: %w", o.interval, e.Err)
		}
		return nil, badInput("--interval: %s: %w", o.interval, e.Err)
	}
	switch {
	case errors.Is(err, model.ErrUnrecorded):
		return nil, badInput("--interval: the model was written before models kept what an interval needs; fit once more, or name a sketch")
	case errors.Is(err, model.ErrMeans):
		return nil, badInput("--interval: the model has an intercept, for which an interval needs the means of the rows too; name a sketch of them")
	case err != nil && by.ByModel:
		return nil, badInput("--interval: %w", err)
	}
	return p, err
}

// A predictionRun writes predictions, and scores them where the target is known.
type predictionRun struct {
	of       *model.Predictor
	gamma    float64
	asJSON   bool
	asDigits bool   // what is proved, in place of the numbers
	asArrow  string // "arrow", a file, or "arrows", a stream; "": lines or JSON
	scores   []model.Score
	left     int64 // rows that are not predicted for, because a value is missing
}

func (p *predictionRun) run(ctx context.Context, src dataset.Source, w io.Writer) error {
	k, _ := p.of.Dims()
	if _, _, t := src.Dims(); t == k {
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
		if math.IsNaN(row.Y[0]) {
			p.left++
		} else {
			for j := range p.scores {
				p.scores[j].Add(row.Observed[j], row.Y[j])
			}
		}
		if err := to.write(&row); err != nil {
			return err
		}
	}
	return to.end()
}

// tell says what was done to cells that are no numbers, or numbers of another column.
func (p *predictionRun) tell(stderr io.Writer) {
	for _, said := range []struct {
		n    int64
		what string
	}{
		{p.of.Encode.Tally.Filled.Load(), "missing values had the means of the training rows put in their place"},
		{p.left, "rows have a missing value and are not predicted for: NaN stands in their place, as the model left such rows out"},
	} {
		if said.n > 0 {
			fmt.Fprintf(stderr, "%d %s\n", said.n, said.what)
		}
	}
	if n := p.of.Encode.Tally.Unknown.Load(); n > 0 {
		fmt.Fprintf(stderr, "%s of %s that the model does not know: the columns of these are zero\n", counted(n, "value"), counted(int64(p.of.Encode.Tally.UnknownLevels()), "level"))
	}
}

// counted is a number of things.
func counted(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}

// predictionError is what ends predictions, in the words of the command.
func predictionError(err error) error {
	if errors.Is(err, ridge.ErrOtherRows) {
		return badInput("--interval: %w", err)
	}
	return unwrapPreparation(err)
}
