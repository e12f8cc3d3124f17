// Package input opens the rows that the flags of a command describe. It selects files and columns, encodes missing
// values and categories, and scales the columns.
package input

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/dataset"
)

// Flags describe which rows to read and how to prepare them.
type Flags struct {
	RowFlags
	Part partFlag // only for commands with --part
	encodingFlags
	Standardize string
	PenaltyFlags
	features  string
	expansion dataset.Features // parsed from the text features; nil: none
}

func NewFlags() Flags {
	o := Flags{RowFlags: NewRowFlags(), Standardize: scaleNone}
	o.Targets = -1 // any number from 1
	return o
}

func (o *Flags) Register(f *pflag.FlagSet) {
	f.Var(&o.Data, "data", "csv, jsonl, svmlight, npy, npz, parquet, arrow; .gz, .zst; - for a pipe")
	o.RegisterText(f)
	f.Var(&o.columns, "columns", "features, names or numbers A,B,…; -A,-B,… leaves these out (default: all)")
	f.Var(&o.Target, "target", "target column: name, number, first or last; several: A,B; or a file")
	cli.SetValues(f, "target", "first", "last")
	f.Var(&o.Weights, "weights", "sample weights: a column, or a file")
	f.IntVar(&o.width, "n-features", 0, "number of features of svmlight rows (default: found by a pass)")
	f.StringVar(&o.Rows, "rows", "", "use only rows A:B, counted from 1")
	o.RowFlags.registerTransposed(f)
	f.StringVar(
		&o.Standardize,
		"standardize",
		scaleNone,
		"scale columns to mean 0 and deviation 1; numeric: not the levels",
	)
	f.Lookup("standardize").NoOptDefVal = ScaleAll
	o.encodingFlags.register(f)
	o.PenaltyFlags.Register(f)
	f.StringVar(&o.features, "features", "", "computed features: rff:D,gamma=G,seed=S (Fourier) or poly:K")
}

// JoinStandardize returns args with "--standardize numeric" changed to "--standardize=numeric", and likewise for true
// and false. The flag parser accepts the value of --standardize only after =.
func JoinStandardize(args []string) []string {
	args = slices.Clone(args)
	for i := len(args) - 1; i > 0; i-- {
		if args[i-1] == "--standardize" && slices.Contains([]string{ScaleAll, scaleNone, scaleNumeric}, args[i]) {
			args = slices.Replace(args, i-1, i+1, "--standardize="+args[i])
		}
	}
	return args
}

// Scales returns the flag that scales columns, such as "standardize", or "" if no such flag is given.
func (o *Flags) Scales() string {
	if o.Standardize == ScaleAll {
		return "standardize"
	}
	return ""
}

// Check validates the flags before any data are read.
func (o *Flags) Check() error {
	if err := cli.FirstError(o.PenaltyFlags.Check(o.features != ""), o.checkPrepare(o.Standardize)); err != nil {
		return err
	}
	if o.transposed && (o.oneHot.Given || o.dates.Given || o.prepare != "") {
		return cli.BadInput("--transposed: --onehot, --dates and --prepare need features as columns")
	}
	if o.Rules != nil && o.Piped() {
		return cli.BadInput(
			"--prepare: it looks at all rows first, and %s can be read once; write a plan by --prepare-out from a file, and use --prepare PLAN",
			Name(o.Data.Value),
		)
	}
	if err := cli.FirstError(o.RowFlags.Check(), o.Part.check(), o.checkDivisible()); err != nil {
		return err
	}
	if o.features != "" {
		var err error
		o.expansion, err = dataset.ParseFeatures(o.features)
		if err != nil {
			return cli.BadInput("--features: %w", err)
		}
	}
	return nil
}

func (o *Flags) Files() []string {
	files := append(o.RowFlags.Files(), o.PenaltyFlags.Files()...)
	if o.plan != nil {
		files = append(files, o.prepare)
	}
	return files
}

// Name returns the name of the rows in reports.
func (o *Flags) Name() string {
	if !o.Part.Given {
		return o.Data.Value
	}
	return fmt.Sprintf("%s, part %d of %d", o.Data.Value, o.Part.Share.Rank, o.Part.Share.Size)
}

// checkDivisible returns an error if --part is given and the rows cannot be divided into parts.
func (o *Flags) checkDivisible() error {
	switch {
	case !o.Part.Given:
		return nil
	case o.Piped():
		return cli.BadInput(
			"--part: %s is a pipe, which cannot be divided; let its writer send each task its own rows",
			Name(o.Data.Value),
		)
	case o.transposed:
		return cli.BadInput(
			"--part: with --transposed a row of the file has values of all samples; divide the files, or leave out --transposed",
		)
	}
	return nil
}

// partsOf returns the part of the data that --part selects, and the size and modification time of each file. Both
// results are nil without --part.
func (o *Flags) partsOf() ([]Parts, map[string]dataset.Stamp) {
	if !o.Part.Given {
		return nil, nil
	}
	files := batch.Files(o.RowFlags.Files())
	var contents []string // equal for copies of a file with another name or time
	for _, f := range files {
		if f.Digest != "" {
			contents = append(contents, fmt.Sprintf("%d %s", f.Stamp.Size, f.Digest))
		}
	}
	key := sha256.Sum256(fmt.Appendf(
		[]byte(o.textFlags.key()),
		"%q %q %q %d %q %q %q %q %q %d",
		contents,
		o.Target.Value,
		o.Weights.Value,
		o.targetCount(),
		o.Format,
		o.delimiter,
		o.header,
		o.columns.Value,
		o.Rows,
		o.width,
	))
	i := int64(o.Part.Share.Rank)
	return []Parts{{fmt.Sprintf("%x", key[:16]), int64(o.Part.Share.Size), []span{{i, i}}}}, StampsOf(files)
}
