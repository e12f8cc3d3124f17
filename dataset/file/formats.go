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
	"github.com/fdridge/fdridge/internal/printable"
)

// A format describes the properties of a file format.
type format struct {
	name     string
	magic    []string // first bytes of files; none for text formats, which detect recognises by their lines
	suffixes []string
	// numbered is true if a share of a file is a range of rows. Otherwise it is a range of bytes.
	numbered bool
	// piped is true if a pipe can have the format.
	piped bool
	// fields is true for delimited text, perhaps with a header.
	fields bool
	// texts is true if cells are texts, so that marks of missing values can be found.
	texts bool
	// labelled is true if a row consists of a target and nonzero features. All files get the number of features of the
	// widest file.
	labelled bool
	// open opens a part of a file, or all rows of the file if numbered is true.
	open func(o *Opened, p part, opts Options) (dataset.Source, error)
	// widen opens a part again with opts.Features features, if the file still has the given stamp. rows is the number of
	// rows, −1 if unknown.
	widen func(p part, opts Options, rows int64, stamp dataset.Stamp) (*dataset.Stream, error)
	// columns returns the column names. It is nil without names.
	columns func(path string, opts Options) ([]string, error)
	// chosen returns the names selected by opts. It is nil for a format without names.
	chosen func(path string, opts Options) (features, targets []string, err error)
	// arrays returns the names of the arrays in an archive. It is nil for a format without arrays.
	arrays func(path string) ([]string, error)
}

// formats returns all formats. Parquet and Arrow are in formats_arrow.go.
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

// Programs built without readers of these formats still detect the formats.
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

// Numbered reports whether the rows of a format can be found by their numbers. Such files are divided by rows.
func Numbered(format string) bool { return formatByName(format).numbered }

// Labelled reports whether each row of a format begins with a label, which is the target.
func Labelled(format string) bool { return formatByName(format).labelled }

// Columns returns the names of the columns of a file, or nil if the file has none. Errors are as in [Open].
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
			printable.Excerpt(opts.Target[0]),
		)
	case f.labelled && len(opts.Columns) > 0:
		msg = fmt.Sprintf("a %s file has no columns to select, such as %q", f.name, printable.Excerpt(opts.Columns[0]))
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
			printable.Excerpt(opts.Text.Marks[0]),
		)
	default:
		return nil
	}
	return &dataset.InputError{File: path, Msg: msg}
}

// labels returns the number of targets to read from labelled rows.
func labels(opts Options) int {
	if opts.Targets == 0 {
		return 0
	}
	return 1
}

// names returns the selected names, or nil for a file without names.
func (f format) names(path string, opts Options) (features, targets []string, err error) {
	if f.chosen == nil {
		return nil, nil, nil
	}
	return f.chosen(path, opts)
}

// targetCandidates returns the names of all columns, or of all arrays.
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
		printable.Excerpt(name),
		strings.Join(formatNames(), ", "),
	)
}
