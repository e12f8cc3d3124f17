package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/internal/excerpt"
	"github.com/fdridge/fdridge/model"
)

// inputFlags say which rows to read and how to prepare them: for every command
// that makes something of data.
type inputFlags struct {
	data, target, weights once
	format                string
	delimiter, header     string
	columns               string
	targets               int
	rows                  string
	standardize           bool
	penalty               string
	features              string

	expansion dataset.Features // of features; nil: none
	scaling   *dataset.Scaling // that an earlier run has learnt, penalty included; nil: it is to be learnt

	// Of a model or sketch that the rows are to fit: how wide a svmlight file is,
	// and the names of the features where there are any.
	width int
	names []string
	// told says that the target is the sketch's word, not the user's, who might not
	// want to have the file of that name read.
	told bool

	// seen are the files as they were when the settings of the run were told: what is
	// read must be what a checkpoint is said to be of.
	seen map[string]dataset.Stamp

	team *team // nil: this process reads all rows
}

func newInputFlags() inputFlags {
	return inputFlags{
		data:    once{hint: "; several files are one list, F,F"},
		target:  once{hint: "; several targets are one list, A,B, with --targets 2"},
		weights: once{},
	}
}

func (o *inputFlags) register(f *pflag.FlagSet) {
	f.Var(&o.data, "data", "files of rows, one after the other: csv, svmlight, npy, npz or parquet; plain, gzip or zstd; of a .npz archive the array X or x or the only one, or FILE.npz:NAME")
	f.StringVar(&o.format, "format", "auto", strings.Join(file.Formats, ", "))
	f.StringVar(&o.delimiter, "delimiter", "", "what separates the fields of csv files, one character or tab (default: told by the first line)")
	f.StringVar(&o.header, "header", "auto", "whether the first line of csv files names the columns: auto, yes or no")
	f.StringVar(&o.columns, "columns", "", "the features: a list of header names or 1-based numbers; with a - before each, those to leave out (default: all but target and weights)")
	f.Var(&o.target, "target", "target column: first, last, a 1-based number or a header name; or an array of the .npz archive, or a file of its own; a list for several (svmlight: the label, no flag)")
	f.IntVar(&o.targets, "targets", 1, "how many targets there are to be")
	f.Var(&o.weights, "weights", "weights of the rows, a column as for --target or a file of their own")
	f.StringVar(&o.rows, "rows", "", "A:B: only rows A to B, from 1, inclusive")
	f.BoolVar(&o.standardize, "standardize", false, "scale the input columns to mean 0 and deviation 1 first, sparse ones to deviation 1 alone, by a pass of its own; the model's weights are in the original units unless --features follows, its certificate is about those of the scaled columns")
	f.StringVar(&o.penalty, "penalty", "", "a file of one number > 0 for each input column: γ·Σ pⱼxⱼ² in place of γ‖x‖²; on top of --standardize")
	f.StringVar(&o.features, "features", "", "rff:D,gamma=G,seed=S: D random Fourier features of the kernel exp(-G‖x-y‖²); or poly:K: all monomials up to degree K")
}

// check validates the flags before any data are read.
func (o *inputFlags) check() error {
	switch {
	case o.targets < 1:
		return badInput("--targets: %d, must be at least 1", o.targets)
	case o.penalty != "" && o.features != "":
		return badInput("--penalty: the penalty is of input columns, and --features makes others of them")
	}
	if n := len(splitList(o.target.value)); n > 1 && n != o.targets {
		return badInput("--target: %d targets are named (%s) where %d is asked for; say --targets %d", n, excerpt.Of(o.target.value), o.targets, n)
	}
	if err := o.checkSource(); err != nil {
		return err
	}
	if o.features != "" {
		var err error
		if o.expansion, err = dataset.ParseFeatures(o.features); err != nil {
			return badInput("--features: %w", err)
		}
	}
	return nil
}

// checkSource validates the flags that say what to read.
func (o *inputFlags) checkSource() error {
	files := splitList(o.data.value)
	switch {
	case len(files) == 0:
		return badInput("--data: no file is named")
	case slices.Contains(files, "-"):
		return badInput("--data: standard input is not read, since finding the format, and most that follows, reads rows again: write them to a file, or have a program sketch them as they come (ridge.Summary.Append); a file of that name is ./-")
	}
	if err := oneOf("format", o.format, file.Formats...); err != nil {
		return err
	}
	if _, err := o.csvOptions(); err != nil {
		return err
	}
	if o.rows != "" {
		_, _, err := parseRows(o.rows)
		return err
	}
	return nil
}

// headers are the values of --header; none is auto.
var headers = map[string]csv.Header{"": csv.Auto, "auto": csv.Auto, "yes": csv.Present, "no": csv.Absent}

// csvOptions are the flags that say how csv files are written.
func (o *inputFlags) csvOptions() (csv.Options, error) {
	header, ok := headers[o.header]
	if !ok {
		return csv.Options{}, badInput("--header: %q must be one of auto, yes, no", excerpt.Of(o.header))
	}
	delimiter, err := parseDelimiter(o.delimiter)
	return csv.Options{Delimiter: delimiter, Header: header}, err
}

// files are those that may be read: without the names of arrays in them.
func (o *inputFlags) files() []string {
	paths := slices.Concat(splitList(o.data.value), splitList(o.target.value), []string{o.weights.value, o.penalty})
	for i, path := range paths {
		paths[i], _ = file.SplitArray(path)
	}
	return paths
}

// parseDelimiter reads one character or "tab"; empty text is 0.
func parseDelimiter(text string) (rune, error) {
	if text == "tab" || text == `\t` {
		return '\t', nil
	}
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case text == "":
		return 0, nil
	case size != len(text) || r == utf8.RuneError || strings.ContainsRune("\"\r\n.+-eE0123456789", r):
		return 0, badInput("--delimiter: %q must be one character, of which no number is made, or tab", excerpt.Of(text))
	}
	return r, nil
}

// options are those of file.Open, and the files of the weights where they have their
// own. Weights without are a column, read as one target more, the last.
func (o *inputFlags) options() (opts file.Options, weights []string, err error) {
	text, err := o.csvOptions()
	if err != nil {
		return opts, nil, err
	}
	opts = file.Options{
		Format: o.format, Target: splitList(o.target.value), Targets: o.targets,
		Columns: splitList(o.columns), Delimiter: text.Delimiter, Header: text.Header, Features: o.width, OnlyNamed: o.told, Was: o.seen,
	}
	if !o.weights.set {
		return opts, nil, nil
	}
	if weights, err = o.weightsFiles(opts); weights != nil || err != nil {
		return opts, weights, err
	}
	opts.Target = append(opts.Target, o.weights.value)
	opts.Targets++
	return opts, nil, nil
}

// weightsFiles are where the weights are if they are no column, told as a target is: one
// file, or an array of that name in each of the .npz archives.
func (o *inputFlags) weightsFiles(opts file.Options) ([]string, error) {
	opts.Target, opts.OnlyNamed = []string{o.weights.value}, false
	var out []string
	for _, path := range splitList(o.data.value) {
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

// wanted are the names of the features to take from files that have names, nil
// for all there are.
func (o *inputFlags) wanted(opts file.Options) ([]string, error) {
	path := splitList(o.data.value)[0]
	format, err := file.Format(path, opts.Format)
	if err != nil || len(o.names) == 0 {
		return nil, err
	}
	switch format {
	case "parquet":
		return o.names, nil
	case "csv":
		header, err := csv.Columns(path, csv.Options{Delimiter: opts.Delimiter, Header: opts.Header})
		if err != nil || header == nil {
			return nil, err
		}
		return o.names, nil
	}
	return nil, nil
}

// open opens the files and takes the rows asked for, with their weights.
func (o *inputFlags) open(ctx context.Context) (*file.Opened, dataset.Source, error) {
	opts, weights, err := o.options()
	if err != nil {
		return nil, nil, err
	}
	byNumber := o.team != nil && (weights != nil || o.rows != "")
	if byNumber {
		err = o.numbered(opts)
	} else {
		opts.Share, opts.Widest = o.team.share(), o.team.widest(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	if len(opts.Columns) == 0 {
		if opts.Columns, err = o.wanted(opts); err != nil {
			return nil, nil, err
		}
	}
	opened, err := file.Open(splitList(o.data.value), opts)
	if err != nil {
		return nil, nil, err
	}
	src := opened.Source
	switch {
	case weights != nil:
		w, err := file.Open(weights, file.Options{Was: o.seen})
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
		src, err = dataset.Part(src, o.team.share())
	}
	return opened, src, err
}

// numbered refuses to share out rows by their numbers where these are not known.
func (o *inputFlags) numbered(opts file.Options) error {
	path := splitList(o.data.value)[0]
	format, err := file.Format(path, opts.Format)
	if err != nil || file.Numbered(format) {
		return err
	}
	flag, instead := "--rows", "leave it out"
	if o.rows == "" {
		flag, instead = "--weights", "put the weights into a column"
	}
	return badInput("%s: with --mpi a file beside %s, or a range of its rows, needs rows that are known by number; %s is %s: take npy, npz or Parquet, or %s", flag, path, path, format, instead)
}

// again opens rows for something that was made of such before, a model or a sketch:
// they are as wide, and features are found by their names. Rows that are wider by so
// many targets, none of which was named, may still hold them.
func (o inputFlags) again(prep *model.Preparation, what string, targets int) (*file.Opened, dataset.Source, error) {
	o.width, o.names = prep.Inputs, prep.Names
	opened, src, err := o.open(context.Background())
	if err != nil {
		return nil, nil, err
	}
	if _, d, _ := src.Dims(); d != prep.Inputs {
		hint := ""
		if targets > 0 && !o.target.set && d == prep.Inputs+targets {
			hint = "; is the target among them? say --target"
		}
		return nil, nil, badInput("%s has %d features, the %s %d%s", o.data.value, d, what, prep.Inputs, hint)
	}
	return opened, src, nil
}

// readPenalty reads the d numbers of a file, a row or a column.
func readPenalty(ctx context.Context, name string, seen map[string]dataset.Stamp, d int) ([]float64, error) {
	src, err := file.Open([]string{name}, file.Options{Was: seen})
	if err != nil {
		return nil, err
	}
	var p []float64
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		if b.Sparse != nil {
			return nil, badInput("--penalty: %s is sparse, must be a row or a column of numbers", name)
		}
		p = append(p, b.X...)
		if len(p) > d {
			break
		}
	}
	if len(p) != d {
		return nil, badInput("--penalty: %s does not hold one number for each of the %d input columns", name, d)
	}
	if j := slices.IndexFunc(p, func(v float64) bool { return !(v > 0) || math.IsInf(v, 0) }); j >= 0 {
		return nil, badInput("--penalty: number %d of %s is %v, must be positive", j+1, name, p[j])
	}
	return p, nil
}

// penalise scales columns by 1/√p, which makes γ‖x‖² of γ·Σ pⱼxⱼ².
func penalise(s *dataset.Scaling, p []float64) *dataset.Scaling {
	if s == nil {
		s = &dataset.Scaling{Mean: make([]float64, len(p)), Scale: make([]float64, len(p))}
		for j := range p {
			s.Scale[j] = 1
		}
	}
	for j, v := range p {
		s.Scale[j] *= math.Sqrt(v)
	}
	return s
}
