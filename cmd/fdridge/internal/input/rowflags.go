package input

import (
	"context"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/table"
)

// RowFlags tell which rows to read.
type RowFlags struct {
	Data, Target, Weights cli.Single
	columns, marks        cli.List
	skipRows              string
	spec                  table.Spec    // the fields that flags set directly
	Unpiped               string        // reason why the command accepts no pipe; "": it accepts one
	Pipe                  *dataset.Pipe // nil: --data names files
	listed                listedFiles   // of --data
}

// A listedFiles holds a value of --data and the files that it names. Keeping the files avoids listing a folder
// again.
type listedFiles struct {
	value string
	files []string
}

func NewRowFlags() RowFlags {
	return RowFlags{
		Data:   cli.Single{Hint: "; several files are one list, F,F"},
		Target: cli.Single{Hint: "; several targets are one list, A,B"},
	}
}

// Others returns flags for the rows of other files. The flags of the text format are copied from o.
func (o *RowFlags) Others(files string) RowFlags {
	out := NewRowFlags()
	s := o.spec
	out.Data.Value = files
	out.Unpiped = "the rows are read for each block of targets"
	out.marks, out.skipRows = o.marks, o.skipRows
	out.spec = table.Spec{
		Format:     s.Format,
		Delimiter:  s.Delimiter,
		Header:     s.Header,
		Decimal:    s.Decimal,
		Comment:    s.Comment,
		Escape:     s.Escape,
		FirstIndex: s.FirstIndex,
		Transposed: s.Transposed,
	}
	return out
}

// RegisterText adds the flags that describe the format of the input files.
func (o *RowFlags) RegisterText(f *pflag.FlagSet) {
	s := &o.spec
	f.StringVar(&s.Format, "format", "auto", "format: "+strings.Join(file.Formats[1:], ", "))
	f.StringVar(&s.Delimiter, "delimiter", "", "field delimiter of csv files, or tab (default: detected)")
	f.StringVar(&s.Header, "header", "auto", "first line of csv files has names: auto, yes or no")
	cli.SetValues(f, "format", file.Formats...)
	cli.SetValues(f, "header", "auto", "yes", "no")
	f.StringVar(&s.Decimal, "decimal", "", "decimal mark of numbers in text: . or , (default: detected)")
	f.Var(&o.marks, "missing-marks", "further texts or numbers A,B that stand for a missing value")
	f.StringVar(&o.skipRows, "skip-rows", "", "skip the first N lines of csv files, or lines A:B before the rows")
	f.StringVar(&s.Comment, "comment", "", "skip lines of csv files that begin with this character")
	f.StringVar(&s.Escape, "escape", "", `how csv files escape a quote in a text: \ or " (default: detected)`)
	cli.SetValues(f, "escape", `\`, `"`)
	f.StringVar(&s.FirstIndex, "first-index", "auto", "smallest index of svmlight rows: auto, 0 or 1")
	cli.SetValues(f, "decimal", ".", ",")
	cli.SetValues(f, "first-index", "auto", "0", "1")
}

// RegisterRows adds --rows.
func (o *RowFlags) RegisterRows(f *pflag.FlagSet) {
	f.StringVar(&o.spec.Rows, "rows", "", "use only rows A:B, counted from 1")
}

// RegisterKey adds --key.
func (o *RowFlags) RegisterKey(f *pflag.FlagSet) {
	f.StringVar(&o.spec.Key, "key", "", "write this column of the data before each prediction")
}

// registerTransposed adds --transposed.
func (o *RowFlags) registerTransposed(f *pflag.FlagSet) {
	const help = "the files have one feature a row and one sample a column"
	f.BoolVar(&o.spec.Transposed, "transposed", false, help)
}

// RegisterSamples adds the flags --transposed and --columns. With --transposed a column of the file is a sample,
// and --columns selects samples. The features are found by the names that the model or sketch contains.
func (o *RowFlags) RegisterSamples(f *pflag.FlagSet) {
	o.registerTransposed(f)
	f.Var(&o.columns, "columns", "samples to use, with --transposed")
}

// Spec returns the rows that the flags describe.
func (o *RowFlags) Spec() table.Spec {
	s := o.spec
	s.Data = o.dataFiles()
	s.Target = cli.SplitList(o.Target.Value)
	s.Weights = o.Weights.Value
	s.Columns = o.columns.Items
	s.MissingMarks = o.marks.Items
	s.SkipRows = cli.SplitList(o.skipRows)
	return s
}

// dataFiles returns the names of the files in --data, which are separated by commas. If the whole value is the name
// of a file, it is not split. A folder that is a table is replaced by its files, see [file.Folder]. A pattern is
// replaced by the files that match it, see [file.Glob].
func (o *RowFlags) dataFiles() []string {
	if o.listed.files == nil || o.listed.value != o.Data.Value {
		o.listed = listedFiles{o.Data.Value, listFiles(o.Data.Value)}
	}
	return slices.Clone(o.listed.files)
}

func listFiles(data string) []string {
	var out []string
	for _, path := range splitPaths(data) {
		for _, path := range matches(path) {
			if parts := file.Folder(path); parts != nil {
				out = append(out, parts...)
			} else {
				out = append(out, path)
			}
		}
	}
	return out
}

// splitPaths splits a list of files at its commas. If the whole text is the name of a file, it is not split.
func splitPaths(data string) []string {
	if strings.Contains(data, ",") {
		if _, err := os.Stat(data); err == nil {
			return []string{data}
		}
	}
	return cli.SplitList(data)
}

// matches returns the files that match the pattern path. If path is no pattern, or if no file matches it, matches
// returns path itself. [RowFlags.Check] reports a pattern without files.
func matches(path string) []string {
	if !file.IsPattern(path) {
		return []string{path}
	}
	if files, err := file.Glob(path); err == nil && len(files) > 0 {
		return files
	}
	return []string{path}
}

// checkPatterns returns an error if --data contains a pattern that is invalid or that no file matches.
func (o *RowFlags) checkPatterns() error {
	for _, path := range o.dataFiles() {
		if !file.IsPattern(path) {
			continue
		}
		if _, err := file.Glob(path); err != nil {
			return cli.BadInput("--data: %q is not a valid pattern of file names: %w", path, err)
		}
		return cli.BadInput("--data: no file matches the pattern %q", path)
	}
	return nil
}

// Check validates the flags.
func (o *RowFlags) Check() error {
	s := o.Spec()
	return cli.FirstError(
		NameFields(s.Check()),
		o.checkUnpiped(),
		o.checkPatterns(),
		o.checkWeights(),
	)
}

// checkWeights returns an error if the value of --weights is empty, for example because a shell variable is empty.
func (o *RowFlags) checkWeights() error {
	if o.Weights.Given && o.Weights.Value == "" {
		return cli.BadInput("--weights: no column or file is named")
	}
	return nil
}

// CheckKey returns an error if the column that --key names cannot be read together with the features.
func (o *RowFlags) CheckKey() error {
	s := o.Spec()
	return NameFields(s.CheckKey())
}

// Key returns the column --key, or "".
func (o *RowFlags) Key() string { return o.spec.Key }

// CheckSamples returns an error for --columns without --transposed.
func (o *RowFlags) CheckSamples() error {
	if o.columns.Given && !o.spec.Transposed {
		return cli.BadInput("--columns: it selects samples and needs --transposed; features are found by their names")
	}
	return nil
}

// checkUnpiped returns an error if --data is a pipe although the command needs files.
func (o *RowFlags) checkUnpiped() error {
	if o.Unpiped == "" || !o.Piped() {
		return nil
	}
	return cli.BadInput("--data: %s can be read only once, and %s", Name(o.Data.Value), o.Unpiped)
}

// Files returns all input files.
func (o *RowFlags) Files() []string {
	s := o.Spec()
	return s.RowFiles()
}

// Piped reports whether the rows come from a pipe.
func (o *RowFlags) Piped() bool {
	s := o.Spec()
	return s.Piped()
}

// Listen opens the pipe if --data names a pipe. If prompt is true, the pipe delivers each row as soon as it
// arrives.
func (o *RowFlags) Listen(cmd *cobra.Command, prompt bool) {
	s := o.Spec()
	o.Pipe = s.Listen(cmd.Context(), cmd.InOrStdin())
	if o.Pipe != nil {
		o.Pipe.Prompt = prompt
	}
}

// env returns what [table.OpenLike] and [table.OpenFor] need besides the flags: the pipe and the array in memory.
func (o *RowFlags) env() (table.Env, error) {
	entries, err := lentArray()
	return table.Env{Pipe: o.Pipe, Entries: entries}, err
}

// OpenLike opens rows that fit an existing model or sketch, see [table.OpenLike]. If like.OwnTarget is true, the
// parameter target names the target columns.
func (o *RowFlags) OpenLike(ctx context.Context, like table.Like, target string) (*table.Rows, error) {
	env, err := o.env()
	if err != nil {
		return nil, err
	}
	s := o.Spec()
	if like.OwnTarget {
		s.Target = cli.SplitList(target)
	}
	rows, err := table.OpenLike(ctx, s, like, env)
	return rows, NameFields(err)
}

// OpenFor opens rows for the model m; see [table.OpenFor].
func (o *RowFlags) OpenFor(ctx context.Context, m *model.Model) (*table.Rows, error) {
	env, err := o.env()
	if err != nil {
		return nil, err
	}
	rows, err := table.OpenFor(ctx, m, o.Spec(), env)
	return rows, NameFields(err)
}

// Keys returns, for each of the rows, the text in the column that --key names.
func (o *RowFlags) Keys(ctx context.Context, rows *table.Rows) (iter.Seq2[string, error], error) {
	env, err := o.env()
	if err != nil {
		return nil, err
	}
	keys, err := rows.Keys(ctx, env)
	return keys, NameFields(err)
}

// PenaltyFlags are the flags that give single columns or groups of columns a penalty of their own.
type PenaltyFlags struct {
	Penalty     string // a file
	Bands       cli.List
	Unpenalized cli.List
	fits        bool // the command computes a fit, so columns may have no penalty
}

func (o *PenaltyFlags) Register(f *pflag.FlagSet) {
	f.StringVar(&o.Penalty, "penalty", "", "file with one number for each input column, which multiplies gamma")
	f.Var(&o.Bands, "bands", "penalty of groups of columns: 1-10=1,11-20=100; without =P: chosen")
}

// RegisterUnpenalized adds --unpenalized. Call it only for commands that compute a fit.
func (o *PenaltyFlags) RegisterUnpenalized(f *pflag.FlagSet) {
	o.fits = true
	f.Var(&o.Unpenalized, "unpenalized", "columns without penalty, fitted like the intercept: names, numbers, A-C")
}

func (o *PenaltyFlags) fill(s *table.Spec) {
	s.Penalty = o.Penalty
	s.Bands = o.Bands.Items
	s.Unpenalized = o.Unpenalized.Items
}

// Penalties returns a Spec with only the penalties.
func (o *PenaltyFlags) Penalties() (s table.Spec) {
	o.fill(&s)
	return s
}

// CheckGiven returns an error if --bands contains a group of columns without a penalty. The named command uses it
// because it cannot choose penalties.
func (o *PenaltyFlags) CheckGiven(command string) error {
	s := o.Penalties()
	if s.ChoosesPenalty() {
		return cli.BadInput("--bands: %s cannot choose penalties; use fit or solve with --gamma auto", command)
	}
	return nil
}
