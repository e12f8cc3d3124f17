package file

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/npy"
	"github.com/fdridge/fdridge/dataset/svmlight"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// A format is all that differs between the formats of files.
type format struct {
	name     string
	magic    []string // what files begin with; none: text, which detect tells by its lines
	suffixes []string
	// numbered says that a row can be found by its number. Shares are then of the rows,
	// otherwise of the bytes.
	numbered bool
	// piped says that it can be read from its beginning to its end, and so from a pipe.
	piped bool
	// fields says that lines are divided by a delimiter, and that the first may be a header.
	fields bool
	// labelled says that a row is its label, which is the target, and its features that are
	// not zero: there are no columns to choose, and all files are as wide as the widest.
	labelled bool
	// open opens a part of a file. Streams of numbered rows are of the whole file.
	open func(o *Opened, p part, opts Options) (dataset.Source, error)
	// widen opens a part of labelled rows once more, for so many features as the options say: it
	// was seen to have so many rows, -1 unknown, and to be the file of a stamp.
	widen func(p part, opts Options, rows int64, was dataset.Stamp) (*dataset.Stream, error)
	// columns are the names of all columns, nil in files without; a nil function: no file has any.
	columns func(path string, opts Options) ([]string, error)
	// chosen are the names of the features and of the targets that opts takes of the columns. A
	// format has both functions or neither.
	chosen func(path string, opts Options) (features, targets []string, err error)
	// arrays are those of an archive; a nil function: no archive.
	arrays func(path string) ([]string, error)
}

// formats are all there are. Parquet and Arrow, which take a large library, are in formats_arrow.go.
func formats() []format {
	return []format{{
		name: "npy", magic: []string{"\x93NUMPY"}, suffixes: []string{".npy"},
		numbered: true, piped: true,
		open: func(o *Opened, p part, opts Options) (dataset.Source, error) {
			s, err := npy.Open(p.path, npy.Options{Targets: opts.Target, Columns: opts.Columns, Cells: opts.Cells, Pipe: opts.Pipe})
			return o.keep(p, s, err)
		},
	}, {
		name: "npz", magic: []string{"PK\x03\x04", "PK\x05\x06"}, suffixes: []string{".npz"},
		numbered: true,
		open:     (*Opened).archive,
		arrays:   npy.Members,
	}, {
		name: "csv", suffixes: []string{".csv", ".tsv"},
		fields: true, piped: true,
		open: func(o *Opened, p part, opts Options) (dataset.Source, error) {
			if opts.Alone {
				if err := p.beginsRow(); err != nil {
					return nil, err
				}
			}
			text := csvOptions(opts)
			text.Range = p.bytes()
			s, err := csv.Open(p.path, text)
			return o.keep(p, s, err)
		},
		columns: func(path string, opts Options) ([]string, error) {
			return csv.Columns(path, csvOptions(opts))
		},
		chosen: func(path string, opts Options) ([]string, []string, error) { return csv.Names(path, csvOptions(opts)) },
	}, parquetFormat(), arrowFormat(), {
		name: "svmlight", suffixes: []string{".svm", ".svmlight", ".libsvm"},
		labelled: true, piped: true,
		open: func(o *Opened, p part, opts Options) (dataset.Source, error) {
			if opts.Features == 0 {
				o.Scans = 1
			}
			s, err := svmlight.Open(p.path, svmlight.Options{Features: opts.Features, Targets: labels(opts), Range: p.bytes(), Pipe: opts.Pipe})
			return o.keep(p, s, err)
		},
		widen: func(p part, opts Options, rows int64, was dataset.Stamp) (*dataset.Stream, error) {
			return svmlight.Open(p.path, svmlight.Options{Features: opts.Features, Targets: labels(opts), Rows: max(rows, 0), Range: p.bytes(), Stamp: was})
		},
	}}
}

// How Parquet and Arrow files begin and are called, which a program without their readers knows, too.
var (
	parquetMagic, parquetSuffixes = []string{"PAR1"}, []string{".parquet"}
	arrowMagic, arrowSuffixes     = []string{"ARROW1", "\xff\xff\xff\xff"}, []string{".arrow", ".arrows", ".feather"}
)

// Formats are the names that Options.Format takes.
var Formats = formatNames()

func formatNames() []string {
	names := []string{"auto"}
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// named is the format of a name; for a name that there is not it has none of the properties.
func named(name string) format {
	all := formats()
	if i := slices.IndexFunc(all, func(f format) bool { return f.name == name }); i >= 0 {
		return all[i]
	}
	return format{}
}

// Numbered reports whether a row of a format can be found by its number, so that rows can
// be divided by their numbers.
func Numbered(format string) bool { return named(format).numbered }

// Labelled reports whether the rows of a format have their target with them as a label, which
// is no column.
func Labelled(format string) bool { return named(format).labelled }

// Columns returns the names of the columns of a file, nil where it gives none. Errors are those
// of [Open].
func Columns(path string, opts Options) ([]string, error) {
	name, err := Format(path, opts)
	if err != nil {
		return nil, err
	}
	if f := named(name); f.columns != nil {
		return f.columns(path, opts)
	}
	return nil, nil
}

func csvOptions(opts Options) csv.Options {
	return csv.Options{Targets: opts.Target, Columns: opts.Columns, Cells: opts.Cells, Delimiter: opts.Delimiter, Header: opts.Header, Pipe: opts.Pipe}
}

// fits refuses options that a format has no use for.
func (f format) fits(path string, opts Options) error {
	var msg string
	switch {
	case f.labelled && len(opts.Target) > 0:
		msg = fmt.Sprintf("the target of a %s file is its label; it has no column %q", f.name, excerpt.Of(opts.Target[0]))
	case f.labelled && len(opts.Columns) > 0:
		msg = fmt.Sprintf("a %s file has no columns to choose, such as %q", f.name, excerpt.Of(opts.Columns[0]))
	case f.labelled && opts.Cells != nil:
		msg = fmt.Sprintf("is %s, whose rows have neither missing values, what is left out being zero, nor categories", f.name)
	case !f.fields && opts.Delimiter != 0:
		msg = fmt.Sprintf("is %s, which has no delimiter; only csv has", f.name)
	case !f.fields && opts.Header != csv.Auto:
		msg = fmt.Sprintf("is %s, which has no header line; only csv has", f.name)
	default:
		return nil
	}
	return &dataset.InputError{File: path, Msg: msg}
}

// labels is the number of targets to read from labelled rows.
func labels(opts Options) int {
	if opts.Targets == 0 {
		return 0
	}
	return 1
}

// names are those of the features and of the targets that are chosen, nil where there are none.
func (f format) names(path string, opts Options) (features, targets []string, err error) {
	if f.chosen == nil {
		return nil, nil, nil
	}
	return f.chosen(path, opts)
}

// inside are what a target may name in a file: its columns, or the arrays of an archive.
func (f format) inside(path string, opts Options) ([]string, error) {
	switch {
	case f.columns != nil:
		return f.columns(path, opts)
	case f.arrays != nil:
		archive, _ := SplitArray(path)
		return f.arrays(archive)
	}
	return nil, nil
}

// errUnknown is the error of a name that is none of Formats.
func errUnknown(name string) error {
	return fmt.Errorf("dataset: unknown format %q, must be one of %s", excerpt.Of(name), strings.Join(formatNames(), ", "))
}
