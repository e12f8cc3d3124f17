// Package file opens data files of any supported format by their names. It combines the readers of dataset/arrow,
// dataset/csv, dataset/jsonl, dataset/npy, dataset/parquet and dataset/svmlight in one function, Open.
package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/dataset/npy"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/dataset/svmlight"
)

// Options sets how files are read.
type Options struct {
	// Format is one of the names in [Formats]. If it is "" or "auto", the format is detected from the data.
	Format string
	// Target lists the target columns. Each is "first", "last", a 1-based number, or a name if the format has
	// names.
	//
	// If Target has a single element, it may also name an array in the .npz archive, or a separate file with the
	// targets. A name that is neither a column nor an array is a file if the file exists or the name looks like a
	// data file.
	//
	// By default, the target of svmlight files is the label, and other files have no target.
	Target []string
	// Targets is the required number of targets. A negative number −k requires at least k targets. If Targets is 0,
	// neither targets nor labels are read. Open returns an error if the files do not have the required number.
	Targets int
	// Columns are the features, in the requested order. They are specified like the columns in Target and must not
	// include a target. If every entry begins with "-", the columns after the "-" are left out, and all other
	// columns are features. If Columns is empty, all columns except the targets are features. For svmlight files,
	// Columns must be empty.
	Columns []string
	// Delimiter is the character that separates the fields of csv files. If it is 0, the delimiter is detected from
	// the first lines.
	Delimiter rune
	// Header states whether the first line of csv files is a header. By default, this is detected from the first
	// lines.
	Header csv.Header
	// Text states how numbers and missing values are written in text files. The options Delimiter, Header, Text and
	// Skipped apply to all text files, including separate files of targets and weights.
	Text prepare.Text
	csv.Skipped
	// Features is the number of features of a svmlight file. If it is 0, Open reads the whole file once to find it.
	Features int
	// Transposed is true if the rows of the files are features and their columns are samples. Open then returns the
	// [dataset.Transpose] of the files, and Columns selects samples. The target must be in a separate file, and
	// Share must be the zero value.
	Transposed bool
	// Share is the portion of the rows to read, by default all rows. If there are at least as many files as shares,
	// a share consists of whole files. Otherwise files are divided. Files in npy, npz, Parquet and Arrow are
	// divided by row numbers. Files in csv, jsonl and svmlight are divided by bytes. A text record belongs to the
	// share that has its first byte.
	//
	// Compressed text is not divided. If targets or weights come from separate files, their rows are found by
	// number. So Open counts the rows that precede the share.
	Share dataset.Share
	// Widest, if not nil, is called for svmlight files. Its argument is the number of features in the rows of
	// Share. It must return the largest number of features in the rows of any share.
	Widest func(features int) (int, error) `json:"-"`
	// OnlyNamed forbids targets in a separate file. Open then reads only the files that its caller names. Set it if
	// target names come from untrusted data such as a saved sketch.
	OnlyNamed bool
	Pairing
	Origin
}

// A Pairing has the options for targets and weights in separate files. Row i of a separate file belongs to row i of
// the features.
type Pairing struct {
	// Weights are the files with the sample weights. Each has one column; an array of an archive is named
	// FILE.npz:NAME. The files are read one after the other. Row i of this sequence is the weight of row i of the
	// features. Parquet, Arrow, npy, npz and csv are supported.
	Weights []string
	// FirstRow, if not nil, is called if separate files have targets or weights and only a share of a text file is
	// read. Its argument is the number of rows in Share. It must return the number of rows in all earlier shares.
	FirstRow func(rows int64) (int64, error) `json:"-"`
	// IsPart is true if the caller reads only some of the rows. A pass over some rows cannot detect that separate
	// files have different numbers of rows. So Open counts the rows. It does not count them if the first lines of
	// all text files certainly are headers.
	IsPart bool
}

// An Origin has the options that are not saved as JSON. They state where the data come from, and how to read cells
// that are not numbers.
type Origin struct {
	// Cells, if not nil, sets how to read cells that are not numbers. The first file determines which columns are
	// categorical. For sparse rows, Cells must be nil. For Transposed files, it must have no categories.
	Cells *prepare.Cells `json:"-"`
	// Was maps file names to stamps that were taken earlier. If a file has changed since its stamp was taken, Open
	// returns a *[dataset.ChangedError].
	Was map[string]dataset.Stamp `json:"-"`
	// Pipe, if not nil, is read instead of a file. The list of paths must then have exactly one element. The format
	// must be csv, jsonl, svmlight, npy or Arrow, and svmlight requires Features. The rows can be read only once (see
	// [dataset.Once]), and cannot be divided or transposed.
	Pipe *dataset.Pipe `json:"-"`
	// Entries, if not nil, contains the numbers of a .npy array. The list of paths must then have exactly one
	// element, a file with only the header of the array.
	Entries *io.SectionReader `json:"-"`
	// Heads, if not nil, keeps what Open finds in the first bytes of each file: its format and its columns. Later
	// calls with the same Heads do not read these bytes again. If a file changes between two calls, a pass over its
	// rows ends with a *[dataset.ChangedError].
	Heads *Heads `json:"-"`
	// Known are the names of the features of an existing model or sketch, or nil. If the first line of a csv file
	// has all of these names, it is a header, even if the names are numbers.
	Known []string `json:"-"`
	// Context can be cancelled to stop the passes over files that Open makes. It may be nil.
	Context context.Context `json:"-"`
	// Alone is true if it is possible that no other process reads the other shares. Open then checks that a share
	// of a csv file does not begin within a quoted record. For this it reads all text before the share. If Alone is
	// false, the reader of the preceding share makes this check.
	Alone bool `json:"-"`
}

// Heads keeps the formats and columns that were found in the first bytes of files. Its zero value is empty and
// ready to use. Several goroutines may use it at the same time.
type Heads = rawfile.Heads

// An Opened is a source of the rows of one or several files. Its Layout describes the first file that has column
// names. If no file has column names, it describes the first file.
type Opened struct {
	dataset.Source
	Layout
	Scans int // number of passes over the files made by Open
	// TargetsFile is the name of the separate file with the targets, or "" if there is none.
	TargetsFile string
	// Cells holds the settings for cells that are not numbers, and the positions of the categorical columns. It is
	// nil if all cells are numbers.
	Cells *prepare.Cells
	// Text states how numbers and missing values are written in the files. It is Options.Text, completed by what
	// was detected.
	Text prepare.Text

	files   []part  // of the features, in order
	read    Options // of the features
	sources []dataset.Source
	streams []*dataset.Stream
	remarks []dataset.Remark
	pipe    *dataset.Pipe // of text that is not encoded, or nil
}

// Passes returns the number of passes over the data, including the passes that Open made. If the files have
// different numbers of passes, it returns the largest.
func (o *Opened) Passes() int {
	most := 0
	for _, s := range o.streams {
		most = max(most, s.Passes())
	}
	return most + o.Scans
}

// Remarks returns the remarks about the files, each once. A remark tells the user how an ambiguous text was read.
func (o *Opened) Remarks() []dataset.Remark {
	out := slices.Clone(o.remarks)
	for _, s := range o.streams {
		for _, r := range s.Remarks {
			if !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	return out
}

// Once reports whether the rows can be read only once, see [dataset.Once].
func (o *Opened) Once() bool { return dataset.Once(o.Source) }

// Open opens files and returns a source that reads them one after the other. From a .npz archive, it reads the
// array that is named as in file.npz:array. Without :array, it reads the array x or X, or the only array. An error
// is an *[dataset.InputError], or [dataset.ErrShape] if dimensions disagree.
//
// Files must not change until the end of the last pass. Each pass checks this when it opens a file and after each
// block. If a file has changed, the pass ends with a *[dataset.ChangedError].
func Open(paths []string, opts Options) (*Opened, error) {
	if len(paths) == 0 {
		return nil, &dataset.SourceError{Reason: "no files"}
	}
	if err := checkPipe(paths, opts); err != nil {
		return nil, err
	}
	if opts.Heads == nil {
		opts.Heads = new(Heads)
	}
	out := &Opened{Cells: opts.Cells, Text: opts.Text}
	opts, err := out.findFirstIndex(paths, opts)
	if err != nil {
		return nil, err
	}
	var sources []dataset.Source
	ownFile, err := targetIsFile(paths[0], opts)
	if err != nil {
		return nil, err
	}
	if opts.Transposed && (len(opts.Target) > 0 && !ownFile || !opts.Share.Whole()) {
		return nil, &dataset.InputError{
			File: paths[0],
			Msg: "has samples in its columns: targets and weights must come from separate files, " +
				"and the rows cannot be divided",
		}
	}
	inner := opts
	if opts.Transposed {
		inner.Cells, err = transposedCells(opts.Cells)
		if err != nil {
			return nil, &dataset.InputError{File: paths[0], Err: err, Msg: "has samples in its columns"}
		}
	}
	if ownFile || opts.Transposed {
		inner.Target, inner.Targets = nil, 0
	}
	others := out.newSeparate(paths, opts, ownFile)
	byNumber := false // whether all rows are opened first, and divided by their numbers
	if others != nil {
		if err := others.settleHeaders(opts.Pipe, opts.IsPart || !opts.Share.Whole()); err != nil {
			return nil, err
		}
		inner, err = others.featureOptions(inner)
		if err != nil {
			return nil, err
		}
		name, err := Format(paths[0], inner)
		if err != nil {
			return nil, err
		}
		byNumber = Numbered(name)
	}
	if byNumber || opts.Transposed {
		inner.Share = dataset.Share{}
	}
	files, err := parts(paths, inner)
	if err != nil {
		return nil, err
	}
	for _, p := range files {
		s, f, err := out.openPart(p, inner)
		if err != nil {
			return nil, err
		}
		if err := out.follow(p, s, f, inner); err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	if err := out.widenAll(files, sources, inner); err != nil {
		return nil, err
	}
	x, err := dataset.Concat(sources...)
	if err != nil {
		return nil, err
	}
	if opts.Transposed {
		x, err = out.transpose(opts.Context, x)
		if err != nil {
			return nil, err
		}
	}
	from := paths[0]
	if ownFile {
		from = opts.Target[0]
		out.TargetsFile = from
	}
	if others != nil {
		x, err = others.joinShare(x, files, opts, byNumber)
		if err != nil {
			return nil, err
		}
	}
	if opts.Pipe == nil && !opts.Transposed {
		out.files = files
		out.read = inner
		out.sources = sources
	}
	out.Source = x
	_, out.Features, out.Targets = x.Dims()
	return out, out.countTargets(from, opts)
}

// transposedCells returns how to read files whose columns are samples. The argument cells describes the features,
// which are rows of these files. If cells allows missing values in any feature, the result allows them everywhere.
// Whether a feature allows them is checked later, in the transposed rows.
func transposedCells(cells *prepare.Cells) (*prepare.Cells, error) {
	switch {
	case cells == nil:
		return nil, nil
	case len(cells.OneHot) > 0:
		return nil, errors.New("categories are not supported")
	case cells.Features == nil:
		cells.Features = []int{}
	}
	if !cells.AllowsSome() {
		return nil, nil
	}
	return &prepare.Cells{Missing: prepare.MissingDrop, Features: []int{}}, nil
}

// findFirstIndex sets opts.Text.FirstIndex for svmlight files, if it is not set. If the indices in one file count
// from 0, they count from 0 in all files.
func (o *Opened) findFirstIndex(paths []string, opts Options) (Options, error) {
	if opts.Text.FirstIndex == "" {
		name, err := Format(paths[0], opts)
		if err != nil || !formatByName(name).labelled {
			return opts, nil // opening the file reports the error
		}
		opts.Text.FirstIndex = "1"
		for _, path := range paths {
			first, line, err := svmlight.First(path, opts.Pipe)
			if err != nil {
				return opts, err
			}
			if first == 0 {
				opts.Text.FirstIndex = "0"
				o.remarks = append(
					o.remarks,
					dataset.Remark{
						File: path,
						Line: line,
						Msg:  "the indices count from 0 (--first-index 1 overrides this)",
					},
				)
				break
			}
		}
	}
	o.Text.FirstIndex = opts.Text.FirstIndex
	if o.Text.FirstIndex == "1" {
		o.Text.FirstIndex = "" // the default of models
	}
	return opts, nil
}

// firstOf returns the smallest index of svmlight rows.
func firstOf(opts Options) int {
	if opts.Text.FirstIndex == "0" {
		return 0
	}
	return 1
}

// checkPipe rejects options that pipes do not support.
func checkPipe(paths []string, opts Options) error {
	if opts.Pipe == nil {
		return nil
	}
	fail := func(format string, args ...any) error {
		return &dataset.InputError{
			File: opts.Pipe.Name(),
			Msg:  fmt.Sprintf(format, args...),
		}
	}
	switch {
	case len(paths) != 1:
		return fail("is a pipe, which must be the only input; write all rows to it")
	case opts.Transposed:
		return &dataset.OnceError{What: "turning columns into rows"}
	case !opts.Share.Whole():
		return fail("is a pipe, whose rows cannot be divided among readers")
	}
	name, err := Format(paths[0], opts)
	if err == nil && !formatByName(name).piped && formatByName(name).open != nil {
		err = fail("is %s, which cannot be read sequentially from a pipe; write it to a file", name)
	}
	return err
}

// transpose returns a source whose rows are the columns of x. Its columns have no names.
func (o *Opened) transpose(ctx context.Context, x dataset.Source) (dataset.Source, error) {
	if n, _, _ := x.Dims(); n < 0 {
		o.Scans++ // count the passes that the transposition needs
	}
	o.Names, o.TargetNames = nil, nil
	if _, n, _ := x.Dims(); n > 1<<16 &&
		!formatByName(o.Format).labelled { // the default blocks, 16 dense rows, exceed 8 MiB
		for _, s := range o.streams {
			s.BlockRows = max(2, 1<<20/n)
		}
	}
	return dataset.Transpose(ctx, x, 0)
}

func (o *Opened) openPart(p part, opts Options) (dataset.Source, format, error) {
	name, err := Format(p.path, opts)
	if err != nil {
		return nil, format{}, err
	}
	f := formatByName(name)
	if f.open == nil {
		return nil, f, errUnknown(name)
	}
	if err := f.check(p.path, opts); err != nil {
		return nil, f, err
	}
	src, err := f.open(o, p, opts)
	switch {
	case err != nil:
	case f.numbered:
		src, err = p.rows(src)
	case f.name == "jsonl": // the brackets of JSON show whether a line is cut
	case opts.Pipe != nil:
		err = o.watchEnd(opts.Pipe)
	default:
		err = o.noteCut(p)
	}
	return src, f, err
}

// keep adds the stream s, which was opened for part p, to o.streams. If opening the stream has failed, err is the
// reason, and keep returns err.
func (o *Opened) keep(p part, s *dataset.Stream, err error) (dataset.Source, error) {
	if err == nil {
		err = p.check(s)
	}
	if err != nil {
		return nil, err
	}
	o.streams = append(o.streams, s)
	return s, nil
}

// archive opens the features in a .npz archive. If the target is an array of the archive, it opens the targets,
// too.
func (o *Opened) archive(p part, opts Options) (dataset.Source, error) {
	name, array := SplitArray(p.path)
	isArray, err := targetIsArray(name, opts.Target)
	if err != nil {
		return nil, err
	}
	choice := npyOptions(opts)
	if isArray {
		choice.Targets = nil
	}
	s, err := npy.OpenMember(name, array, choice)
	x, err := o.keep(p, s, err)
	if err != nil || !isArray {
		return x, err
	}
	cells := opts.Cells.ForSeparate(prepare.SeparateTargets)
	s, err = npy.OpenMember(name, opts.Target[0], npy.Options{Cells: cells})
	y, err := o.keep(p, s, err)
	if err != nil {
		return nil, err
	}
	return dataset.ZipNamed(x, y, p.path, name+":"+opts.Target[0])
}

// follow compares the layout of a file with the layout of the files before. If they do not agree, it returns an
// error.
func (o *Opened) follow(p part, s dataset.Source, f format, opts Options) error {
	l := Layout{File: p.path, Number: p.number, Format: f.name}
	_, l.Features, l.Targets = s.Dims()
	var err error
	l.Names, l.TargetNames, err = f.names(p.path, opts)
	if err != nil {
		return err
	}
	if o.Number > 0 {
		if err := l.Agrees(o.Layout); err != nil {
			return err
		}
	}
	if o.Number == 0 || o.Names == nil && l.Names != nil {
		o.Layout = l
	}
	return nil
}

// widenAll gives all svmlight files the same number of features: the largest that any of them has, or the result of
// opts.Widest. It reopens the files that have fewer.
func (o *Opened) widenAll(files []part, sources []dataset.Source, opts Options) error {
	f := formatByName(o.Format)
	if !f.labelled {
		return nil
	}
	widest := 0
	for _, s := range sources {
		_, d, _ := s.Dims()
		widest = max(widest, d)
	}
	if opts.Widest != nil && opts.Features == 0 {
		var err error
		widest, err = opts.Widest(widest)
		if err != nil {
			return err
		}
	}
	if widest == 0 {
		return &dataset.InputError{File: files[0].path, Msg: "has no features: every row is only a label"}
	}
	opts.Features = widest
	for i, s := range sources {
		if n, di, _ := s.Dims(); di != widest {
			wide, err := f.widen(files[i], opts, n, o.streams[i].Stamp)
			if err != nil {
				return err
			}
			sources[i], o.streams[i] = wide, wide
		}
	}
	return nil
}

// countTargets checks the number of targets read from path.
func (o *Opened) countTargets(path string, opts Options) error {
	_, _, t := o.Dims()
	switch least := -opts.Targets; {
	case t == opts.Targets, least > 0 && t >= least:
		return nil
	case t == 0 || least > 0:
		return &dataset.InputError{
			File: path,
			Msg:  "no target is selected: the target must be the name of a column, a number, first or last",
		}
	}
	return &dataset.InputError{File: path, Msg: fmt.Sprintf("gives %d targets, but %d is required", t, opts.Targets)}
}
