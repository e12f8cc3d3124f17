package main

import (
	"bufio"
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/input"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/arrow"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/fileformat"
	"github.com/fdridge/fdridge/internal/jsonfields"
	"github.com/fdridge/fdridge/internal/safefile"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/columns"
	"github.com/fdridge/fdridge/table"
)

// diagnoseOptions holds the flags of the command diagnose.
type diagnoseOptions struct {
	modelFlags
	in          input.RowFlags
	holdout     float64
	size, worst int
	plot        string
}

// diagnoseFormats are the values of --out-format of diagnose.
var diagnoseFormats = []string{"auto", "csv", "arrow", "arrows", "npy"}

func diagnoseCommand() *cobra.Command {
	o := &diagnoseOptions{modelFlags: modelFlags{formats: diagnoseFormats}, in: input.NewRowFlags()}
	c := &cobra.Command{
		Use:   "diagnose --model MODEL --data FILE --target NAME",
		Short: "Find the training rows that fit badly or have much influence",
		Long: `Find the training rows that fit badly or have much influence. For each row of the fit, diagnose
computes the residual, the leverage (intercept included), and the leave-one-out residual: the error
of predicting the row by the exact fit to all other rows. Every figure has a proved bracket. --data
must be the rows of the fit.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.in.Listen(cmd, false)
			err := o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
			return hintAtModel(nameData(o.in.Data.Value, err))
		},
	}
	f := c.Flags()
	o.registerModel(f)
	f.Var(&o.in.Data, "data", "files of the rows of the fit")
	o.in.RegisterText(f)
	f.Var(&o.in.Target, "target", "target column, as for fit")
	f.Var(&o.in.Weights, "weights", "sample weights, as for fit")
	o.in.RegisterRows(f)
	f.Float64Var(&o.holdout, "holdout", 0, "leave out the rows that fit --holdout kept out, as for fit")
	f.IntVar(&o.size, "size", 256, fmt.Sprintf("rows of the sketch, if there are more than %d features", wholeDim))
	f.IntVar(&o.worst, "worst", 10, "print the K rows with the largest leave-one-out residuals")
	f.StringVar(&o.plot, "plot", "", "draw leave-one-out residuals against leverages to FILE, .png or .svg")
	o.registerOut(
		f, "write the figures of every row to FILE", "form of the figures: auto, csv, arrow, arrows or npy",
		"print one JSON object instead of text",
	)
	return c
}

// check returns an error if a flag is invalid. Otherwise it returns the format of the file named by --out, such as
// csv or npy.
func (o *diagnoseOptions) check() (form string, err error) {
	switch {
	case o.model == "" || !o.in.Data.Given:
		return "", cli.BadInput("diagnose needs --model and --data")
	case o.size < 1:
		return "", cli.BadInput("--size: %d, the sketch needs at least one row", o.size)
	case o.worst < 0:
		return "", cli.BadInput("--worst: %d, must be at least 0", o.worst)
	case o.outFormat != "auto" && o.out == "":
		return "", cli.BadInput("--out-format: it needs --out FILE")
	}
	form, err = o.form()
	if err != nil {
		return "", err
	}
	form = cmp.Or(form, "csv")
	if o.plot != "" {
		if err := checkPicture("plot", o.plot); err != nil {
			return "", err
		}
	}
	return form, cli.FirstError(
		o.in.Check(),
		o.checkHoldout(),
		cli.CheckOut(o.out),
		cli.CheckOutput("plot", o.plot),
		cli.Distinct(
			append(o.in.Files(), o.model),
			cli.Output{Flag: "out", Path: o.out},
			cli.Output{Flag: "plot", Path: o.plot},
		),
	)
}

// checkHoldout validates --holdout.
func (o *diagnoseOptions) checkHoldout() error {
	if (dataset.Holdout{Share: o.holdout}).Check() != nil {
		return cli.BadInput("--holdout: %v, must be at least 0 and below 1", o.holdout)
	}
	return nil
}

func (o *diagnoseOptions) run(ctx context.Context, stdout, stderr io.Writer) error {
	form, err := o.check()
	if err != nil {
		return err
	}
	m, err := o.load()
	if err != nil {
		return err
	}
	w := &m.Fits[0]
	switch {
	case m.Classes != nil:
		return cli.BadInput("diagnose: residuals are numbers, and the model predicts classes")
	case w.Gamma == 0:
		return cli.BadInput("diagnose: gamma is 0, and the brackets need a positive gamma")
	}
	tally := new(prepare.Tally)
	src, numbers, err := o.open(ctx, m, tally)
	if err != nil {
		return err
	}
	d := &diagnosedRows{m: m, src: src, size: o.size}
	if err := d.summarize(ctx); err != nil {
		return o.explain(m, err)
	}
	groups := d.leverageGroups()
	run := &diagnosisRun{
		targets:  len(w.Coef),
		rows:     int(d.sum.Rows()),
		groups:   groups,
		worst:    worstRows{most: o.worst},
		number:   numbers,
		leverage: make([]float64, groups),
		most:     make([]ridge.Interval, groups),
	}
	if o.plot != "" {
		run.sample = newRowSample()
	}
	var scores *ridge.LeftOutScores
	pass := func(to rowWriter) error {
		run.to = to
		var err error
		scores, err = ridge.Diagnose(
			ctx,
			d.read,
			d.sum,
			d.fit,
			ridge.DiagnoseOptions{},
			run.use,
		)
		return err
	}
	if o.out == "" {
		err = pass(nil)
	} else {
		err = safefile.Write(o.out, func(f io.Writer) error {
			return writeFigures(f, form, run, pass)
		})
	}
	if err != nil {
		return o.explain(m, err)
	}
	if n := tally.Dropped.Load(); n > 0 {
		fmt.Fprintf(stderr, "left out because of missing values: %s (row numbers count them)\n", count(n, "row"))
	}
	worst := run.worst.sorted()
	if o.plot != "" {
		picture := report.RowPicture{
			Rows:    run.rows,
			Targets: run.targets,
			Worst:   worst,
			Sample:  run.sample.rows,
			IsExact: d.isWhole,
		}
		if err := savePicture(picture.Figure(), "plot", o.plot); err != nil {
			return err
		}
	}
	return o.print(stdout, d, run, worst, scores)
}

// open opens the rows of the fit, with their targets, and prepares them like the fit. Each call of numbers returns
// the position of the next row of the fit in the files, counted from 1.
func (o *diagnoseOptions) open(
	ctx context.Context,
	m *model.Model,
	tally *prepare.Tally,
) (src dataset.Source, numbers func() int64, err error) {
	targets := len(m.Fits[0].Coef)
	like := table.Like{
		Preparation: &m.Preparation,
		Owner:       "model",
		Targets:     targets,
		Own:         targets,
	}
	rows, err := o.in.OpenLike(ctx, like, "")
	if err != nil {
		return nil, nil, err
	}
	src = rows.Source
	if _, _, t := src.Dims(); t != targets {
		return nil, nil, cli.BadInput("--target: the model has %s, the rows have %d", count(int64(targets), "target"), t)
	}
	s := o.in.Spec()
	held := dataset.Holdout{Share: o.holdout, First: s.FirstRow()}
	if held.Share > 0 {
		src, _, err = held.Split(src)
		if err != nil {
			return nil, nil, err
		}
	}
	var leftOut rowSet
	numbers = rowNumbers(held, &leftOut)
	prep := m.FittedPreparation()
	src, err = table.Prepare(&prep, src, nil, prepare.EncodeOptions{
		Cells:   rows.Opened.Cells,
		LeftOut: leftOut.add,
		Tally:   tally,
	})
	return src, numbers, err
}

// rowNumbers returns a function for the positions of the rows of the fit in the files. Each call returns the
// position of the next row, counted from 1. The argument held tells which rows of the files were held out. The
// argument leftOut has the rows that were left out because of missing values. It counts them from 0, among the rows
// that were not held out.
func rowNumbers(held dataset.Holdout, leftOut *rowSet) func() int64 {
	at := int64(0)      // row of the files
	notHeld := int64(0) // number of rows before it that were not held out
	return func() int64 {
		for {
			row := at
			at++
			if held.Share > 0 && held.Held(row) {
				continue
			}
			notHeld++
			if !leftOut.has(notHeld - 1) {
				return held.First + at
			}
		}
	}
}

// A rowSet is a set of row numbers. It needs one bit for each number up to the largest.
type rowSet struct{ words []uint64 }

func (s *rowSet) add(row int64) {
	for int64(len(s.words)) <= row/64 {
		s.words = append(s.words, 0)
	}
	s.words[row/64] |= 1 << (row % 64)
}

func (s *rowSet) has(row int64) bool {
	return row/64 < int64(len(s.words)) && s.words[row/64]>>(row%64)&1 != 0
}

// explain rewrites an error to name flags if the rows are not the training rows of the model.
func (o *diagnoseOptions) explain(m *model.Model, err error) error {
	if errors.Is(err, ridge.ErrOtherRows) || errors.Is(err, errOtherDiagnosed) {
		return cli.BadInput(
			"--data: these are not the %s of the fit (%w); repeat its --target, --rows, --holdout and --weights",
			count(m.Rows, "row"), err)
	}
	return predictionError(err)
}

// errOtherDiagnosed reports that the rows are not the training rows: a fit of them gives other coefficients than
// the model has, or their number differs.
var errOtherDiagnosed = errors.New("they give another solution")

// diagnosedRows holds the training rows of a model and the summary that the first pass over them makes.
type diagnosedRows struct {
	m    *model.Model
	src  dataset.Source // prepared
	size int            // rows of a sketch

	read    dataset.Source // the rows for the second pass
	sum     *ridge.Summary
	fit     *ridge.Solution
	from    string // where the brackets come from, in words
	isWhole bool   // the summary loses nothing
}

// wholeDim limits exact summaries of the rows. For at most wholeDim features, a summary stores the Gram matrix. For
// at most wholeDim rows, it stores all rows.
const wholeDim = 2048

// summarize makes the first pass over the rows and stores a summary. There are three kinds of summary:
//
//   - For at most wholeDim features, it is the Gram matrix AᵀA, where A are the rows.
//   - Otherwise, for at most wholeDim rows, it consists of all rows.
//   - In all other cases, it is a sketch, a smaller matrix that approximates the rows.
//
// From the first two kinds, the solution is computed again, and the brackets of the diagnostics are as narrow as
// round-off allows. A sketch gives wider brackets, and the solution is the model's.
func (d *diagnosedRows) summarize(ctx context.Context) error {
	var free []int
	for j := range d.m.Preparation.Inputs {
		if d.m.Unpenalized(j) {
			free = append(free, j)
		}
	}
	var rounding []float64
	if d.m.Folded != nil {
		rounding = d.m.Folded.Rounding()
	}
	_, dim, _ := d.src.Dims()
	change, err := columns.New(dim, nil, free, rounding)
	if err != nil {
		return err
	}
	change, err = change.Learn(ctx, d.src, columns.Options{Intercept: d.m.Intercept})
	if err != nil {
		return err
	}
	rows, err := change.Apply(d.src)
	if err != nil {
		return err
	}
	d.read, err = change.ApplyWithLeverages(d.src)
	if err != nil {
		return err
	}
	n, dim, _ := rows.Dims()
	cfg := ridge.SummaryConfig{Size: d.size, Intercept: d.m.Intercept}
	d.isWhole = true
	switch {
	case dim <= wholeDim:
		cfg.Store = fd.StoreScatter
		d.from = "AᵀA, exact within round-off"
	case n >= 0 && n <= wholeDim:
		cfg.Size = int(n) + 1
		d.from = "all rows, exact within round-off"
	case free != nil:
		return cli.BadInput("diagnose: with columns without penalty, at most %d features are possible", wholeDim)
	default:
		d.isWhole = false
		d.from = fmt.Sprintf("a sketch of %d rows", d.size)
	}
	d.sum, err = ridge.Summarize(ctx, rows, cfg, nil)
	if err != nil {
		return err
	}
	if d.sum.Rows() != d.m.Rows {
		return fmt.Errorf("%w: %d rows", errOtherDiagnosed, d.sum.Rows())
	}
	d.sum.WithErrors(change.Errors())
	if !d.isWhole {
		d.fit, err = d.m.FittedSolution()
		return err
	}
	w := &d.m.Fits[0]
	if w.Gammas != nil {
		d.fit, err = d.sum.FitEach(w.Gammas)
	} else {
		d.fit, err = d.sum.Fit(w.Gamma)
	}
	if err != nil {
		return err
	}
	return d.compare(free)
}

// compare returns errOtherDiagnosed if the solution computed from the rows cannot be the model's. It then differs
// from the model's solution by more than a limit. The limit is the sum of both error bounds and a thousandth of the
// norm of the model's coefficients.
func (d *diagnosedRows) compare(free []int) error {
	w := &d.m.Fits[0]
	coef := w.Coef
	if w.Fitted != nil && len(w.Fitted.Coef) > 0 {
		coef = w.Fitted.Coef
	}
	certificates, err := w.Certificates()
	if err != nil {
		return nil // an old model has no bounds to compare with
	}
	for j, o := range d.fit.Targets {
		var off, size float64
		at := 0
		for i, v := range coef[j] {
			if slices.Contains(free, i) {
				continue
			}
			off = math.Hypot(off, v-o.Coef[at])
			size = math.Hypot(size, v)
			at++
		}
		if off > certificates[j].ErrorBound+o.ErrorBound+1e-3*size {
			return errOtherDiagnosed
		}
	}
	return nil
}

// leverageGroups returns the number of leverages of a row: the number of targets if their γ differ, otherwise 1.
func (d *diagnosedRows) leverageGroups() int {
	for j := range d.fit.Targets {
		if d.fit.GammaOf(j) != d.fit.Gamma {
			return len(d.fit.Targets)
		}
	}
	return 1
}

// A rowWriter writes the figures of a row.
type rowWriter func(figures []float64) error

// diagnosisRun receives the diagnostics of rows.
type diagnosisRun struct {
	targets, rows int
	groups        int          // number of leverages of a row: 1, or one for each target
	to            rowWriter    // nil: none
	number        func() int64 // returns the number of the next row in the files, from 1
	figures       []float64
	worst         worstRows
	sample        *rowSample       // rows to draw; nil: none
	leverage      []float64        // for each leverage of a row, the sum of its estimates
	most          []ridge.Interval // for each leverage of a row, the largest over the rows
}

// columnNames returns the names of the numbers that are written for each row.
func (r *diagnosisRun) columnNames() []string {
	names := []string{"row", "weight"}
	names = appendNumbered(names, r.groups, "leverage")
	return appendNumbered(names, r.targets, "residual", "leave_one_out")
}

// appendNumbered appends the names of the columns of count groups. A group has a column for each element of of, and
// two more for the ends of its bracket. If there are several groups, their names end in the number of the group.
func appendNumbered(names []string, count int, of ...string) []string {
	for j := range count {
		suffix := ""
		if count > 1 {
			suffix = fmt.Sprintf("_%d", j+1)
		}
		for _, name := range of {
			names = append(names, name+suffix, name+"_low"+suffix, name+"_high"+suffix)
		}
	}
	return names
}

func (r *diagnosisRun) use(o *ridge.RowDiagnostics) error {
	for j := range r.groups {
		bracket, estimate := o.LeverageOf(j)
		r.leverage[j] += estimate
		if bracket.Hi > r.most[j].Hi {
			r.most[j] = bracket
		}
	}
	number := r.number()
	r.worst.add(o, number)
	if r.sample != nil {
		r.sample.add(o, number)
	}
	if r.to == nil {
		return nil
	}
	f := append(r.figures[:0], float64(number), o.Weight)
	for j := range r.groups {
		bracket, estimate := o.LeverageOf(j)
		f = append(f, estimate, bracket.Lo, bracket.Hi)
	}
	for j := range r.targets {
		f = append(f, o.ResidualEstimate[j], o.Residual[j].Lo, o.Residual[j].Hi)
		f = append(f, o.LeftOutEstimate[j], o.LeftOut[j].Lo, o.LeftOut[j].Hi)
	}
	r.figures = f
	return r.to(f)
}

// worstRows keeps the rows whose estimated leave-one-out residuals are largest. They are a heap whose first element
// is the smallest of them. Each exact residual lies in a bracket. Of all other rows, worstRows keeps the row whose
// bracket reaches furthest from 0.
type worstRows struct {
	most  int
	rows  []sizedRow
	other openRow
}

// An openRow is a row and the bracket of its leave-one-out residual. reach is the largest distance of the bracket
// from 0, a number or +Inf.
type openRow struct {
	row     int64 // counted from 1; 0: there is no row
	target  int   // counted from 1
	leftOut ridge.Interval
	reach   float64
}

// A sizedRow is a row and its size, the absolute value of its estimated leave-one-out residual.
type sizedRow struct {
	report.WorstRow
	size float64
	open openRow
}

func (w *worstRows) Len() int { return len(w.rows) }
func (w *worstRows) Less(i, j int) bool {
	return w.rows[i].size < w.rows[j].size
}
func (w *worstRows) Swap(i, j int) {
	w.rows[i], w.rows[j] = w.rows[j], w.rows[i]
}

// Push and Pop complete the interface of container/heap, but are not called: worstRows appends an element or
// replaces the first.
func (w *worstRows) Push(any) {}
func (w *worstRows) Pop() any { return nil }

// newOpenRow returns the openRow of the row with the given number. Of several targets, it takes the target whose
// bracket reaches furthest from 0.
func newOpenRow(o *ridge.RowDiagnostics, number int64) openRow {
	out := openRow{reach: -1}
	for j, v := range o.LeftOut {
		reach := math.Max(-v.Lo, v.Hi)
		if reach > out.reach {
			out = openRow{number, j + 1, v, reach}
		}
	}
	return out
}

// leave is called for a row that is not among the worst. It keeps the row if its bracket reaches furthest from 0 so
// far.
func (w *worstRows) leave(o openRow) {
	if w.other.row == 0 || o.reach > w.other.reach {
		w.other = o
	}
}

// mayBeWorse returns a row that is not among the worst rows, but may belong to them. By its bracket, its absolute
// leave-one-out residual may exceed the smallest among the worst by more than round-off. If there is no such row,
// the result is nil.
func (w *worstRows) mayBeWorse() *openRow {
	if w.most == 0 || w.other.row == 0 {
		return nil
	}
	least := 0.0
	if len(w.rows) > 0 {
		least = slices.MinFunc(w.rows, func(a, b sizedRow) int {
			return cmp.Compare(a.size, b.size)
		}).size
	}
	if !(w.other.reach > least*(1+1e-6)) {
		return nil
	}
	return &w.other
}

// add keeps the row with the given number if its absolute leave-one-out residual is among the largest so far.
func (w *worstRows) add(o *ridge.RowDiagnostics, number int64) {
	open := newOpenRow(o, number)
	worst := -1
	for j, v := range o.LeftOutEstimate {
		if !math.IsNaN(v) &&
			(worst < 0 || math.Abs(v) > math.Abs(o.LeftOutEstimate[worst])) {
			worst = j
		}
	}
	if worst < 0 || w.most == 0 {
		w.leave(open)
		return
	}
	leverage, _ := o.LeverageOf(worst)
	one := sizedRow{
		open: open,
		WorstRow: report.WorstRow{
			Row:      number,
			Target:   worst + 1,
			Leverage: leverage,
			Residual: o.Residual[worst],
			LeftOut:  o.LeftOut[worst],
			Estimate: report.DiagnosedRow{
				Row:       number,
				Leverages: appendLeverages(nil, o),
				LeftOut:   slices.Clone(o.LeftOutEstimate),
			},
		},
		size: math.Abs(o.LeftOutEstimate[worst]),
	}
	switch {
	case len(w.rows) < w.most:
		w.rows = append(w.rows, one)
		heap.Fix(w, len(w.rows)-1)
	case one.size > w.rows[0].size:
		w.leave(w.rows[0].open)
		w.rows[0] = one
		heap.Fix(w, 0)
	default:
		w.leave(open)
	}
}

// appendLeverages appends the estimated leverage of a row for each target to dst.
func appendLeverages(dst []float64, o *ridge.RowDiagnostics) []float64 {
	for j := range o.LeftOutEstimate {
		_, estimate := o.LeverageOf(j)
		dst = append(dst, estimate)
	}
	return dst
}

// sorted returns the worst rows, the largest absolute leave-one-out residual first. Rows with equal residuals are
// in the order of the files.
func (w *worstRows) sorted() []report.WorstRow {
	slices.SortFunc(w.rows, func(a, b sizedRow) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.Row, b.Row))
	})
	out := []report.WorstRow{}
	for _, r := range w.rows {
		out = append(out, r.WorstRow)
	}
	return out
}

// mostSampled is the largest number of rows in a rowSample.
const mostSampled = 1000

// rowSample keeps a uniform random sample of the rows by reservoir sampling, Algorithm R in J. S. Vitter, "Random
// Sampling with a Reservoir", ACM Transactions on Mathematical Software 11 (1985).
type rowSample struct {
	rows   []report.DiagnosedRow
	seen   int64
	random *rand.Rand
}

// newRowSample returns an empty sample. Its seed is fixed, so that two runs draw the same rows.
func newRowSample() *rowSample {
	return &rowSample{random: rand.New(rand.NewPCG(1, 2))}
}

// add adds a row to the sample with probability mostSampled divided by the number of rows so far. The first
// mostSampled rows are all added; a later row replaces a random row of the sample.
func (s *rowSample) add(o *ridge.RowDiagnostics, number int64) {
	s.seen++
	at := s.seen - 1
	if at >= mostSampled {
		at = s.random.Int64N(s.seen)
	}
	switch {
	case at >= mostSampled:
		return
	case at == int64(len(s.rows)):
		s.rows = append(s.rows, report.DiagnosedRow{})
	}
	r := &s.rows[at]
	r.Row = number
	r.Leverages = appendLeverages(r.Leverages[:0], o)
	r.LeftOut = append(r.LeftOut[:0], o.LeftOutEstimate...)
}

// writeFigures writes the numbers of all rows to w in the given format. pass calls a rowWriter for each row, so
// that the numbers of all rows are never in memory together.
func writeFigures(w io.Writer, form string, run *diagnosisRun, pass func(rowWriter) error) error {
	switch form {
	case "arrow", "arrows":
		to, err := arrow.NewWriter(w, form == "arrows", run.columnNames())
		if err != nil {
			return err
		}
		if err := pass(to.Append); err != nil {
			return err
		}
		return to.Close()
	case "npy":
		to := fileformat.NewNPYWriter(w, run.rows, len(run.columnNames()))
		if err := pass(to.Append); err != nil {
			return err
		}
		return to.Close()
	}
	to := bufio.NewWriter(w)
	if _, err := fmt.Fprintln(to, strings.Join(run.columnNames(), ",")); err != nil {
		return err
	}
	var line []byte
	err := pass(func(figures []float64) error {
		line = line[:0]
		for i, v := range figures {
			if i > 0 {
				line = append(line, ',')
			}
			line = strconv.AppendFloat(line, v, 'g', -1, 64)
		}
		_, err := to.Write(append(line, '\n'))
		return err
	})
	if err != nil {
		return err
	}
	return to.Flush()
}

// A diagnosisRecord is the JSON form of the output.
type diagnosisRecord struct {
	Version  int               `json:"fdridge_report"`
	N        int               `json:"n"`
	Gamma    float64           `json:"gamma"`
	From     string            `json:"brackets_from"`
	RMSE     []ridge.Interval  `json:"leave_one_out_rmse"` // for each target
	Leverage model.Number      `json:"leverage_sum"`       // estimate
	Most     ridge.Interval    `json:"largest_leverage"`
	Worst    []report.WorstRow `json:"worst"`

	// The other fields have an element for each target if the targets have different γ. Otherwise they are nil. Gamma,
	// Leverage and Most are then for the smallest γ.
	Gammas    []float64        `json:"gammas,omitempty"`
	Leverages []model.Number   `json:"leverage_sums,omitempty"`
	Mosts     []ridge.Interval `json:"largest_leverages,omitempty"`
}

// newDiagnosisRecord returns the record without the leave-one-out errors and the worst rows.
func newDiagnosisRecord(d *diagnosedRows, run *diagnosisRun) *diagnosisRecord {
	rec := &diagnosisRecord{
		Version: report.ReportVersion,
		N:       run.rows,
		Gamma:   d.fit.Gamma,
		From:    d.from,
	}
	smallest := 0
	if run.groups > 1 {
		smallest = slices.Index(d.fit.Gammas, d.fit.Gamma)
		rec.Gammas = d.fit.Gammas
		rec.Mosts = run.most
		for _, v := range run.leverage {
			rec.Leverages = append(rec.Leverages, model.Number(v))
		}
	}
	rec.Leverage = model.Number(run.leverage[smallest])
	rec.Most = run.most[smallest]
	return rec
}

// print prints the summary and the worst rows.
func (o *diagnoseOptions) print(
	w io.Writer,
	d *diagnosedRows,
	run *diagnosisRun,
	worst []report.WorstRow,
	scores *ridge.LeftOutScores,
) error {
	rec := newDiagnosisRecord(d, run)
	rec.Worst = worst
	for _, v := range scores.Bounds[0] {
		rec.RMSE = append(rec.RMSE, ridge.Interval{
			Lo: outwardRoot(v.Lo, math.Inf(-1)),
			Hi: outwardRoot(v.Hi, math.Inf(1)),
		})
	}
	if o.json {
		return jsonfields.Encode(w, rec, "")
	}
	gamma := fmt.Sprintf("gamma = %g", d.fit.Gamma)
	if run.groups > 1 {
		gamma = "a gamma for each target"
	}
	fmt.Fprintf(w, "%s, %s; brackets by %s\n", count(int64(run.rows), "row"), gamma, d.from)
	for j, sum := range run.leverage {
		if run.groups > 1 {
			fmt.Fprintf(w, "target %d, gamma = %g: ", j+1, d.fit.GammaOf(j))
		}
		fmt.Fprintf(
			w, "sum of leverages ≈ %.4g, mean %.3g; largest leverage %s\n",
			sum, sum/float64(max(1, run.rows)), report.Figure(run.most[j]))
	}
	for j, v := range rec.RMSE {
		fmt.Fprintf(w, "leave-one-out RMSE%s: %s\n", ofTarget(j+1, len(rec.RMSE)), report.Figure(v))
	}
	if len(rec.Worst) > 0 {
		fmt.Fprintf(w, "\nrows with the largest leave-one-out residuals\n\n")
		report.WriteWorst(w, rec.Worst, run.targets)
	}
	if o := run.worst.mayBeWorse(); o != nil {
		fmt.Fprintf(
			w, "\nThe rows are compared by estimates. Row %d%s is not among them, and may be worse: it is in %s.\n",
			o.row, ofTarget(o.target, run.targets), report.Figure(o.leftOut))
	}
	return nil
}

// ofTarget returns a text such as " of target 2" for target j, counted from 1. If there is one target, it returns
// "".
func ofTarget(j, targets int) string {
	if targets == 1 {
		return ""
	}
	return fmt.Sprintf(" of target %d", j)
}

// outwardRoot returns the square root of v, moved to the next float64 towards direction, but at least 0.
func outwardRoot(v, direction float64) float64 {
	return math.Max(0, math.Nextafter(math.Sqrt(v), direction))
}
