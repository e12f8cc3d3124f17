package main

import (
	"math"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// rowFlags say which rows to read.
type rowFlags struct {
	data, target, weights once
	targets               int // as file.Options.Targets
	format                string
	delimiter, header     string
	columns               string
	rows                  string
	transposed            bool
	width                 int // of svmlight rows; 0: they are looked at
	piping
}

// piping is of rows that come through a pipe.
type piping struct {
	unpiped string        // why the command takes none; "": it does
	pipe    *dataset.Pipe // that --data names; nil: files
}

func newRowFlags() rowFlags {
	return rowFlags{
		data:   once{hint: "; several files are one list, F,F"},
		target: once{hint: "; several targets are one list, A,B"},
	}
}

// inputFlags say which rows to read and how to prepare them: for every command that makes
// something of data.
type inputFlags struct {
	rowFlags
	part partFlag // for commands that register it
	encodingFlags
	standardize bool
	penaltyFlags
	features  string
	expansion dataset.Features // that features names; nil: none
}

func newInputFlags() inputFlags {
	o := inputFlags{rowFlags: newRowFlags()}
	o.targets = -1 // one or more
	return o
}

func (o *inputFlags) register(f *pflag.FlagSet) {
	f.Var(&o.data, "data", "files of rows, one after the other: csv, svmlight, npy, npz, parquet or arrow (files and streams); plain, gzip or zstd; - or a FIFO, which can be read once, for all but npz and parquet; of a .npz archive the array X or x or the only one, or FILE.npz:NAME")
	f.StringVar(&o.format, "format", "auto", strings.Join(file.Formats, ", "))
	f.StringVar(&o.delimiter, "delimiter", "", "what separates the fields of csv files, one character or tab (default: told by the first line)")
	f.StringVar(&o.header, "header", "auto", "whether the first line of csv files names the columns: auto, yes or no")
	f.StringVar(&o.columns, "columns", "", "the features: a list of header names or 1-based numbers; with a - before each, those to leave out (default: all but target and weights)")
	f.Var(&o.target, "target", "target column: first, last, a 1-based number or a header name; or an array of the .npz archive, or a file of its own; a list for several (svmlight: the label, no flag)")
	f.Var(&o.weights, "weights", "weights of the rows, a column as for --target or a file of their own")
	f.IntVar(&o.width, "n-features", 0, "how many features svmlight rows have (default: told by a pass)")
	f.StringVar(&o.rows, "rows", "", "A:B: only rows A to B, from 1, inclusive")
	o.rowFlags.registerTransposed(f)
	f.BoolVar(&o.standardize, "standardize", false, "scale the input columns to mean 0 and deviation 1 first, sparse ones to deviation 1 alone, by a pass of its own; the model's weights are in the original units unless --features follows, its certificate is about those of the scaled columns")
	o.encodingFlags.register(f)
	o.penaltyFlags.register(f, "on top of --standardize")
	f.StringVar(&o.features, "features", "", "rff:D,gamma=G,seed=S: D random Fourier features of the kernel exp(-G‖x-y‖²); or poly:K: all monomials up to degree K")
}

// scales returns the name of the flag that scales columns, "" if it is not given.
func (o *inputFlags) scales() string {
	if o.standardize {
		return "standardize"
	}
	return ""
}

// registerTransposed adds --transposed.
func (o *rowFlags) registerTransposed(f *pflag.FlagSet) {
	f.BoolVar(&o.transposed, "transposed", false, "the files have a feature in each row and a sample in each column; targets and weights are files of their own, and --columns are samples")
}

// registerTurned adds --transposed, and --columns for it, to a command that finds features by their
// names else.
func (o *rowFlags) registerTurned(f *pflag.FlagSet) {
	o.registerTransposed(f)
	f.StringVar(&o.columns, "columns", "", "with --transposed, the samples, as for fit")
}

// checkTurned refuses --columns without --transposed.
func (o *rowFlags) checkTurned() error {
	if o.columns != "" && !o.transposed {
		return badInput("--columns: features are found by their names; it names samples, with --transposed")
	}
	return nil
}

// named is the number of targets that --target names: 1 for a label, a file or an array.
func (o *rowFlags) named() int { return max(1, len(splitList(o.target.value))) }

// check validates the flags before any data are read.
func (o *inputFlags) check() error {
	if err := firstError(o.penaltyFlags.check(o.features != ""), o.encodingFlags.check()); err != nil {
		return err
	}
	if o.transposed && o.cells() != nil {
		return badInput("--transposed: the features are rows of the file: --missing and --onehot are about columns")
	}
	if err := firstError(o.rowFlags.check(), o.part.check(), o.refuseBeside()); err != nil {
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

// dataFiles are the files of --data, a list; or one whose name has commas in it, where there is such
// a file.
func (o *rowFlags) dataFiles() []string {
	if strings.Contains(o.data.value, ",") {
		if _, err := os.Stat(o.data.value); err == nil {
			return []string{o.data.value}
		}
	}
	return splitList(o.data.value)
}

// check validates the flags that say what to read.
func (o *rowFlags) check() error {
	files := o.dataFiles()
	switch {
	case len(files) == 0:
		return badInput("--data: no file is named")
	case o.width < 0 || o.width > math.MaxInt32:
		return badInput("--n-features: %d, must be 1 to %d", o.width, math.MaxInt32)
	}
	if err := o.checkPipe(); err != nil {
		return err
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
func (o *rowFlags) csvOptions() (csv.Options, error) {
	header, ok := headers[o.header]
	if !ok {
		return csv.Options{}, badInput("--header: %q must be one of auto, yes, no", excerpt.Of(o.header))
	}
	delimiter, err := parseDelimiter(o.delimiter)
	return csv.Options{Delimiter: delimiter, Header: header, Pipe: o.pipe}, err
}

// files are those that may be read: without the names of arrays in them.
func (o *rowFlags) files() []string {
	data := slices.DeleteFunc(o.dataFiles(), func(name string) bool { return name == "-" })
	return withoutArrays(slices.Concat(data, splitList(o.target.value), []string{o.weights.value}))
}

func (o *inputFlags) files() []string {
	return append(o.rowFlags.files(), o.penaltyFlags.files()...)
}

func withoutArrays(paths []string) []string {
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
