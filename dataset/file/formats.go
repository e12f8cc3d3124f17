package file

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/jsonl"
	"github.com/fdridge/fdridge/dataset/npy"
	"github.com/fdridge/fdridge/dataset/svmlight"
	"github.com/fdridge/fdridge/internal/errtext"
)

// A format describes the properties of a file format.
type format struct {
	name     string
	magic    []string // first bytes of files; none for text formats, which detect recognises by their lines
	suffixes []string
	// numbered is true if a file is divided into shares by row numbers. Otherwise it is divided by bytes.
	numbered bool
	// piped is true if data in this format can be read from a pipe.
	piped bool
	// fields is true if the format is text with delimiters, like csv. The first line may be a header.
	fields bool
	// texts is true if the cells of the format are texts. Then marks such as NA can stand for missing values.
	texts bool
	// labelled is true if each row is a label followed by the features that are not zero. All files of this format
	// get the number of features of the widest file.
	labelled bool
	// open opens part p of a file. If numbered is true, it opens all rows of the file.
	open func(o *Opened, p part, opts Options) (dataset.Source, error)
	// widen opens part p again, with opts.Features features. If the file no longer has the given stamp, reading the
	// rows returns an error. The part has the given number of rows, or −1 if the number is unknown.
	widen func(p part, opts Options, rows int64, stamp dataset.Stamp) (*dataset.Stream, error)
	// columns returns the names of the columns of a file. It is nil for a format without names.
	columns func(path string, opts Options) ([]string, error)
	// chosen returns the names of the features and targets that opts selects. It is nil for a format without names.
	chosen func(path string, opts Options) (features, targets []string, err error)
	// arrays returns the names of the arrays in an archive. It is nil for a format that is no archive.
	arrays func(path string) ([]string, error)
}

// formats returns the descriptions of all formats. The descriptions of Parquet and Arrow are in formats_arrow.go.
func formats() []format {
	return []format{{
		name:     "npy",
		magic:    []string{"\x93NUMPY"},
		suffixes: []string{".npy"},
		numbered: true,
		piped:    true,
		open: func(o *Opened, p part, opts Options) (dataset.Source, error) {
			s, err := npy.Open(p.path, npyOptions(opts))
			return o.keep(p, s, err)
		},
		columns: func(path string, opts Options) ([]string, error) {
			return npy.Columns(path, npyOptions(opts))
		},
		chosen: func(path string, opts Options) ([]string, []string, error) {
			return npy.Names(path, npyOptions(opts))
		},
	}, {
		name:     "npz",
		magic:    []string{"PK\x03\x04", "PK\x05\x06"},
		suffixes: []string{".npz"},
		numbered: true,
		open:     (*Opened).archive,
		arrays:   npy.Members,
		chosen: func(path string, opts Options) ([]string, []string, error) {
			name, array := SplitArray(path)
			choice := npyOptions(opts)
			if isArray, err := targetIsArray(name, opts.Target); err != nil {
				return nil, nil, err
			} else if isArray {
				choice.Targets = nil
			}
			return npy.MemberNames(name, array, choice)
		},
	}, {
		name:     "csv",
		suffixes: []string{".csv", ".tsv"},
		fields:   true,
		texts:    true,
		piped:    true,
		open: func(o *Opened, p part, opts Options) (dataset.Source, error) {
			text := csvOptions(opts)
			if opts.Alone {
				if err := p.checkFirstLine(text); err != nil {
					return nil, err
				}
			}
			text.Range = p.bytes()
			s, err := csv.Open(p.path, text)
			if err != nil {
				return nil, err
			}
			if read, err := csv.Text(p.path, text); err == nil && read.Decimal != "" {
				o.Text.Decimal = read.Decimal
			}
			return o.keep(p, s, nil)
		},
		columns: func(path string, opts Options) ([]string, error) {
			return csv.Columns(path, csvOptions(opts))
		},
		chosen: func(path string, opts Options) ([]string, []string, error) {
			return csv.Names(path, csvOptions(opts))
		},
	}, {
		name:     "jsonl",
		suffixes: []string{".jsonl", ".ndjson", ".json"},
		texts:    true,
		piped:    true,
		open: func(o *Opened, p part, opts Options) (dataset.Source, error) {
			lines := jsonlOptions(opts)
			lines.Range = p.bytes()
			s, err := jsonl.Open(p.path, lines)
			return o.keep(p, s, err)
		},
		columns: func(path string, opts Options) ([]string, error) {
			return jsonl.Columns(path, jsonlOptions(opts))
		},
		chosen: func(path string, opts Options) ([]string, []string, error) {
			return jsonl.Names(path, jsonlOptions(opts))
		},
	}, parquetFormat(), arrowFormat(), {
		name:     "svmlight",
		suffixes: []string{".svm", ".svmlight", ".libsvm"},
		labelled: true,
		piped:    true,
		open: func(o *Opened, p part, opts Options) (dataset.Source, error) {
			if opts.Features == 0 {
				o.Scans = 1
			}
			first := firstOf(opts)
			s, err := svmlight.Open(
				p.path,
				svmlight.Options{
					Features: opts.Features,
					Targets:  labels(opts),
					Range:    p.bytes(),
					Pipe:     opts.Pipe,
					First:    &first,
				},
			)
			return o.keep(p, s, err)
		},
		widen: func(p part, opts Options, rows int64, stamp dataset.Stamp) (*dataset.Stream, error) {
			first := firstOf(opts)
			return svmlight.Open(
				p.path,
				svmlight.Options{
					First:    &first,
					Features: opts.Features,
					Targets:  labels(opts),
					Rows:     max(rows, 0),
					Range:    p.bytes(),
					Stamp:    stamp,
				},
			)
		},
	}}
}

// First bytes and suffixes of Parquet and Arrow files. They are here because a program that is built without the
// readers of these formats still detects the formats.
var (
	parquetMagic, parquetSuffixes = []string{"PAR1"}, []string{".parquet"}
	arrowMagic, arrowSuffixes     = []string{"ARROW1", "\xff\xff\xff\xff"}, []string{".arrow", ".arrows", ".feather"}
)

// Formats lists the values of Options.Format.
var Formats = formatNames()

func formatNames() []string {
	names := []string{"auto"}
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// formatByName returns the zero format for an unknown name.
func formatByName(name string) format {
	all := formats()
	i := slices.IndexFunc(all, func(f format) bool { return f.name == name })
	if i >= 0 {
		return all[i]
	}
	return format{}
}

// Numbered reports whether a reader of this format can find a row by its number. If so, files are divided into
// shares by row numbers.
func Numbered(format string) bool { return formatByName(format).numbered }

// Labelled reports whether each row in this format begins with a label. The label is the target.
func Labelled(format string) bool { return formatByName(format).labelled }

// Columns returns the names of the columns of a file. It returns nil if the file has no column names. Errors are as
// in [Open].
func Columns(path string, opts Options) ([]string, error) {
	name, err := Format(path, opts)
	if err != nil {
		return nil, err
	}
	if f := formatByName(name); f.columns != nil {
		return f.columns(path, opts)
	}
	return nil, nil
}

func npyOptions(opts Options) npy.Options {
	return npy.Options{
		Targets: opts.Target,
		Columns: opts.Columns,
		Cells:   opts.Cells,
		Pipe:    opts.Pipe,
		Entries: opts.Entries,
	}
}

func csvOptions(opts Options) csv.Options {
	return csv.Options{
		Targets:   opts.Target,
		Columns:   opts.Columns,
		Known:     opts.Known,
		Delimiter: opts.Delimiter,
		Header:    opts.Header,
		Text:      opts.Text,
		Skipped:   opts.Skipped,
		Cells:     opts.Cells,
		Pipe:      opts.Pipe,
		Heads:     opts.Heads,
		Context:   opts.Context,
	}
}

func jsonlOptions(opts Options) jsonl.Options {
	return jsonl.Options{
		Targets: opts.Target,
		Columns: opts.Columns,
		Cells:   opts.Cells,
		Pipe:    opts.Pipe,
		Text:    opts.Text,
		Heads:   opts.Heads,
	}
}

// check rejects options that the format does not support.
func (f format) check(path string, opts Options) error {
	var msg string
	switch {
	case f.labelled && len(opts.Target) > 0:
		msg = fmt.Sprintf(
			"the target of a %s file is its label; there is no column %q",
			f.name,
			errtext.Excerpt(opts.Target[0]),
		)
	case f.labelled && len(opts.Columns) > 0:
		msg = fmt.Sprintf("a %s file has no columns to select, such as %q", f.name, errtext.Excerpt(opts.Columns[0]))
	case f.labelled && !opts.Cells.WithoutLabels().OnlyNumbers():
		msg = fmt.Sprintf(
			"is %s, whose rows have no missing values (absent entries are zero) and no categories",
			f.name,
		)
	case !f.fields && opts.Delimiter != 0:
		msg = fmt.Sprintf("is %s, which has no delimiter; only csv has one", f.name)
	case !f.fields && opts.Header != csv.Auto:
		msg = fmt.Sprintf("is %s, which has no header line; only csv has one", f.name)
	case !f.fields && (len(opts.Skip) > 0 || opts.Comment != 0):
		msg = fmt.Sprintf("is %s, whose lines cannot be skipped; only lines of csv can", f.name)
	case !f.fields && opts.Text.Escape != 0:
		msg = fmt.Sprintf("is %s, which has no quotes to escape; only csv has some", f.name)
	case !f.texts && len(opts.Text.Marks) > 0 && !opts.Text.IsDefault:
		msg = fmt.Sprintf(
			"is %s, where only null and NaN are missing; marks such as %q are for text files",
			f.name,
			errtext.Excerpt(opts.Text.Marks[0]),
		)
	default:
		return nil
	}
	return &dataset.InputError{File: path, Msg: msg}
}

// labels returns the number of targets to read from rows that begin with a label: 1, or 0 if opts asks for no
// targets.
func labels(opts Options) int {
	if opts.Targets == 0 {
		return 0
	}
	return 1
}

// names returns the names of the features and targets that opts selects. Both are nil for a file without names.
func (f format) names(path string, opts Options) (features, targets []string, err error) {
	if f.chosen == nil {
		return nil, nil, nil
	}
	return f.chosen(path, opts)
}

// targetCandidates returns the names that a target may have: the columns of the file, or the arrays of the archive.
func (f format) targetCandidates(path string, opts Options) ([]string, error) {
	switch {
	case f.columns != nil:
		return f.columns(path, opts)
	case f.arrays != nil:
		archive, _ := SplitArray(path)
		return f.arrays(archive)
	}
	return nil, nil
}

func errUnknown(name string) error {
	return fmt.Errorf(
		"dataset: unknown format %q; it must be one of %s",
		errtext.Excerpt(name),
		strings.Join(formatNames(), ", "),
	)
}
