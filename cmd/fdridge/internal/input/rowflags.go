package input

import (
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// RowFlags tell which rows to read.
type RowFlags struct {
	Data, Target, Weights cli.Single
	Targets               int // as file.Options.Targets
	Format                string
	delimiter, header     string
	textFlags
	columns    cli.List
	Rows       string
	Key        string // column whose texts name the rows; "": none. It is no feature
	transposed bool
	width      int              // of svmlight rows; 0: found by a pass
	Labels     *prepare.Lexicon // of the target, a column of class labels; nil: targets are numbers
	piping
}

// piping tells whether and how rows come through a pipe.
type piping struct {
	Unpiped string        // reason why the command accepts no pipe; "": it accepts one
	Pipe    *dataset.Pipe // nil: --data names files
}

func NewRowFlags() RowFlags {
	return RowFlags{
		Data:   cli.Single{Hint: "; several files are one list, F,F"},
		Target: cli.Single{Hint: "; several targets are one list, A,B"},
	}
}

// Others returns the flags of rows in other files of the same text format.
func (o *RowFlags) Others(files string) RowFlags {
	out := NewRowFlags()
	out.Data.Value, out.Unpiped = files, "the rows are read for each block of targets"
	out.Format, out.delimiter, out.header, out.transposed = o.Format, o.delimiter, o.header, o.transposed
	out.textFlags = o.textFlags
	return out
}

// RegisterText adds the flags that describe the format of the files.
func (o *RowFlags) RegisterText(f *pflag.FlagSet) {
	f.StringVar(&o.Format, "format", "auto", "format: "+strings.Join(file.Formats[1:], ", "))
	f.StringVar(&o.delimiter, "delimiter", "", "field delimiter of csv files, or tab (default: detected)")
	f.StringVar(&o.header, "header", "auto", "first line of csv files has names: auto, yes or no")
	cli.SetValues(f, "format", file.Formats...)
	cli.SetValues(f, "header", "auto", "yes", "no")
	o.textFlags.register(f)
}

// registerTransposed adds --transposed.
func (o *RowFlags) registerTransposed(f *pflag.FlagSet) {
	f.BoolVar(&o.transposed, "transposed", false, "the files have one feature a row and one sample a column")
}

// RegisterSamples adds the flags --transposed and --columns. With --transposed a column of the file is a sample, and
// --columns selects samples. Features are selected by the names in the model or sketch.
func (o *RowFlags) RegisterSamples(f *pflag.FlagSet) {
	o.registerTransposed(f)
	f.Var(&o.columns, "columns", "samples to use, with --transposed")
}

// CheckKey returns an error if the column --key cannot be read beside the features.
func (o *RowFlags) CheckKey() error {
	switch {
	case o.Key == "":
		return nil
	case o.Piped():
		return cli.BadInput(
			"--key: the column is read apart, and %s can be read only once; write the rows to a file",
			Name(o.Data.Value),
		)
	case o.transposed:
		return cli.BadInput("--key: with --transposed a sample has no column")
	}
	format, err := file.Format(o.DataFiles()[0], file.Options{Format: o.Format})
	if err == nil && file.Labelled(format) {
		err = cli.BadInput("--key: %s is %s, which has no columns", o.Data.Value, format)
	}
	return err
}

// CheckSamples returns an error for --columns without --transposed.
func (o *RowFlags) CheckSamples() error {
	if o.columns.Given && !o.transposed {
		return cli.BadInput("--columns: it selects samples and needs --transposed; features are found by their names")
	}
	return nil
}

// targetCount returns the number of targets in --target. A file, an array, or the label column of a labelled format
// counts as one target.
func (o *RowFlags) targetCount() int { return max(1, len(cli.SplitList(o.Target.Value))) }

// DataFiles returns the file names in --data, which commas separate. A text that is itself the name of a file is not
// split.
func (o *RowFlags) DataFiles() []string {
	if strings.Contains(o.Data.Value, ",") {
		if _, err := os.Stat(o.Data.Value); err == nil {
			return []string{o.Data.Value}
		}
	}
	return cli.SplitList(o.Data.Value)
}

// Check validates the flags.
func (o *RowFlags) Check() error {
	files := o.DataFiles()
	switch {
	case len(files) == 0:
		return cli.BadInput("--data: no file is named")
	case o.width < 0 || o.width > math.MaxInt32:
		return cli.BadInput("--n-features: %d, must be 1 to %d", o.width, math.MaxInt32)
	}
	if err := o.checkPipe(); err != nil {
		return err
	}
	if err := cli.OneOf("format", o.Format, file.Formats...); err != nil {
		return err
	}
	if _, err := o.csvOptions(); err != nil {
		return err
	}
	if o.Rows != "" {
		_, _, err := ParseRows(o.Rows)
		return err
	}
	return nil
}

// headers maps the values of --header to csv options. The default is auto.
var headers = map[string]csv.Header{"": csv.Auto, "auto": csv.Auto, "yes": csv.Present, "no": csv.Absent}

// csvOptions returns the options for csv files.
func (o *RowFlags) csvOptions() (csv.Options, error) {
	header, ok := headers[o.header]
	if !ok {
		return csv.Options{}, cli.BadInput("--header: %q must be one of auto, yes, no", excerpt.Of(o.header))
	}
	delimiter, err := parseDelimiter(o.delimiter)
	if err != nil {
		return csv.Options{}, err
	}
	out := csv.Options{Delimiter: delimiter, Header: header, Pipe: o.Pipe}
	return out, o.textFlags.apply(&out)
}

// Files returns all input files, without the names of arrays inside .npz archives and without standard input.
func (o *RowFlags) Files() []string {
	data := slices.DeleteFunc(o.DataFiles(), func(name string) bool { return name == "-" })
	return withoutArrays(slices.Concat(data, cli.SplitList(o.Target.Value), []string{o.Weights.Value}))
}

func withoutArrays(paths []string) []string {
	for i, path := range paths {
		paths[i], _ = file.SplitArray(path)
	}
	return paths
}

// parseDelimiter parses a delimiter: one character, or "tab". It returns 0 for an empty text.
func parseDelimiter(text string) (rune, error) {
	if text == "tab" || text == `\t` {
		return '\t', nil
	}
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case text == "":
		return 0, nil
	case size != len(text) || r == utf8.RuneError || strings.ContainsRune("\"\r\n.+-eE0123456789", r):
		return 0, cli.BadInput(
			"--delimiter: %q must be one character that is not part of a number, or tab",
			excerpt.Of(text),
		)
	}
	return r, nil
}

// ParseRows parses a range A:B of rows, counted from 1 and including row B. It returns the range lo ≤ row < hi,
// counted from 0.
func ParseRows(text string) (lo, hi int64, err error) {
	a, b, ok := strings.Cut(text, ":")
	lo, err1 := strconv.ParseInt(a, 10, 64)
	hi, err2 := strconv.ParseInt(b, 10, 64)
	if !ok || err1 != nil || err2 != nil || lo < 1 || hi < lo {
		return 0, 0, cli.BadInput("--rows: %q must be A:B with 1 <= A <= B", excerpt.Of(text))
	}
	return lo - 1, hi, nil
}

// checkPipe returns an error if --data contains a pipe and the command or a flag needs files.
func (o *RowFlags) checkPipe() error {
	files := o.DataFiles()
	i := slices.IndexFunc(files, isPipe)
	switch {
	case i < 0:
		return nil
	case o.Unpiped != "":
		return cli.BadInput("--data: %s can be read only once, and %s", Name(files[i]), o.Unpiped)
	case len(files) > 1:
		return cli.BadInput(
			"--data: %s cannot be combined with other files; let its writer send all rows",
			Name(files[i]),
		)
	case o.transposed:
		return cli.BadInput(
			"--transposed: it reads the rows several times, and %s can be read only once; write the rows to a file",
			Name(files[i]),
		)
	}
	return nil
}

// Piped reports whether the rows come from a pipe.
func (o *RowFlags) Piped() bool {
	files := o.DataFiles()
	return len(files) == 1 && isPipe(files[0])
}

// Listen opens the pipe if --data names one. If prompt is true, the pipe delivers each row as soon as it arrives.
func (o *RowFlags) Listen(cmd *cobra.Command, prompt bool) {
	if !o.Piped() {
		return
	}
	if o.Data.Value == "-" {
		o.Pipe = dataset.NewPipe(cmd.Context(), stdinName, cmd.InOrStdin())
	} else {
		o.Pipe = dataset.OpenPipe(cmd.Context(), o.Data.Value)
	}
	o.Pipe.Prompt = prompt
}
