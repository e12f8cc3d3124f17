package table

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/model"
)

// Rows are rows as they are in the files, without encoding, scaling or computed features.
type Rows struct {
	Opened *file.Opened   // the files
	Source dataset.Source // the selected rows, with their sample weights

	// Labels holds the labels of the target, if [OpenFor] has read a column of labels. nil means that the targets
	// are numbers.
	Labels *prepare.Lexicon

	asked *resolved
	pipe  *dataset.Pipe
	known []string // names of the features that a model or a sketch has
}

// An expected holds what a fit, a model, a sketch or a plan requires of the rows.
type expected struct {
	targets int      // as file.Options.Targets
	width   int      // number of features of svmlight files; 0: any
	names   []string // of the features; nil: none
	// planned is true if a plan or a pass over the rows has decided which columns are read. names then lists these
	// columns, and Spec.Columns is ignored.
	planned bool
	// ownTarget means that Spec.Target holds the column name stored in a sketch or model. It cannot be a file name.
	ownTarget bool
	cells     *prepare.Cells   // encoding of cells; nil: all are numbers
	text      *prepare.Text    // how the training rows were written; nil: not known
	labels    *prepare.Lexicon // of the target, a column of class labels; nil: targets are numbers
}

// A reading holds what is needed to open the files once: the checked Spec, the requirements on the rows, and the
// environment.
type reading struct {
	*resolved
	env  *Env
	pipe *dataset.Pipe
	like expected
}

// options returns the options for file.Open, and the files with sample weights. If Spec.Weights names a column of
// the data, the options include this column as the last target, and weights is empty.
func (r *reading) options() (opts file.Options, weights []string, err error) {
	s := &r.spec
	opts = file.Options{
		Format:     s.Format,
		Target:     s.Target,
		Targets:    r.like.targets,
		Columns:    s.Columns,
		Delimiter:  r.text.Delimiter,
		Header:     r.text.Header,
		Features:   cmp.Or(r.like.width, s.NFeatures),
		Transposed: s.Transposed,
		OnlyNamed:  r.like.ownTarget,
		Text:       r.text.Text.Or(r.like.text),
		Skipped:    r.text.Skipped,
		Origin: file.Origin{
			Was:     r.env.Seen,
			Pipe:    r.pipe,
			Entries: r.env.Entries,
			Cells:   r.like.cells,
			Heads:   &r.heads,
			Known:   r.like.names,
		},
	}
	if s.Transposed {
		opts.Features = 0 // a row of the file is a feature
	}
	if s.Weights == "" {
		return opts, nil, nil
	}
	weights, err = r.weightsFiles(opts)
	if weights != nil || err != nil {
		return opts, weights, err
	}
	opts.Target = append(opts.Target[:len(opts.Target):len(opts.Target)], s.Weights)
	opts.Targets++
	if r.like.targets < 0 {
		opts.Targets = r.like.targets - 1
	}
	return opts, nil, nil
}

// weightsFiles returns the files with sample weights: one file, or an array in each .npz archive. It returns nil if
// Spec.Weights names a column. The syntax of Spec.Weights is the same as for a target.
func (r *reading) weightsFiles(opts file.Options) ([]string, error) {
	s := &r.spec
	opts.Target = []string{s.Weights}
	opts.OnlyNamed = false
	var out []string
	for _, path := range s.Data {
		where, err := file.OwnTarget(path, opts)
		switch {
		case err != nil || where == "" && out == nil:
			return nil, err
		case where == "":
			return nil, specError("Weights", "%s has no array %q, but %s has one", path, errtext.Excerpt(s.Weights), out[0])
		}
		out = append(out, where)
		if where == s.Weights {
			break
		}
	}
	return out, nil
}

// wantedNames returns wanted if the columns of the files have names. Otherwise it returns nil, because columns
// cannot be selected by name.
func (r *reading) wantedNames(opts file.Options, wanted []string) ([]string, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	columns, err := file.Columns(r.spec.Data[0], opts)
	if err != nil || columns == nil {
		return nil, err
	}
	return wanted, nil
}

// read opens the files and returns the selected rows with their sample weights.
func (r *reading) read(ctx context.Context) (*Rows, error) {
	s := &r.spec
	ranks := r.env.Ranks
	if r.like.labels != nil {
		if r.like.cells == nil {
			r.like.cells = &prepare.Cells{}
		}
		r.like.cells.Labels = r.like.labels
	}
	opts, weights, err := r.options()
	if err != nil {
		return nil, err
	}
	if err := r.checkWidth(opts); err != nil {
		return nil, err
	}
	if err := r.checkPart(opts); err != nil {
		return nil, err
	}
	share := r.env.shareOf(r.share)
	opts.Weights = weights
	opts.IsPart = r.cuts()
	opts.Context = ctx
	byNumber := (ranks != nil || !share.Whole()) && r.cuts()
	if byNumber {
		err = r.checkNumbered(opts)
		if err != nil {
			return nil, err
		}
	} else {
		opts.Share, opts.Alone = share, r.env.Alone
		opts.Widest = widest(ctx, ranks)
		opts.FirstRow = firstRowOf(ctx, ranks)
	}
	if len(opts.Columns) == 0 || r.like.planned && r.like.names != nil {
		opts.Columns, err = r.wantedNames(opts, r.like.names)
		if err != nil {
			return nil, err
		}
	}
	if len(opts.Columns) == 0 && s.Key != "" { // without names, all columns are features, except the key
		opts.Columns = []string{"-" + s.Key}
	}
	opened, err := file.Open(s.Data, opts)
	if err != nil {
		return nil, err
	}
	if ranks == nil {
		if err := addNames(opened, s.Data, opts); err != nil {
			return nil, err
		}
	}
	src := opened.Source
	if s.Weights != "" && weights == nil {
		src, err = dataset.TargetAsWeight(src)
		if err != nil {
			return nil, err
		}
		if n := len(opened.TargetNames); n > 0 {
			opened.TargetNames = opened.TargetNames[:n-1]
		}
	}
	if r.cuts() {
		src, err = dataset.Rows(src, r.lo, r.hi)
	}
	if err == nil && byNumber {
		src, err = dataset.Part(src, share)
	}
	return &Rows{
		Opened: opened,
		Source: src,
		asked:  r.resolved,
		pipe:   r.pipe,
		known:  r.like.names,
	}, err
}

// checkWidth returns an error if Spec.NFeatures is given for files that are not svmlight. Only svmlight files need
// the number of features.
func (r *reading) checkWidth(opts file.Options) error {
	s := &r.spec
	if s.NFeatures == 0 {
		return nil
	}
	if s.Transposed {
		return specError("NFeatures", "with %v the rows of the file are the features, and are counted", Field("Transposed"))
	}
	format, err := file.Format(s.Data[0], opts)
	if err != nil || file.Labelled(format) {
		return err
	}
	first := Spec{Data: s.Data[:1]}
	return specError("NFeatures", "it needs svmlight, and %s is %s", first.Name(), format)
}

// checkPart returns an error if Spec.Part selects some of the rows of svmlight files, and the number of features is
// not given. Different parts could then find different numbers of features.
func (r *reading) checkPart(opts file.Options) error {
	if r.share.Whole() || opts.Features > 0 {
		return nil
	}
	path := r.spec.Data[0]
	format, err := file.Format(path, opts)
	if err != nil || !file.Labelled(format) {
		return err
	}
	return specError(
		"Part",
		"%s is %s, and a part cannot know the number of features of the others: use %v",
		path,
		format,
		Field("NFeatures"),
	)
}

// checkNumbered returns an error if each process reads a part of files whose format does not tell row numbers.
// Spec.Rows cannot be applied without row numbers.
func (r *reading) checkNumbered(opts file.Options) error {
	path := r.spec.Data[0]
	format, err := file.Format(path, opts)
	if err != nil || file.Numbered(format) {
		return err
	}
	divide := Field("Part")
	if r.env.Ranks != nil {
		divide = "Ranks"
	}
	return specError(
		"Rows",
		"with %v it needs row numbers, which %s (%s) does not have: use npy, npz, Parquet or Arrow, or leave out %v",
		divide,
		path,
		format,
		Field("Rows"),
	)
}

// addNames sets the column names of opened if this process has read csv files without a header. It takes the first
// header in any of the files in paths, because files that other processes read may have headers.
func addNames(opened *file.Opened, paths []string, opts file.Options) error {
	if opts.Share.Whole() || opened.Format != "csv" || opened.Names != nil {
		return nil
	}
	isOwn := opened.TargetsFile != ""
	opts.Share = dataset.Share{}
	opts.Weights = nil
	opts.FirstRow = nil
	if isOwn {
		opts.Target, opts.Targets = nil, 0
	}
	for _, path := range paths {
		one, err := file.Open([]string{path}, opts)
		if err != nil {
			return err
		}
		if one.Names == nil {
			continue
		}
		if isOwn {
			one.TargetNames = opened.TargetNames
			one.Layout.Targets = opened.Layout.Targets
		}
		if err := opened.Agrees(one.Layout); err != nil {
			return err
		}
		opened.Names, opened.TargetNames = one.Names, one.TargetNames
		return nil
	}
	return nil
}

// A Like describes rows that a model or a sketch has used before. [OpenLike] opens new rows with the same features.
type Like struct {
	Preparation *model.Preparation
	Owner       string // what has the preparation, in error messages: model or sketch
	// Targets is the number of targets to read. A negative number −k means at least k targets, and 0 means none.
	Targets int
	// Own is the number of targets of the model or sketch. Error messages about a wrong number of features use it.
	Own int
	// OwnTarget means that Spec.Target comes from the model or sketch, and not from the user. Spec.Target is then
	// always read as a column name, and never as a file name.
	OwnTarget bool
	// Labels converts the labels of the target to numbers. nil means that the targets are numbers.
	Labels *prepare.Lexicon
}

// OpenLike opens rows for an existing model or sketch. It selects the features by their names, but does not prepare
// them. To prepare them, call [model.Preparation.ApplyEncoded] or a [model.Predictor] with the Cells of the result.
// If the number of features is wrong, the error is a *[SpecError].
func OpenLike(ctx context.Context, s Spec, like Like, env Env) (*Rows, error) {
	asked, err := resolve(s)
	if err != nil {
		return nil, err
	}
	prep := like.Preparation
	inputs, names := prep.Columns()
	r := &reading{
		resolved: asked,
		env:      &env,
		pipe:     env.listen(ctx, &s),
		like: expected{
			targets:   like.Targets,
			width:     inputs,
			names:     names,
			ownTarget: like.OwnTarget,
			labels:    like.Labels,
			text:      cmp.Or(prep.Text, new(prepare.Text)),
		},
	}
	if prep.Encoding.Does() {
		r.like.cells = prep.Encoding.Cells()
	}
	rows, err := r.read(ctx)
	if err != nil {
		return nil, err
	}
	_, d, _ := rows.Source.Dims()
	if d == inputs {
		return rows, nil
	}
	hint := ""
	target := []any(nil)
	if like.Own > 0 && len(s.Target) == 0 && d == inputs+like.Own {
		hint = "; if the target is among them, use %v"
		target = []any{Field("Target")}
	}
	if len(names) > 0 &&
		rows.Opened.Names == nil &&
		rows.Opened.Format == "csv" &&
		!s.Transposed {
		hint += "; the file has no header with the names of the %s: %s"
		target = append(target, like.Owner, errtext.List(names, 5))
	}
	args := append([]any{s.Name(), d, like.Owner, inputs}, target...)
	return nil, specError("", "%s has %d features, the %s has %d"+hint, args...)
}

// Locate adds the file and the line to an error about a row. It returns other errors unchanged.
func (r *Rows) Locate(err error) error {
	e, ok := errors.AsType[*dataset.InputError](err)
	if !ok || e.Row == 0 || r == nil || r.Opened == nil {
		return err
	}
	row := e.Row - 1 + r.asked.lo
	path, line, unreadable := r.Opened.Locate(row)
	if unreadable != nil {
		return errors.Join(err, unreadable)
	}
	placed := *e
	placed.Row = row + 1
	if line > 0 {
		placed.File, placed.Line = path, line
	}
	return &placed
}

// AllColumns returns the names of all columns of a csv file, including the targets. It returns nil if the rows are
// not from a csv file, or if the file has no header.
func (r *Rows) AllColumns() ([]string, error) {
	if r == nil || r.Opened == nil || r.Opened.Format != "csv" {
		return nil, nil
	}
	text := r.asked.text
	text.Pipe = r.pipe
	text.Heads = &r.asked.heads
	text.Known = r.known
	return csv.Columns(r.asked.spec.Data[0], text)
}

// Keys returns the text of the column Spec.Key for each row that Spec.Rows selects. The texts also include rows
// that are later left out, for example because of missing values. env must be the Env that r was opened with.
func (r *Rows) Keys(ctx context.Context, env Env) (iter.Seq2[string, error], error) {
	if r.asked == nil {
		return nil, specError("", "the rows were not opened by OpenLike or OpenFor")
	}
	again := &reading{
		resolved: r.asked,
		env:      &env,
		pipe:     env.Pipe,
		like:     expected{names: r.known},
	}
	opts, _, err := again.options()
	if err != nil {
		return nil, err
	}
	return func(yield func(string, error) bool) {
		row := int64(0)
		for text, err := range file.Texts(ctx, again.spec.Data, opts, again.spec.Key) {
			row++
			if err == nil && row <= again.lo {
				continue
			}
			if row > again.hi || !yield(text, err) || err != nil {
				return
			}
		}
	}, nil
}

// CheckKey returns an error if the column s.Key cannot be read. This is so for pipes, transposed files and svmlight
// files.
func (s *Spec) CheckKey() error {
	switch {
	case s.Key == "":
		return nil
	case s.Piped():
		return specError(
			"Key",
			"the column is read apart, and %s can be read only once; write the rows to a file",
			s.Name(),
		)
	case s.Transposed:
		return specError("Key", "with %v a sample has no column", Field("Transposed"))
	}
	format, err := file.Format(s.Data[0], file.Options{Format: s.Format})
	if err == nil && file.Labelled(format) {
		err = specError("Key", "%s is %s, which has no columns", s.Name(), format)
	}
	return err
}
