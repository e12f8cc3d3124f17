// Package file opens data by name, whatever their format: the readers of dataset/arrow,
// dataset/csv, dataset/npy, dataset/parquet and dataset/svmlight behind one function.
//
// Parquet and Arrow are read by a library that makes a program some tens of megabytes larger. Build
// with the tag noarrow to be without: all else is as it was, and files of these two formats are
// recognised and refused ([LeftOut]).
package file

import (
	"context"
	"fmt"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/npy"
)

// Options says how to read.
type Options struct {
	// Format is one of Formats; "" is "auto": told by the first bytes.
	Format string
	// Target names the target columns: each is "first", "last", a 1-based number or,
	// where the format has names, a name. Or it is one array of the .npz archive, or one
	// file that has the targets. It is taken for a file where it is neither a column nor
	// an array, and such a file exists or the name is that of a data file. Empty takes no
	// target; of svmlight files it takes the label.
	Target []string
	// Targets is the number of targets required; another number is an error. 0 takes none,
	// labels included. −k requires k or more.
	Targets int
	// Columns are the features, named as the target columns are, in the order
	// wanted; or, where each begins with "-", the columns that are left out. Empty
	// takes all. A target among them is an error. Svmlight files
	// have none to choose.
	Columns []string
	// Delimiter separates the fields of csv files; 0 takes it from their first line.
	Delimiter rune
	// Header says whether the first line of csv files names the columns; the zero
	// value decides by the first two lines.
	Header csv.Header
	// Features is the number of features of a svmlight file, 0 to find it by
	// reading the file once more.
	Features int
	// Transposed says that the files have a feature in each row and a sample in each column:
	// what is opened is [dataset.Transpose] of them, and Columns are samples. The target has to
	// be a file of its own, and there is one Share.
	Transposed bool
	// Share is the part of the rows that is read, all of them by default. Where there are as
	// many files as shares, or more, it is whole files. Otherwise it is some rows of npy, npz
	// Parquet and Arrow files, and of csv and svmlight files the records that begin in a range of
	// the bytes; compressed text is not divided. Targets from a file of their own need rows
	// that are numbered, as those of npy, npz, Parquet and Arrow.
	Share dataset.Share
	// Widest, if not nil, is told how many features a share of svmlight files was found
	// to have, and returns the most of any share.
	Widest func(features int) (int, error) `json:"-"`
	// OnlyNamed says that Open reads no file but those that it is given: a target that would
	// be a file of its own is an error. It is for names of targets that come from a file, such
	// as a saved sketch, and not from the user: they could be the names of any files.
	OnlyNamed bool
	Origin
}

// An Origin says more of where the data come from, what is in their cells, and who else reads them.
type Origin struct {
	// Cells, if not nil, says how cells are read that are no numbers. The first file says where the
	// categorical columns are. Sparse rows, and those of Transposed files, are refused.
	Cells *dataset.Cells `json:"-"`
	// Was has, by their names, the stamps of files that were looked at or read before. A
	// file that has changed since is a *[dataset.ChangedError].
	Was map[string]dataset.Stamp `json:"-"`
	// Pipe, if not nil, is what is read in place of the one file that is named: csv, svmlight, npy or
	// Arrow. The rows can be read once ([dataset.Once]). It is not divided, and not transposed;
	// svmlight rows need Features.
	Pipe *dataset.Pipe `json:"-"`
	// Alone says that the other shares may be read by nobody. The text of a csv file before its
	// share is then looked through, to tell a line break in quotes, which ends no row, from one
	// that does: where all shares are read the one before has an error of it.
	Alone bool `json:"-"`
}

// An Opened is a source of the rows of some files. All have one layout: that of the first
// file, or of the first that has names.
type Opened struct {
	dataset.Source
	Layout
	Scans int // reads of the files that opening took
	// Cells are those that the rows are read by, which say where categorical columns are; nil where all
	// cells are numbers.
	Cells *dataset.Cells

	streams []*dataset.Stream
}

// Passes is how often the data have been read, scans included. Where files differ it is the
// most of any.
func (o *Opened) Passes() int {
	most := 0
	for _, s := range o.streams {
		most = max(most, s.Passes())
	}
	return most + o.Scans
}

// Once is that of [dataset.Once].
func (o *Opened) Once() bool { return dataset.Once(o.Source) }

// Open opens one file or several, one after the other; of a .npz archive the array
// x or X or the only one, or the one said as file.npz:array. Errors are
// *[dataset.InputError], [dataset.ErrShape] where files don't go together, or
// *[dataset.ChangedError] for a file that was changed: none may be written to between the
// first look at it and the last row of the last pass. Each pass checks that when it opens a
// file and after each block of rows.
func Open(paths []string, opts Options) (*Opened, error) {
	if len(paths) == 0 {
		return nil, &dataset.SourceError{Reason: "no files"}
	}
	if err := fitsPipe(paths, opts); err != nil {
		return nil, err
	}
	out := &Opened{Cells: opts.Cells}
	var sources []dataset.Source
	ownFile, err := targetIsFile(paths[0], opts)
	if err != nil {
		return nil, err
	}
	if opts.Transposed && (len(opts.Target) > 0 && !ownFile || !opts.Share.Whole()) {
		return nil, &dataset.InputError{File: paths[0], Msg: "has samples in its columns: targets, and weights, come from files of their own, and the rows are not divided"}
	}
	if opts.Transposed && opts.Cells != nil {
		return nil, &dataset.InputError{File: paths[0], Msg: "has samples in its columns: neither missing values nor categories can be told of these"}
	}
	inner := opts
	if ownFile || opts.Transposed {
		inner.Target, inner.Targets, inner.Share = nil, 0, dataset.Share{}
	}
	files, err := parts(paths, inner)
	if err != nil {
		return nil, err
	}
	for _, p := range files {
		s, f, err := out.one(p, inner)
		if err != nil {
			return nil, err
		}
		if err := out.follow(p, s, f, inner); err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	if err := out.sameWidth(files, sources, inner); err != nil {
		return nil, err
	}
	x, err := dataset.Concat(sources...)
	if err != nil {
		return nil, err
	}
	if opts.Transposed {
		if x, err = out.transpose(x); err != nil {
			return nil, err
		}
	}
	from := paths[0]
	if ownFile {
		from = opts.Target[0]
		if x, err = out.zip(x, opts); err != nil {
			return nil, err
		}
	}
	out.Source = x
	_, out.Features, out.Targets = x.Dims()
	if err := out.countTargets(from, opts); err != nil {
		return nil, err
	}
	if ownFile {
		err = out.divideRows(paths[0], opts.Share)
	}
	return out, err
}

// fitsPipe refuses options that a pipe cannot do.
func fitsPipe(paths []string, opts Options) error {
	if opts.Pipe == nil {
		return nil
	}
	fail := func(format string, args ...any) error {
		return &dataset.InputError{File: opts.Pipe.Name(), Msg: fmt.Sprintf(format, args...)}
	}
	switch {
	case len(paths) != 1:
		return fail("is a pipe, which is read alone; have what writes to it send all rows")
	case opts.Transposed:
		return &dataset.OnceError{What: "turning columns into rows"}
	case !opts.Share.Whole():
		return fail("is a pipe, whose rows are not divided among readers")
	}
	name, err := Format(paths[0], opts)
	if err == nil && !named(name).piped && named(name).open != nil {
		err = fail("is %s, which is not read from its beginning to its end, as a pipe is; write it to a file", name)
	}
	return err
}

// transpose makes features of the rows of x, which have no names.
func (o *Opened) transpose(x dataset.Source) (dataset.Source, error) {
	if n, _, _ := x.Dims(); n < 0 {
		o.Scans++ // they are counted
	}
	o.Names, o.TargetNames = nil, nil
	return dataset.Transpose(context.Background(), x, 0)
}

// one opens a single file.
func (o *Opened) one(p part, opts Options) (dataset.Source, format, error) {
	name, err := Format(p.path, opts)
	if err != nil {
		return nil, format{}, err
	}
	f := named(name)
	if f.open == nil {
		return nil, f, errUnknown(name)
	}
	if err := f.fits(p.path, opts); err != nil {
		return nil, f, err
	}
	src, err := f.open(o, p, opts)
	if err == nil && f.numbered {
		src, err = p.rows(src)
	}
	return src, f, err
}

// keep takes a stream of a part that was opened, or the error of opening it.
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

// archive opens the array of the features of a .npz archive and, where the target
// is another array of it, that one.
func (o *Opened) archive(p part, opts Options) (dataset.Source, error) {
	name, array := SplitArray(p.path)
	inside, err := targetIsArray(name, opts.Target)
	if err != nil {
		return nil, err
	}
	choice := npy.Options{Targets: opts.Target, Columns: opts.Columns, Cells: opts.Cells}
	if inside {
		choice.Targets = nil
	}
	s, err := npy.OpenMember(name, array, choice)
	x, err := o.keep(p, s, err)
	if err != nil || !inside {
		return x, err
	}
	s, err = npy.OpenMember(name, opts.Target[0], npy.Options{})
	y, err := o.keep(p, s, err)
	if err != nil {
		return nil, err
	}
	return dataset.Zip(x, y)
}

// follow checks that a file may follow those before it, and keeps the layout of the first
// file or of the first with names.
func (o *Opened) follow(p part, s dataset.Source, f format, opts Options) error {
	l := Layout{File: p.path, Number: p.number, Format: f.name}
	_, l.Features, l.Targets = s.Dims()
	var err error
	if l.Names, l.TargetNames, err = f.names(p.path, opts); err != nil {
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

// sameWidth gives labelled rows the number of features of the widest file.
func (o *Opened) sameWidth(files []part, sources []dataset.Source, opts Options) error {
	f := named(o.Format)
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
		if widest, err = opts.Widest(widest); err != nil {
			return err
		}
	}
	if widest == 0 {
		return &dataset.InputError{File: files[0].path, Msg: "has no features: every row is a label alone"}
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

// zip adds targets from a file of their own.
func (o *Opened) zip(x dataset.Source, opts Options) (dataset.Source, error) {
	own := opts.Target[0]
	name, _ := SplitArray(own)
	y, f, err := o.one(part{path: own, stamp: opts.Was[name]}, Options{})
	if err != nil {
		return nil, err
	}
	if f.labelled {
		return nil, &dataset.InputError{File: own, Msg: "targets cannot come from a " + f.name + " file"}
	}
	if o.TargetNames, _, err = f.names(own, Options{}); err != nil {
		return nil, err
	}
	return dataset.Zip(x, y)
}

// countTargets holds the source to the number of targets asked for; path is where
// they come from.
func (o *Opened) countTargets(path string, opts Options) error {
	_, _, t := o.Dims()
	switch least := -opts.Targets; {
	case t == opts.Targets, least > 0 && t >= least:
		return nil
	case t == 0 || least > 0:
		return &dataset.InputError{File: path, Msg: "no target is named; say which column it is: a name, a number, first or last"}
	}
	return &dataset.InputError{File: path, Msg: fmt.Sprintf("gives %d targets where %d is asked for", t, opts.Targets)}
}
