package input

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"

	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/internal/excerpt"
	"github.com/fdridge/fdridge/model"
)

// Leads reports whether this process writes the results. A single process does, and rank 0 of an MPI job.
func (s Session) Leads() bool { return s.Ranks == nil || s.Ranks.Rank() == 0 }

// A Session describes the run that opens rows.
type Session struct {
	Ranks dist.Transport // connects the processes of an MPI job; nil: a single process
	// Seen holds the size and modification time of each file at the start of the run. Opening a file that has changed
	// returns an error.
	Seen map[string]dataset.Stamp
	// Job is the checkpoint of fit, which stores the scaling and the number of nonzeros. It is nil in other commands.
	Job *batch.Job
	// Cache stores the parsed rows; nil: no cache.
	Cache *RowCache
	// part selects the rows that this process reads if there is no MPI job. The zero value selects all rows.
	part dataset.Share
	// Alone sets file.Options.Alone.
	Alone bool
	// Holdout selects the held-out rows. The zero value selects none.
	Holdout dataset.Holdout
}

// Share returns the part of the rows that this process reads.
func (s Session) Share() dataset.Share {
	if s.Ranks == nil {
		return s.part
	}
	return dataset.Share{Rank: s.Ranks.Rank(), Size: s.Ranks.Size()}
}

// gather returns the function that collects the messages of all processes, or nil for a single process.
func (s Session) gather() func(ctx context.Context, own []byte) ([][]byte, error) {
	if s.Ranks == nil {
		return nil
	}
	return func(ctx context.Context, own []byte) ([][]byte, error) { return dist.Gather(ctx, s.Ranks, own) }
}

// An expected holds the features that rows must have, as an existing model, sketch or plan requires.
type expected struct {
	width int      // number of features of svmlight files; 0: any
	names []string // of the features; nil: none
	// planned means that names are used instead of --columns.
	planned bool
	// ownTarget means that the target is the column with the name stored in the sketch, and not a file.
	ownTarget bool
	cells     *prepare.Cells // encoding of cells; nil: all are numbers
	text      *prepare.Text  // how the training rows were written; nil: not known
}

// options returns the options for file.Open, and the files with sample weights. If --weights names a column of the
// data, this column is read as the last target, and weights is empty.
func (o *RowFlags) options(run Session, like expected) (opts file.Options, weights []string, err error) {
	text, err := o.csvOptions()
	if err != nil {
		return opts, nil, err
	}
	entries, err := lentArray()
	if err != nil {
		return opts, nil, err
	}
	opts = file.Options{
		Format: o.Format, Target: cli.SplitList(o.Target.Value), Targets: o.Targets,
		Columns: o.columns.Items, Delimiter: text.Delimiter, Header: text.Header, Features: cmp.Or(like.width, o.width), Transposed: o.transposed, OnlyNamed: like.ownTarget,
		Text: text.Text.Or(
			like.text,
		), Skipped: text.Skipped, Origin: file.Origin{Was: run.Seen, Pipe: o.Pipe, Entries: entries, Cells: like.cells},
	}
	if o.transposed {
		opts.Features = 0 // a row of the file is a feature
	}
	if !o.Weights.Given {
		return opts, nil, nil
	}
	weights, err = o.weightsFiles(opts)
	if weights != nil || err != nil {
		return opts, weights, err
	}
	opts.Target = append(opts.Target, o.Weights.Value)
	opts.Targets++
	if o.Targets < 0 {
		opts.Targets = o.Targets - 1
	}
	return opts, nil, nil
}

// weightsFiles returns the files with sample weights: one file, or an array in each .npz archive. It returns nil if
// --weights names a column. The value of --weights has the same syntax as --target.
func (o *RowFlags) weightsFiles(opts file.Options) ([]string, error) {
	opts.Target, opts.OnlyNamed = []string{o.Weights.Value}, false
	var out []string
	for _, path := range o.DataFiles() {
		where, err := file.OwnTarget(path, opts)
		switch {
		case err != nil || where == "" && out == nil:
			return nil, err
		case where == "":
			return nil, cli.BadInput(
				"--weights: %s has no array %q, but %s has one",
				path,
				excerpt.Of(o.Weights.Value),
				out[0],
			)
		}
		out = append(out, where)
		if where == o.Weights.Value {
			break
		}
	}
	return out, nil
}

// wantedNames returns its argument wanted if the columns of the files have names. Otherwise columns cannot be selected
// by name, and wantedNames returns nil.
func (o *RowFlags) wantedNames(opts file.Options, wanted []string) ([]string, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	columns, err := file.Columns(o.DataFiles()[0], opts)
	if err != nil || columns == nil {
		return nil, err
	}
	return wanted, nil
}

// open opens the files and returns the selected rows with their sample weights.
func (o *RowFlags) open(ctx context.Context, run Session, like expected) (*file.Opened, dataset.Source, error) {
	if o.Labels != nil {
		if like.cells == nil {
			like.cells = &prepare.Cells{}
		}
		like.cells.Labels = o.Labels
	}
	opts, weights, err := o.options(run, like)
	if err != nil {
		return nil, nil, err
	}
	if err := o.checkWidth(opts); err != nil {
		return nil, nil, err
	}
	share := run.Share()
	if err := o.checkPart(run.part, opts); err != nil {
		return nil, nil, err
	}
	opts.Weights, opts.IsPart = weights, o.Rows != ""
	byNumber := (run.Ranks != nil || !share.Whole()) && o.Rows != ""
	if byNumber {
		err = o.checkNumbered(opts, run.Ranks != nil)
	} else {
		opts.Share, opts.Widest, opts.FirstRow, opts.Alone = share, widest(ctx, run.Ranks), firstRowOf(ctx, run.Ranks), run.Alone
	}
	if err != nil {
		return nil, nil, err
	}
	if len(opts.Columns) == 0 || like.planned && like.names != nil {
		opts.Columns, err = o.wantedNames(opts, like.names)
		if err != nil {
			return nil, nil, err
		}
	}
	if len(opts.Columns) == 0 && o.Key != "" { // without names, all columns are features, except the key
		opts.Columns = []string{"-" + o.Key}
	}
	opened, err := file.Open(o.DataFiles(), opts)
	if err != nil {
		return nil, nil, err
	}
	if run.Ranks == nil {
		if err := o.addNames(opened, opts); err != nil {
			return nil, nil, err
		}
	}
	src := opened.Source
	if o.Weights.Given && weights == nil {
		src, err = dataset.TargetAsWeight(src)
		if err != nil {
			return nil, nil, err
		}
		if n := len(opened.TargetNames); n > 0 {
			opened.TargetNames = opened.TargetNames[:n-1]
		}
	}
	src, err = cutRows(src, o.Rows)
	if err == nil && byNumber {
		src, err = dataset.Part(src, share)
	}
	return opened, src, err
}

// checkWidth returns an error if --n-features is given and the file format itself states the number of features.
func (o *RowFlags) checkWidth(opts file.Options) error {
	if o.width == 0 {
		return nil
	}
	if o.transposed {
		return cli.BadInput("--n-features: it excludes --transposed")
	}
	path := o.DataFiles()[0]
	format, err := file.Format(path, opts)
	if err != nil || file.Labelled(format) {
		return err
	}
	return cli.BadInput("--n-features: it needs svmlight, and %s is %s", Name(path), format)
}

// cutRows applies --rows. An empty text keeps all rows.
func cutRows(src dataset.Source, text string) (dataset.Source, error) {
	if text == "" {
		return src, nil
	}
	lo, hi, err := ParseRows(text)
	if err != nil {
		return nil, err
	}
	return dataset.Rows(src, lo, hi)
}

// checkNumbered returns an error if several processes share rows of a format without row numbers. Row numbers are
// needed to apply --rows. ranks is true if the processes belong to an MPI job.
func (o *RowFlags) checkNumbered(opts file.Options, ranks bool) error {
	path := o.DataFiles()[0]
	format, err := file.Format(path, opts)
	if err != nil || file.Numbered(format) {
		return err
	}
	divide := "--part"
	if ranks {
		divide = "--mpi"
	}
	return cli.BadInput(
		"--rows: with %s it needs row numbers, which %s (%s) does not have: use npy, npz, Parquet or Arrow, or leave out --rows",
		divide,
		path,
		format,
	)
}

// OpenLike opens rows for an existing model or sketch and selects its features by name. A wrong number of features is
// an error. The error contains owner, which is "model" or "sketch". If ownTarget is true, the target is always a
// column.
func (o *RowFlags) OpenLike(
	prep *model.Preparation,
	owner string,
	targets int,
	ownTarget bool,
) (*file.Opened, dataset.Source, error) {
	inputs, names := prep.Columns()
	like := expected{width: inputs, names: names, ownTarget: ownTarget, text: cmp.Or(prep.Text, new(prepare.Text))}
	if prep.Encoding.Does() {
		like.cells = prep.Encoding.Cells()
	}
	opened, src, err := o.open(context.Background(), Session{}, like)
	if err != nil {
		return nil, nil, err
	}
	if _, d, _ := src.Dims(); d != inputs {
		hint := ""
		if targets > 0 && !o.Target.Given && d == inputs+targets {
			hint = "; if the target is among them, use --target"
		}
		if len(names) > 0 && opened.Names == nil && opened.Format == "csv" && !o.transposed {
			hint += "; the file has no header with the names of the " + owner + ": " + excerpt.List(names, 5)
		}
		return nil, nil, cli.BadInput("%s has %d features, the %s has %d%s", Name(o.Data.Value), d, owner, inputs, hint)
	}
	return opened, src, nil
}

// Keys returns the text of the column o.Key in each row that --rows selects.
func (o *RowFlags) Keys(ctx context.Context) (iter.Seq2[string, error], error) {
	opts, _, err := o.options(Session{}, expected{})
	if err != nil {
		return nil, err
	}
	lo, hi := int64(0), int64(math.MaxInt64)
	if o.Rows != "" {
		lo, hi, err = ParseRows(o.Rows)
		if err != nil {
			return nil, err
		}
	}
	return func(yield func(string, error) bool) {
		row := int64(0)
		for text, err := range file.Texts(ctx, o.DataFiles(), opts, o.Key) {
			row++
			if err == nil && row <= lo {
				continue
			}
			if row > hi || !yield(text, err) || err != nil {
				return
			}
		}
	}, nil
}

// Locate names the file and the line in an error about a row of opened.
func (o *RowFlags) Locate(opened *file.Opened, err error) error {
	e, ok := errors.AsType[*dataset.InputError](err)
	if !ok || e.Row == 0 || opened == nil {
		return err
	}
	row := e.Row - 1
	if o.Rows != "" {
		lo, _, wrong := ParseRows(o.Rows)
		if wrong != nil {
			return wrong
		}
		row += lo
	}
	path, line, unreadable := opened.Locate(row)
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

// checkPart returns an error if --part selects svmlight rows and --n-features is missing. The parts could then
// disagree on the number of features.
func (o *RowFlags) checkPart(share dataset.Share, opts file.Options) error {
	if share.Whole() || opts.Features > 0 {
		return nil
	}
	path := o.DataFiles()[0]
	format, err := file.Format(path, opts)
	if err != nil || !file.Labelled(format) {
		return err
	}
	return cli.BadInput(
		"--part: %s is %s, and a part cannot know the number of features of the others: use --n-features",
		path,
		format,
	)
}

// addNames sets the column names if the csv files of this process have no header. It searches all files, because files
// of another process may have a header. The first header found gives the names, as in a run of one process.
func (o *RowFlags) addNames(opened *file.Opened, opts file.Options) error {
	if opts.Share.Whole() || opened.Format != "csv" || opened.Names != nil {
		return nil
	}
	isOwn := opened.TargetsFile != ""
	opts.Share, opts.Weights, opts.FirstRow = dataset.Share{}, nil, nil
	if isOwn {
		opts.Target, opts.Targets = nil, 0
	}
	for _, path := range o.DataFiles() {
		one, err := file.Open([]string{path}, opts)
		if err != nil {
			return err
		}
		if one.Names == nil {
			continue
		}
		if isOwn {
			one.TargetNames, one.Layout.Targets = opened.TargetNames, opened.Layout.Targets
		}
		if err := opened.Agrees(one.Layout); err != nil {
			return err
		}
		opened.Names, opened.TargetNames = one.Names, one.TargetNames
		return nil
	}
	return nil
}
