package table

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge/classes"
)

// A Table holds rows that have been opened and prepared for a fit.
type Table struct {
	Rows        *Rows             // as they are read from the files
	Source      dataset.Source    // the rows of the fit, prepared
	Counted     *batch.Counter    // counts nonzeros in the encoded rows, which Source reads
	Preparation model.Preparation // how the rows were prepared, for the model
	Encoded     *Encoded          // the encoding; nil: all cells are numbers
	Holdout     dataset.Holdout   // the rule that selects the held-out rows
	Held        dataset.Source    // the held-out rows; nil: none. See HeldAsFitted
	Classes     *classes.Classes  // the labels of a classification; nil: a regression
	Penalised                     // the penalties of the columns
	Parts       []Parts           // the part of the data that Spec.Part selects; nil: all
	Passes      int               // number of passes that the preparation took, besides Rows.Opened.Scans

	env Env
}

// An Encoded describes how missing values and categorical columns are replaced by numbers.
type Encoded struct {
	Encoding *prepare.Encoding
	Learnt   *prepare.Learnt // result of the pass that examines the columns; nil: no such pass
	Tally    *prepare.Tally  // counts of missing, wrong and unknown values in the rows that were encoded
}

// Open opens and prepares the rows of s, in the stages that the package comment lists. It makes a pass over the
// rows only if a stage needs one. Such stages decide on columns, learn levels and means, standardise, or read
// labels.
//
// If a field is invalid or contradicts another field, the error is a *[SpecError]. If a cell cannot be read, it is
// a *[dataset.InputError]. Other errors are the errors of [file.Open].
func Open(ctx context.Context, s Spec, env Env) (*Table, error) {
	asked, err := resolve(s)
	if err != nil {
		return nil, err
	}
	env.Backend, err = engine.OrDefault(env.Backend)
	if err != nil {
		return nil, err
	}
	parts, stamps := asked.parts()
	if env.Seen == nil {
		env.Seen = stamps
	}
	if env.Job == nil {
		env.Job = new(batch.Job)
	}
	in := &reading{
		resolved: asked,
		env:      &env,
		pipe:     env.listen(ctx, &s),
		like:     expected{targets: -1},
	}
	if s.Classes {
		in.like.labels = prepare.NewLabels()
	}
	decided, err := in.decide(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := in.open(ctx, decided)
	if err != nil {
		return nil, err
	}
	split, err := in.holdOut(ctx, rows.Source)
	if err != nil {
		return nil, err
	}
	coded, err := in.encode(ctx, rows, split, decided)
	if err != nil {
		return nil, err
	}
	penalised, err := asked.penalise(ctx, &coded.prep, env.Seen, env.NeedsPenalty)
	if err != nil {
		return nil, err
	}
	scaling, err := env.Job.Scaling(func() (*dataset.Scaling, error) {
		return in.scale(ctx, coded, penalised.P)
	})
	if err != nil {
		return nil, err
	}
	labels, err := in.label(ctx, coded.rows)
	if err != nil {
		return nil, err
	}
	env.Job.Count(coded.rows)
	t := &Table{
		Rows:        rows,
		Counted:     coded.rows,
		Preparation: coded.prep,
		Encoded:     coded.encoded,
		Holdout:     split.rule,
		Classes:     labels,
		Penalised:   penalised,
		Parts:       parts,
		env:         env,
		Passes:      coded.passes,
	}
	t.Preparation.Scaling = scaling
	t.Preparation.Expand(asked.expansion)
	if s.Standardize == ScaleAll {
		t.Passes++
	}
	if s.Classes {
		t.Passes++
	}
	return t, t.prepare(split.held)
}

// decide returns the encoding of each column, from a plan or from a pass over the rows. It returns nil if no column
// needs a decision.
func (r *reading) decide(ctx context.Context) (*Encoded, error) {
	if r.plan != nil {
		return &Encoded{Encoding: r.plan, Tally: new(prepare.Tally)}, nil
	}
	if r.rules == nil {
		return nil, nil
	}
	isAll := func(s string) bool { return s == allText }
	look := *r
	look.like.cells = &prepare.Cells{
		Look:   true,
		OneHot: slices.DeleteFunc(slices.Clone(r.spec.OneHot), isAll),
	}
	rows, err := look.read(ctx)
	if err != nil {
		return nil, err
	}
	options := prepare.LookOptions{Names: rows.Opened.Names, Rules: *r.rules}
	options.Cells = rows.Opened.Cells
	options.Share = dataset.Share{Size: 1}
	held, err := r.heldOut(ctx, rows.Source)
	if err != nil {
		return nil, err
	}
	if held.Share > 0 {
		options.Held = held.Held
	}
	if r.env.Ranks != nil {
		options.Share = r.env.shareOf(r.share)
		options.Link = r.env.Ranks
	}
	e, learnt, err := prepare.Look(
		ctx,
		r.env.count("looking at columns", rows.Source),
		options,
	)
	if err != nil {
		return nil, prepare.NameRows(r.spec.Name(), err)
	}
	return &Encoded{Encoding: e, Learnt: learnt, Tally: new(prepare.Tally)}, nil
}

// open opens the rows with the columns that the encoding decided requires. If decided is nil, there is no such
// encoding. open reads the rows through the cache. If files of different ranks have different columns, it returns
// an error.
func (r *reading) open(ctx context.Context, decided *Encoded) (*Rows, error) {
	in := *r
	in.like.cells = r.cells()
	if decided != nil {
		in.like.cells = decided.Encoding.Cells()
		in.like.names = decided.Encoding.Names
		in.like.planned = true
		if r.env.PlanOut != nil && r.env.Leads() {
			if err := r.env.PlanOut(decided.Encoding); err != nil {
				return nil, err
			}
		}
	}
	rows, err := in.read(ctx)
	if err != nil {
		return nil, err
	}
	if r.env.Ranks != nil {
		if err := agreeOnLayout(ctx, r.env.Ranks, rows.Opened); err != nil {
			return nil, err
		}
	}
	rows.Source, err = r.env.Cache.wrap(rows.Source, r.cacheKey)
	return rows, err
}

// A split divides the rows into the rows for the fit and the held-out rows.
type split struct {
	rule   dataset.Holdout
	fitted dataset.Source
	held   dataset.Source // nil: none
}

// holdOut splits the rows.
func (r *reading) holdOut(ctx context.Context, src dataset.Source) (*split, error) {
	rule, err := r.heldOut(ctx, src)
	if err != nil || rule.Share == 0 {
		return &split{fitted: src}, err
	}
	fitted, held, err := rule.Split(src)
	return &split{rule, fitted, held}, err
}

// heldOut returns the rule that selects the held-out rows of src by their row numbers.
func (r *reading) heldOut(ctx context.Context, src dataset.Source) (dataset.Holdout, error) {
	rule := dataset.Holdout{Share: r.spec.Holdout}
	if rule.Share == 0 {
		return rule, nil
	}
	if r.env.Ranks != nil {
		first, err := firstRow(ctx, r.env.Ranks, src)
		if err != nil {
			return rule, err
		}
		rule.First = first
	}
	rule.First += r.lo
	return rule, nil
}

// coded holds the encoded rows of the fit.
type coded struct {
	rows    *batch.Counter
	prep    model.Preparation // without the scaling of Spec.Standardize and of penalties
	encoded *Encoded          // nil: all cells are numbers
	passes  int
}

// encode replaces missing values and categorical columns in the rows of the fit by numbers. If decided is nil, it
// makes a pass over all rows if it needs the levels or means of columns. With several processes, it also makes this
// pass if any cell may be something other than a number.
func (r *reading) encode(ctx context.Context, rows *Rows, s *split, decided *Encoded) (*coded, error) {
	out := &coded{encoded: decided}
	prep := &out.prep
	if !rows.Opened.Text.IsZero() {
		prep.Text = &rows.Opened.Text
	}
	_, prep.Inputs, _ = rows.Source.Dims()
	prep.Names = unique(rows.Opened.Names)
	cells := rows.Opened.Cells.WithoutLabels()
	if decided == nil && cells != nil {
		e, err := prepare.NewEncoding(
			prep.Inputs,
			prep.Names,
			cells.Missing,
			cells.Features,
		)
		if err != nil {
			return nil, err
		}
		out.encoded = &Encoded{Encoding: e, Tally: new(prepare.Tally)}
		if r.spec.Learns() != "" || r.env.Ranks != nil {
			out.passes++
			out.encoded.Learnt, err = r.learn(ctx, e, rows.Source, cells, s.rule)
			if err != nil {
				return nil, err
			}
		}
	}
	fitted := s.fitted
	if out.encoded != nil {
		prep.Encode(out.encoded.Encoding)
		prep.Names = unique(prep.Names)
		var err error
		fitted, err = out.encoded.Encoding.Apply(
			fitted,
			prepare.EncodeOptions{Cells: cells, Tally: out.encoded.Tally},
		)
		if err != nil {
			return nil, err
		}
	}
	out.rows = &batch.Counter{Source: fitted}
	return out, nil
}

// learn makes a pass over the rows of src, and stores the levels and means of the columns in e.
func (r *reading) learn(
	ctx context.Context,
	e *prepare.Encoding,
	src dataset.Source,
	cells *prepare.Cells,
	held dataset.Holdout,
) (*prepare.Learnt, error) {
	options := prepare.LearnOptions{Cells: cells}
	if held.Share > 0 {
		options.Held = held.Held
	}
	if r.env.Ranks != nil {
		options.Share = r.env.shareOf(r.share)
		options.Link = r.env.Ranks
	}
	learnt, err := e.Learn(ctx, r.env.count("reading columns", src), options)
	return learnt, prepare.NameRows(r.spec.Name(), err)
}

// unique returns names, or nil if names contains the same name twice.
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

// scale returns the scaling of the columns. If Spec.Standardize is true, columns are shifted to mean 0 and scaled
// to standard deviation 1. Each column is then divided by the square root of its penalty. A penalty of 0 counts as
// 1. If penalty is nil, all penalties are 1.
func (r *reading) scale(ctx context.Context, c *coded, penalty []float64) (*dataset.Scaling, error) {
	prep := c.prep
	if r.spec.Standardize == ScaleAll {
		const rule = "the means and deviations of %d columns"
		if err := checkMemory(8*8*float64(prep.Inputs), "Standardize", rule, prep.Inputs); err != nil {
			return nil, err
		}
		c.rows.Progress = r.env.progress("standardising", c.rows.Source)
		share := dataset.Share{Size: 1}
		reduce := func(context.Context, []float64) error { return nil }
		if r.env.Ranks != nil {
			share = r.env.shareOf(r.share)
			reduce = r.env.Ranks.Allreduce
		}
		var err error
		_, prep.Scaling, err = dataset.StandardizeShare(ctx, c.rows, share, reduce)
		if err != nil {
			return nil, err
		}
		c.rows.Progress = nil
	}
	prep, err := prep.Penalize(penalty)
	return prep.Scaling, err
}

// label reads the class labels of the target. It returns nil if the targets are numbers.
func (r *reading) label(ctx context.Context, rows *batch.Counter) (*classes.Classes, error) {
	if r.like.labels == nil {
		return nil, nil
	}
	counted := r.env.count("reading labels", rows.Source)
	out, err := classes.LearnShared(ctx, counted, r.like.labels.Label, r.env.gather())
	if err != nil {
		return nil, err
	}
	out.Balanced = r.spec.ClassWeight != ""
	return out, nil
}

// prepare sets t.Source, the rows of the fit, and t.Held, the held-out rows. It scales their columns and computes
// features.
func (t *Table) prepare(held dataset.Source) error {
	encoded := t.Preparation
	encoded.Encoding = nil // the rows of t.Counted are already encoded
	var err error
	t.Source, err = Prepare(&encoded, t.Counted, t.env.Backend, prepare.EncodeOptions{})
	if err != nil || held == nil {
		return err
	}
	prep := t.Preparation
	if !t.HeldAsFitted() {
		prep.Scaling = nil
	}
	t.Held, err = Prepare(&prep, held, t.env.Backend, prepare.EncodeOptions{Cells: t.Rows.Opened.Cells})
	return err
}

// Prepare applies the preparation p to the rows of src: it encodes and scales columns, and computes features. o are
// the options for the encoding. If the rows do not fit p, or if p needs too much memory, the error matches
// [engine.ErrInput].
func Prepare(
	p *model.Preparation,
	src dataset.Source,
	be engine.Backend,
	o prepare.EncodeOptions,
) (dataset.Source, error) {
	if err := checkPreparation(p); err != nil {
		return nil, err
	}
	src, err := p.ApplyEncoded(src, be, o)
	return src, unwrapPreparation(err)
}

// scales reports whether the preparation scales the columns of the file or of the encoding, and computes no
// features.
func (t *Table) scales() bool {
	return t.Preparation.Reversible() != nil
}

// TrainingRows returns the rows of the fit in the form that [model.Model.Prepare] gives. The columns are not
// scaled. If the features are computed from scaled columns, TrainingRows returns these features.
func (t *Table) TrainingRows() dataset.Source {
	if t.scales() {
		return t.Counted
	}
	return t.Source
}

// HeldAsFitted reports whether the held-out rows are scaled like the rows of the fit. If it is false, their columns
// are not scaled, because the coefficients of the model are for the unscaled columns.
func (t *Table) HeldAsFitted() bool {
	return t.Classes != nil || !t.scales()
}

// rounding returns bounds on the rounding errors of the scaled columns, for fdridge.Options.Rounding. It returns
// nil if nothing is rounded. It also returns nil for computed features, because the error bounds of the fit then
// refer to the features as computed.
func (t *Table) rounding() []float64 {
	if !t.scales() {
		return nil
	}
	if t.Rows.asked.spec.Standardize == ScaleAll || t.P == nil || t.Encoded != nil {
		return t.Preparation.Scaling.Rounding()
	}
	p := slices.Clone(t.P)
	for j, v := range p {
		if v == 0 {
			p[j] = 1
		}
	}
	return dataset.PenaltyRounding(p)
}

// Options returns opts with those fields set that depend on the rows: Rounding, Unpenalized, Bands, Classes and
// Backend.
func (t *Table) Options(opts fdridge.Options) fdridge.Options {
	opts.Rounding = t.rounding()
	opts.Unpenalized = t.Free
	for j, p := range t.P {
		if p == 0 {
			opts.Unpenalized = append(opts.Unpenalized, j)
		}
	}
	opts.Bands = t.ToChoose() // the preparation has all penalties that are given
	opts.Classes = t.Classes
	opts.Backend = t.env.Backend
	return opts
}

// A Doubt warns that a column treated as categorical has very many distinct values (levels).
type Doubt struct {
	Column string // as an excerpt of its name, or as "feature N" without names
	Name   string // "" without names
	Levels int
	Rows   int64 // number of rows with a level
}

// Doubts returns the categorical columns that have so many levels that they may rather be numbers or keys.
func (t *Table) Doubts() []Doubt {
	if t.Encoded == nil || t.Encoded.Learnt == nil {
		return nil
	}
	var out []Doubt
	e, learnt := t.Encoded.Encoding, t.Encoded.Learnt
	for _, c := range e.Doubtful(learnt) {
		column := e.Categories[c].Column
		d := Doubt{
			Column: fmt.Sprint("feature ", column+1),
			Levels: len(e.Categories[c].Levels),
			Rows:   learnt.Rows - learnt.Dropped,
		}
		if e.Names != nil {
			d.Name = errtext.Excerpt(e.Names[column])
			d.Column = "column " + d.Name
		}
		out = append(out, d)
	}
	return out
}

// LeavesOut returns the text that leaves this column out of the features, as an element of Spec.Columns. It is a
// minus sign and the name of the column. LeavesOut returns "" if the name is unknown or contains characters that
// need quotes.
func (d *Doubt) LeavesOut() string {
	if d.Name == "" || strings.ContainsAny(d.Name, " ,'\"\\$…") {
		return ""
	}
	return "-" + d.Name
}
