// Package input has the command-line flags that describe the rows of a fit. The flags fill a [table.Spec], from
// which package table opens the rows.
package input

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/safefile"
	"github.com/fdridge/fdridge/table"
)

// Flags describe which rows to read and how to prepare them.
type Flags struct {
	RowFlags
	PenaltyFlags
	dates, oneHot cli.List
	missing       string
	prepareOut    string
}

func NewFlags() Flags { return Flags{RowFlags: NewRowFlags()} }

func (o *Flags) Register(f *pflag.FlagSet) {
	f.Var(&o.Data, "data", "csv, jsonl, svmlight, npy, npz, parquet, arrow; .gz, .zst; - for a pipe")
	o.RegisterText(f)
	f.Var(&o.columns, "columns", "features, names or numbers A,B,…; -A,-B,… leaves these out (default: all)")
	f.Var(&o.Target, "target", "target column: name, number, first or last; several: A,B; or a file")
	cli.SetValues(f, "target", "first", "last")
	f.Var(&o.Weights, "weights", "sample weights: a column, or a file")
	f.IntVar(&o.spec.NFeatures, "n-features", 0, "number of features of svmlight rows (default: found by a pass)")
	o.RegisterRows(f)
	o.RowFlags.registerTransposed(f)
	f.StringVar(
		&o.spec.Standardize,
		"standardize",
		table.ScaleNone,
		"scale columns to mean 0 and deviation 1; numeric: not the levels",
	)
	f.Lookup("standardize").NoOptDefVal = table.ScaleAll
	o.registerEncoding(f)
	o.PenaltyFlags.Register(f)
	f.StringVar(&o.spec.Features, "features", "", "computed features: rff:D,gamma=G,seed=S (Fourier) or poly:K")
}

// registerEncoding adds the flags that say how missing values, categories and dates become numbers.
func (o *Flags) registerEncoding(f *pflag.FlagSet) {
	s := &o.spec
	f.StringVar(&o.missing, "missing", "refuse", "missing values: a policy; or by column A=mean,B=drop")
	cli.SetValues(f, "missing", table.Policies...)
	f.StringVar(&s.Prepare, "prepare", "", "auto: decide what becomes of each column; or a plan of --prepare-out")
	f.StringVar(&o.prepareOut, "prepare-out", "", "write what was decided for each column, as JSON")
	f.Var(&o.dates, "dates", "columns of dates A,B: elapsed days, year, month, weekday, hour")
	f.BoolVar(&s.MissingIndicator, "missing-indicator", false, "add a 0/1 column where missing values are replaced")
	f.StringVar(&s.MissingTarget, "missing-target", "", "rows without a target or weight: drop or refuse")
	f.Float64Var(&s.MinShare, "min-share", 0, "group levels in less than this share of the rows as (other)")
	cli.SetValues(f, "prepare", "auto")
	cli.SetValues(f, "missing-target", "drop", "refuse")
	f.Var(&o.oneHot, "onehot", "0/1 columns for the levels of A,B, or of all columns with text")
}

// RegisterPart adds --part.
func (o *Flags) RegisterPart(f *pflag.FlagSet) {
	f.StringVar(&o.spec.Part, "part", "", "use only part I of N of the rows, with I from 0 to N-1")
}

// RegisterHoldout adds --holdout.
func (o *Flags) RegisterHoldout(f *pflag.FlagSet) {
	const help = "keep this fraction of the rows out of the fit and score the fit on them"
	f.Float64Var(&o.spec.Holdout, "holdout", 0, help)
}

// RegisterClasses adds --classes and --class-weight.
func (o *Flags) RegisterClasses(f *pflag.FlagSet) {
	f.BoolVar(&o.spec.Classes, "classes", false, "the target is a column of labels: predict classes")
	const help = "with --classes: balanced gives all classes the same weight"
	f.StringVar(&o.spec.ClassWeight, "class-weight", "", help)
	cli.SetValues(f, "class-weight", "balanced")
}

// JoinStandardize returns args with "--standardize numeric" changed to "--standardize=numeric". It does the same
// for the values true and false, because the flag parser accepts a value of --standardize only after "=".
func JoinStandardize(args []string) []string {
	args = slices.Clone(args)
	values := []string{table.ScaleAll, table.ScaleNone, table.ScaleNumeric}
	for i := len(args) - 1; i > 0; i-- {
		if args[i-1] == "--standardize" && slices.Contains(values, args[i]) {
			args = slices.Replace(args, i-1, i+1, "--standardize="+args[i])
		}
	}
	return args
}

// Spec returns the rows that the flags describe.
func (o *Flags) Spec() table.Spec {
	s := o.RowFlags.Spec()
	o.PenaltyFlags.fill(&s)
	s.Missing = cli.SplitList(o.missing)
	s.Dates = o.dates.Items
	s.OneHot = o.oneHot.Items
	return s
}

// Scales returns "standardize" if this flag scales all columns, otherwise "".
func (o *Flags) Scales() string {
	if o.spec.Standardize == table.ScaleAll {
		return "standardize"
	}
	return ""
}

// HoldsOut returns "holdout" if the flag --holdout is given, otherwise "".
func (o *Flags) HoldsOut() string {
	if o.spec.Holdout > 0 {
		return "holdout"
	}
	return ""
}

// Learns returns the flag that needs a pass over the rows before the fit, such as "onehot" or "missing mean". It
// returns "" if no such flag is given.
func (o *Flags) Learns() string {
	s := o.Spec()
	switch field := s.Learns(); field {
	case "Prepare", "Missing":
		return field.Flag() + " " + map[table.Field]string{"Prepare": s.Prepare, "Missing": o.missing}[field]
	default:
		return field.Flag()
	}
}

// Check validates the flags before any data are read.
func (o *Flags) Check() error {
	s := o.Spec()
	err := cli.FirstError(
		NameFields(s.Check()),
		o.checkUnpiped(),
		o.checkPatterns(),
		o.checkWeights(),
	)
	switch {
	case err != nil:
		return err
	case o.prepareOut != "" && s.Decision() == table.Undecided:
		return cli.BadInput(
			"--prepare-out: nothing is decided by --missing %s and --onehot alone; say --prepare auto",
			o.missing,
		)
	}
	return cli.CheckOutput("prepare-out", o.prepareOut)
}

// Name returns the name of the rows in reports.
func (o *Flags) Name() string {
	if o.spec.Part == "" {
		return o.Data.Value
	}
	share := o.spec.Share()
	return fmt.Sprintf("%s, part %d of %d", o.Data.Value, share.Rank, share.Size)
}

// Files returns all input files.
func (o *Flags) Files() []string {
	s := o.Spec()
	return s.Files()
}

// CheckKept returns an error if --cache-keep would store numbers that encode categories or class labels. A later
// run does not know which category or label each number stands for.
func (o *Flags) CheckKept(rows *CacheFlags) error {
	switch {
	case !rows.keep:
		return nil
	case o.oneHot.Given || o.Spec().Decision() != table.Undecided:
		return cli.BadInput(
			"--cache-keep: a later run does not know the codes that this run gives to the levels of --onehot and " +
				"--prepare; leave out one of the two",
		)
	case o.spec.Classes:
		return cli.BadInput(
			"--cache-keep: a later run does not know the codes that this run gives to the labels of --classes",
		)
	}
	return nil
}

// Open opens and prepares the rows that the flags describe. It fills in the fields of env for the backend, the
// pipe, the progress bar and --prepare-out.
func (o *Flags) Open(
	ctx context.Context,
	env table.Env,
	be engine.Backend,
	bar *cli.Progress,
) (*table.Table, error) {
	entries, err := lentArray()
	if err != nil {
		return nil, err
	}
	env.Backend = be
	env.Pipe = o.Pipe
	env.Entries = entries
	env.Progress = bar.Rows
	env.NeedsPenalty = !o.fits
	if o.prepareOut != "" {
		env.PlanOut = o.writePlan
	}
	t, err := table.Open(ctx, o.Spec(), env)
	return t, NameFields(err)
}

// writePlan writes how each column was encoded to the file that --prepare-out names.
func (o *Flags) writePlan(e *prepare.Encoding) error {
	err := safefile.Write(o.prepareOut, func(w io.Writer) error { return e.WritePlan(w) })
	if err != nil {
		return fmt.Errorf("--prepare-out: %w", err)
	}
	return nil
}
