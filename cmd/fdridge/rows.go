package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/internal/excerpt"
	"github.com/fdridge/fdridge/model"
)

// leads reports whether this process writes the results.
func (s session) leads() bool { return s.ranks == nil || s.ranks.Rank() == 0 }

// A session is the run that rows are opened for.
type session struct {
	ranks dist.Transport // connects the ranks that share the rows; nil: this process reads all
	// seen are the files as they were when the settings of the run were told: what is read
	// must be what a checkpoint is said to be of.
	seen map[string]dataset.Stamp
	// job keeps the scaling and the nonzeros of the rows; nil: they are not kept.
	job *batch.Job
	// cache is of the rows; nil: none.
	cache *rowCache
	// part is what a process alone reads of the rows; the zero value is all.
	part dataset.Share
	// alone says that nobody reads the other parts.
	alone bool
	// holdout says which rows are held out; the zero value: none.
	holdout dataset.Holdout
}

// share is what this process reads of the rows.
func (s session) share() dataset.Share {
	if s.ranks == nil {
		return s.part
	}
	return dataset.Share{Rank: s.ranks.Rank(), Size: s.ranks.Size()}
}

// An expected is what a model or a sketch says of the rows that are opened for it.
type expected struct {
	width int      // of svmlight files, which do not tell their own
	names []string // of the features, where there are any
	// ownTarget says that the target is the sketch's word, not the user's, who might not
	// want to have the file of that name read.
	ownTarget bool
	cells     *dataset.Cells // how cells are read that are no numbers; nil: none are
}

// options returns the options of file.Open, and the files of the weights where they have
// files of their own. Otherwise the weights are a column, which is read as one more target,
// the last.
func (o *rowFlags) options(run session, like expected) (opts file.Options, weights []string, err error) {
	text, err := o.csvOptions()
	if err != nil {
		return opts, nil, err
	}
	opts = file.Options{
		Format: o.format, Target: splitList(o.target.value), Targets: o.targets,
		Columns: splitList(o.columns), Delimiter: text.Delimiter, Header: text.Header, Features: cmp.Or(like.width, o.width), Transposed: o.transposed, OnlyNamed: like.ownTarget, Origin: file.Origin{Was: run.seen, Pipe: o.pipe, Cells: like.cells},
	}
	if o.transposed {
		opts.Features = 0 // of a row of the file, which is a feature
	}
	if !o.weights.set {
		return opts, nil, nil
	}
	if weights, err = o.weightsFiles(opts); weights != nil || err != nil {
		return opts, weights, err
	}
	opts.Target = append(opts.Target, o.weights.value)
	if opts.Targets++; o.targets < 0 {
		opts.Targets = o.targets - 1
	}
	return opts, nil, nil
}

// weightsFiles returns the files of the weights, nil where these are a column: one file, or
// an array of that name in each of the .npz archives. Which of these a name means is told as
// for a target.
func (o *rowFlags) weightsFiles(opts file.Options) ([]string, error) {
	opts.Target, opts.OnlyNamed = []string{o.weights.value}, false
	var out []string
	for _, path := range o.dataFiles() {
		where, err := file.OwnTarget(path, opts)
		switch {
		case err != nil || where == "" && out == nil:
			return nil, err
		case where == "":
			return nil, badInput("--weights: %s has no array %q, which is in %s", path, excerpt.Of(o.weights.value), out[0])
		}
		if out = append(out, where); where == o.weights.value {
			break
		}
	}
	return out, nil
}

// wantedNames returns those of names that are to be looked for in the files: all where their
// columns have names, else none.
func (o *rowFlags) wantedNames(opts file.Options, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	columns, err := file.Columns(o.dataFiles()[0], opts)
	if err != nil || columns == nil {
		return nil, err
	}
	return names, nil
}

// open opens the files and takes the rows asked for, with their weights.
func (o *rowFlags) open(ctx context.Context, run session, like expected) (*file.Opened, dataset.Source, error) {
	opts, weights, err := o.options(run, like)
	if err != nil {
		return nil, nil, err
	}
	if err := o.checkWidth(opts); err != nil {
		return nil, nil, err
	}
	share := run.share()
	if err := o.checkPart(run.part, opts); err != nil {
		return nil, nil, err
	}
	byNumber := (run.ranks != nil || !share.Whole()) && (weights != nil || o.rows != "")
	if byNumber {
		err = o.checkNumbered(opts, run.ranks != nil)
	} else {
		opts.Share, opts.Widest, opts.Alone = share, widest(ctx, run.ranks), run.alone
	}
	if err != nil {
		return nil, nil, err
	}
	if len(opts.Columns) == 0 {
		if opts.Columns, err = o.wantedNames(opts, like.names); err != nil {
			return nil, nil, err
		}
	}
	opened, err := file.Open(o.dataFiles(), opts)
	if err != nil {
		return nil, nil, err
	}
	if run.ranks == nil {
		if err := o.nameAsWhole(opened, opts); err != nil {
			return nil, nil, err
		}
	}
	src := opened.Source
	switch {
	case weights != nil:
		w, err := file.Open(weights, file.Options{Origin: file.Origin{Was: run.seen}})
		if err != nil {
			return nil, nil, err
		}
		if src, err = dataset.Weigh(src, w); err != nil {
			return nil, nil, fmt.Errorf("--weights: %w", err)
		}
	case o.weights.set:
		if src, err = dataset.TargetAsWeight(src); err != nil {
			return nil, nil, err
		}
		if n := len(opened.TargetNames); n > 0 {
			opened.TargetNames = opened.TargetNames[:n-1]
		}
	}
	src, err = cutRows(src, o.rows)
	if err == nil && byNumber {
		src, err = dataset.Part(src, share)
	}
	return opened, src, err
}

// checkWidth refuses --n-features for rows that tell how many features they have.
func (o *rowFlags) checkWidth(opts file.Options) error {
	if o.width == 0 {
		return nil
	}
	if o.transposed {
		return badInput("--n-features: with --transposed the features are the rows of the file")
	}
	path := o.dataFiles()[0]
	format, err := file.Format(path, opts)
	if err != nil || file.Labelled(format) {
		return err
	}
	return badInput("--n-features: %s is %s, whose columns are counted; only svmlight takes a number of features", dataName(path), format)
}

// cutRows applies --rows; empty text keeps all.
func cutRows(src dataset.Source, text string) (dataset.Source, error) {
	if text == "" {
		return src, nil
	}
	lo, hi, err := parseRows(text)
	if err != nil {
		return nil, err
	}
	return dataset.Rows(src, lo, hi)
}

// parseRows reads A:B, 1-based and inclusive, as the 0-based half-open [lo, hi).
func parseRows(text string) (lo, hi int64, err error) {
	a, b, ok := strings.Cut(text, ":")
	lo, err1 := strconv.ParseInt(a, 10, 64)
	hi, err2 := strconv.ParseInt(b, 10, 64)
	if !ok || err1 != nil || err2 != nil || lo < 1 || hi < lo {
		return 0, 0, badInput("--rows: %q must be A:B with 1 <= A <= B", excerpt.Of(text))
	}
	return lo - 1, hi, nil
}

// checkNumbered refuses to share out rows by their numbers where these are not known.
func (o *rowFlags) checkNumbered(opts file.Options, ranks bool) error {
	path := o.dataFiles()[0]
	format, err := file.Format(path, opts)
	if err != nil || file.Numbered(format) {
		return err
	}
	flag, instead, divide := "--rows", "leave it out", "--part"
	if ranks {
		divide = "--mpi"
	}
	if o.rows == "" {
		flag, instead = "--weights", "put the weights into a column"
	}
	return badInput("%s: with %s a file beside %s, or a range of its rows, needs rows that are known by number; %s is %s: take npy, npz, Parquet or Arrow, or %s", flag, divide, path, path, format, instead)
}

// openLike opens rows for a model or a sketch, what, that was made of such before: they must
// be as wide, and features are found by their names. ownTarget says that the target is the
// one that the sketch names. Where rows are wider by so many targets, and none is named, the
// error says that they may hold these.
func (o *rowFlags) openLike(prep *model.Preparation, what string, targets int, ownTarget bool) (*file.Opened, dataset.Source, error) {
	inputs, names := prep.Columns()
	like := expected{width: inputs, names: names, ownTarget: ownTarget}
	if prep.Encoding.Does() {
		like.cells = prep.Encoding.Cells()
	}
	opened, src, err := o.open(context.Background(), session{}, like)
	if err != nil {
		return nil, nil, err
	}
	if _, d, _ := src.Dims(); d != inputs {
		hint := ""
		if targets > 0 && !o.target.set && d == inputs+targets {
			hint = "; is the target among them? say --target"
		}
		if len(names) > 0 && opened.Names == nil && opened.Format == "csv" && !o.transposed {
			hint += "; there is no header to find those of the " + what + " by: " + nameSome(names)
		}
		return nil, nil, badInput("%s has %d features, the %s %d%s", dataName(o.data.value), d, what, inputs, hint)
	}
	return opened, src, nil
}

// nameSome are names, or the first of them.
func nameSome(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(excerpt.All(names), ", ")
	}
	return strings.Join(excerpt.All(names[:most]), ", ") + ", …"
}
