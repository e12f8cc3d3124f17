package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/atomicfile"
	"github.com/fdridge/fdridge/ridge"
)

// predictOptions are the flags of predict.
type predictOptions struct {
	in              inputFlags
	model, interval string
	gamma           once
	out             string
	json            bool
}

func predictCommand() *cobra.Command {
	o := &predictOptions{in: newInputFlags()}
	c := &cobra.Command{
		Use:   "predict --model MODEL --data FILE",
		Short: "Predict from a model, a line for each row",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return about(o.in.data.value, o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr()))
		},
	}
	f := c.Flags()
	f.StringVar(&o.model, "model", "", "the model that fit --out wrote")
	f.Var(&o.in.data, "data", "files of rows, as for fit; features are found by their names where the files have any")
	f.StringVar(&o.in.format, "format", "auto", "as for fit")
	f.StringVar(&o.in.delimiter, "delimiter", "", "as for fit")
	f.StringVar(&o.in.header, "header", "auto", "as for fit")
	f.Var(&o.gamma, "gamma", "which γ of a model with several")
	f.Var(&o.in.target, "target", "the target column, where the file has one: it is left out of the features, and R² and RMSE on it are reported (svmlight: the label, always)")
	f.StringVar(&o.in.rows, "rows", "", "A:B: only rows A to B, from 1, inclusive")
	f.StringVar(&o.interval, "interval", "", "the sketch that fit --save-sketch, sketch or merge wrote of the rows of the fit: print prediction,low,high with a proved interval for what the exact ridge solution at the model's γ predicts, by the sketch and by the model's certificate, whichever is narrower; the model itself, where it was fitted with --intercept=false: by its certificate alone")
	f.StringVar(&o.out, "out", "", "write the predictions here (default: standard output)")
	f.BoolVar(&o.json, "json", false, "print one JSON object in place of lines")
	return c
}

// A score compares predictions with a known target.
type score struct {
	rss, mean, squares float64 // squares about the running mean
	n                  int64
}

func (s *score) add(want, got float64) {
	s.n++
	s.rss += (want - got) * (want - got)
	delta := want - s.mean
	s.mean += delta / float64(s.n)
	s.squares += delta * (want - s.mean)
}

// r2 is NaN where the target is constant.
func (s *score) r2() float64 {
	if !(s.squares > 0) {
		return math.NaN()
	}
	return 1 - s.rss/s.squares
}

func (s *score) rmse() float64 { return math.Sqrt(s.rss / float64(s.n)) }

func (o *predictOptions) run(ctx context.Context, stdout, stderr io.Writer) error {
	if o.model == "" || !o.in.data.set {
		return badInput("predict needs --model and --data")
	}
	if err := firstError(o.in.checkSource(), checkOut(o.out), distinct(append(o.in.files(), o.model, o.interval), named{"out", o.out})); err != nil {
		return err
	}
	m, err := readModel(o.model)
	if err != nil {
		return err
	}
	w, err := m.at(o.gamma)
	if err != nil {
		return err
	}
	be, err := engine.Default()
	if err != nil {
		return &inputError{err}
	}
	p := &predictor{fit: fitOf(w), asJSON: o.json}
	switch {
	case o.interval == "":
	case sameFile(o.interval, o.model):
		err = p.bracketAlone(m, w)
	default:
		err = p.bracket(o.interval, m, w, be)
	}
	if err != nil {
		return err
	}
	if p.source == fromSketch {
		fmt.Fprintf(stderr, "intervals: by the sketch alone; %s was written before models kept what narrows them: fit once more for narrower ones\n", o.model)
	}
	src, err := o.open(m, len(w.Coef), be)
	if err != nil {
		return err
	}
	if o.out == "" {
		err = p.run(ctx, src, stdout)
	} else {
		err = atomicfile.Write(o.out, func(f io.Writer) error { return p.run(ctx, src, f) })
	}
	if err != nil {
		return err
	}
	for j, s := range p.scores {
		r2 := "undefined, the target is constant"
		if v := s.r2(); !math.IsNaN(v) {
			r2 = fmt.Sprintf("%.6g", v)
		}
		fmt.Fprintf(stderr, "target %d: R² = %s; RMSE = %.6g over %d rows\n", j+1, r2, s.rmse(), s.n)
	}
	return nil
}

func fitOf(w Weights) *ridge.Solution {
	f := &ridge.Solution{Gamma: w.Gamma, Targets: make([]ridge.Target, len(w.Coef))}
	for j, c := range w.Coef {
		f.Targets[j] = ridge.Target{Coef: slices.Clone(c), Intercept: w.Intercept[j], ComputedTSS: math.NaN(), GradientNorm: math.NaN()}
	}
	return f
}

// open prepares the rows as they were for the fit. A svmlight file is as wide as
// the model, and its labels are there to be compared with.
func (o *predictOptions) open(m *model, targets int, be engine.Backend) (dataset.Source, error) {
	in := o.in
	if in.target.set {
		in.targets = targets
	}
	format, err := file.Format(splitList(in.data.value)[0], in.format)
	if err != nil {
		return nil, err
	}
	if format == "svmlight" {
		in.targets = 1
	}
	_, src, err := in.again(&m.Preparation, "model", targets)
	if err != nil {
		return nil, err
	}
	if src, err = m.Preparation.apply(src, be); err != nil {
		return nil, err
	}
	if _, d, _ := src.Dims(); d != len(m.Models[0].Coef[0]) { // as have all
		return nil, badInput("--model: %s makes %d features, and has %d weights", o.model, d, len(m.Models[0].Coef[0]))
	}
	return src, nil
}

// What intervals follow from.
const (
	fromSketch = "sketch"
	fromModel  = "model"
	fromBoth   = "sketch and model"
)

// bracket prepares for intervals by the sketch in a file, which must be of rows
// prepared as the model's were, and by the model's certificate. The rows are scaled
// then, and so the weights.
func (p *predictor) bracket(name string, m *model, w Weights, be engine.Backend) error {
	sum, d, err := load(name, be)
	if err != nil {
		return err
	}
	t, _ := p.fit.Dims()
	if cfg := sum.Config(); cfg.Dim != m.D || cfg.Targets != t {
		return badInput("--interval: the sketch in %s is of %d features and %d targets, the model of %d and %d", name, cfg.Dim, cfg.Targets, m.D, t)
	}
	fit := m.Preparation
	if m.Folded != nil {
		fit.Scaling = m.Folded
	}
	if !reflect.DeepEqual(d.Preparation, fit) {
		return badInput("--interval: the rows of %s were prepared in another way than the model's", name)
	}
	if err := sameRows(sum, m, w.TSS); err != nil {
		return badInput("--interval: %s: %w", name, err)
	}
	p.asFitted(m, w)
	if p.intervals, err = sum.Predictor(p.fit.Gamma); err != nil {
		return err
	}
	if p.source = fromSketch; w.Fitted == nil {
		return nil
	}
	p.source = fromBoth
	if err := p.certify(m, w); err != nil {
		return err
	}
	if err := p.intervals.Narrow(p.fit); err != nil {
		return badInput("--interval: %s: %w", name, err)
	}
	return nil
}

// bracketAlone prepares for intervals by the model's certificate alone.
func (p *predictor) bracketAlone(m *model, w Weights) error {
	switch {
	case w.Fitted == nil:
		return badInput("--interval: the model was written before models kept what an interval needs; fit once more, or name a sketch")
	case m.FitsCentre:
		return badInput("--interval: the model has an intercept, for which an interval needs the means of the rows too; name a sketch of them")
	}
	p.asFitted(m, w)
	if err := p.certify(m, w); err != nil {
		return err
	}
	var err error
	if p.intervals, err = p.fit.Predictor(); err != nil {
		return badInput("--interval: %w", err)
	}
	p.source = fromModel
	return nil
}

// asFitted takes the weights back to the scaled columns that they were fitted to, and
// has the rows scaled.
func (p *predictor) asFitted(m *model, w Weights) {
	if m.Folded == nil {
		return
	}
	m.Preparation.Scaling = m.Folded
	if w.Fitted != nil {
		p.fit = fitOf(Weights{Gamma: w.Gamma, Coef: w.Fitted.Coef, Intercept: w.Fitted.Intercept})
		return
	}
	for j := range p.fit.Targets {
		o := &p.fit.Targets[j]
		for i := range o.Coef {
			o.Intercept += o.Coef[i] * m.Folded.Mean[i]
			o.Coef[i] *= m.Folded.Scale[i]
		}
	}
}

// certify completes the fit by what the model says of it.
func (p *predictor) certify(m *model, w Weights) error {
	all, err := w.Certificate.certificates(len(p.fit.Targets))
	if err != nil {
		return badInput("--model: its certificate cannot be read: %w", err)
	}
	p.fit.Rows = m.N
	for j := range p.fit.Targets {
		o := &p.fit.Targets[j]
		if o.Certificate = all[j]; len(w.TSS) == len(all) {
			o.ComputedTSS = w.TSS[j]
		}
	}
	return nil
}

// sameRows refuses a sketch that is not of the rows the model was fitted to, as far
// as their number, the intercept and the targets tell.
func sameRows(sum *ridge.Summary, m *model, tss []float64) error {
	if sum.Rows() != m.N || sum.Config().Intercept != m.FitsCentre {
		return fmt.Errorf("it is of %d rows with intercept %v, the model of %d with intercept %v", sum.Rows(), sum.Config().Intercept, m.N, m.FitsCentre)
	}
	f, err := sum.Fit(1)
	if err != nil {
		return err
	}
	for j, want := range tss {
		if got := f.Targets[j].ComputedTSS; !(math.Abs(got-want) <= 1e-6*want) {
			return fmt.Errorf("‖b‖² of target %d is %.6g, the model was fitted to one of %.6g", j+1, got, want)
		}
	}
	return nil
}

// predictor writes predictions.
type predictor struct {
	fit       *ridge.Solution
	intervals *ridge.Predictor // nil: none are asked for
	source    string           // what they follow from
	asJSON    bool
	scores    []score
}

func (p *predictor) run(ctx context.Context, src dataset.Source, w io.Writer) error {
	_, d, t := src.Dims()
	k, _ := p.fit.Dims()
	if t == k {
		p.scores = make([]score, t)
	}
	out := bufio.NewWriter(w)
	var all [][]float64
	var brackets, within []ridge.Interval
	row, yhat, line := make([]float64, d), make([]float64, k), []byte(nil)
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return err
		}
		if p.intervals != nil {
			within = slices.Grow(within[:0], b.N*k)[:b.N*k]
			err := p.intervals.Predict(within, b)
			if errors.Is(err, ridge.ErrOtherRows) {
				return badInput("--interval: %w", err)
			}
			if err != nil {
				return err
			}
		}
		for i := range b.N {
			if err := p.fit.PredictRow(yhat, rowOf(b, i, row)); err != nil {
				return err
			}
			if slices.ContainsFunc(yhat, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
				return badInput("row %d: the prediction exceeds the range of float64", b.First+int64(i)+1)
			}
			for j := range p.scores {
				p.scores[j].add(b.Y[i*t+j], yhat[j])
			}
			if p.asJSON {
				all = append(all, slices.Clone(yhat))
				if p.intervals != nil {
					brackets = append(brackets, within[i*k:(i+1)*k]...)
				}
				continue
			}
			line = line[:0]
			for j, v := range yhat {
				if j > 0 {
					line = append(line, ',')
				}
				line = strconv.AppendFloat(line, v, 'g', -1, 64)
				if p.intervals != nil {
					line = strconv.AppendFloat(append(line, ','), within[i*k+j].Lo, 'g', -1, 64)
					line = strconv.AppendFloat(append(line, ','), within[i*k+j].Hi, 'g', -1, 64)
				}
			}
			if _, err := out.Write(append(line, '\n')); err != nil {
				return err
			}
		}
	}
	if p.asJSON {
		if err := p.writeJSON(out, all, brackets); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (p *predictor) writeJSON(w io.Writer, all [][]float64, brackets []ridge.Interval) error {
	report := map[string]any{"gamma": p.fit.Gamma, "n": len(all)}
	yhat := make([]perTarget[float64], len(all))
	for i, v := range all {
		yhat[i] = v
	}
	report["predictions"] = yhat
	if brackets != nil {
		k := len(brackets) / len(all)
		rows := make([]perTarget[ridge.Interval], len(all))
		for i := range rows {
			rows[i] = brackets[i*k : (i+1)*k]
		}
		report["intervals"], report["intervals_from"] = rows, p.source
	}
	var r2, rmse []float64
	for _, s := range p.scores {
		r2, rmse = append(r2, s.r2()), append(rmse, s.rmse())
	}
	if p.scores != nil {
		report["r2"], report["rmse"] = numbers(r2), numbers(rmse)
	}
	return json.NewEncoder(w).Encode(report)
}

// rowOf returns row i of a block, written out into row where it is sparse.
func rowOf(b dataset.Block, i int, row []float64) []float64 {
	if b.Sparse == nil {
		return b.X[i*len(row) : (i+1)*len(row)]
	}
	clear(row)
	idx, val := b.Sparse.Row(i)
	for k, j := range idx {
		row[j] = val[k]
	}
	return row
}
