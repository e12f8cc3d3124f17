package input

import (
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/atomicfile"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// prepareFlags configure how columns are encoded as features. The encoding is read from a plan file, or found by a
// pass over all rows.
type prepareFlags struct {
	prepare, prepareOut string
	dates               cli.List
	indicators          bool
	missingTarget       string
	minShare            float64
	Rules               *prepare.Rules    // set by check; nil: no pass decides on the columns
	plan                *prepare.Encoding // set by check if --prepare names a plan file
}

func (o *prepareFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.prepare, "prepare", "", "auto: decide what becomes of each column; or a plan of --prepare-out")
	f.StringVar(&o.prepareOut, "prepare-out", "", "write what was decided for each column, as JSON")
	f.Var(&o.dates, "dates", "columns of dates A,B: elapsed days, year, month, weekday, hour")
	f.BoolVar(&o.indicators, "missing-indicator", false, "add a 0/1 column where missing values are replaced")
	f.StringVar(&o.missingTarget, "missing-target", "", "rows without a target or weight: drop or refuse")
	f.Float64Var(&o.minShare, "min-share", 0, "group levels in less than this share of the rows as (other)")
	cli.SetValues(f, "prepare", "auto")
	cli.SetValues(f, "missing-target", "drop", "refuse")
}

// fillings maps the values of --missing to the constants of package prepare.
var fillings = map[string]prepare.Missing{
	"refuse": prepare.RefuseMissing, "drop": prepare.MissingDrop, "mean": prepare.MissingMean,
	"median": prepare.MissingMedian, "most-frequent": prepare.MissingMode, "constant": prepare.MissingConstant,
}

// parseFilling parses how to treat missing values: a name in fillings, or constant:VALUE.
func parseFilling(text string) (f prepare.Filling, ok bool) {
	name, value, given := strings.Cut(text, ":")
	f.Missing, ok = fillings[name]
	f.Constant = value
	if f.Missing == prepare.MissingConstant && !given {
		f.Constant = "0"
	}
	return f, ok && (!given || f.Missing == prepare.MissingConstant)
}

// parseMissing parses --missing, such as mean,a=median,b=drop. all is the policy for all columns without a policy of
// their own. byColumn has the policies of single columns.
func parseMissing(text string) (all prepare.Filling, byColumn map[string]prepare.Filling, err error) {
	byColumn = map[string]prepare.Filling{}
	for i, item := range cli.SplitList(text) {
		f, ok := parseFilling(item)
		if ok && i == 0 {
			all = f
			continue
		}
		at := strings.LastIndexByte(item, '=')
		if at > 0 {
			f, ok = parseFilling(item[at+1:])
		}
		if at <= 0 || !ok {
			return all, nil, cli.BadInput(
				"--missing: %q must be one of %s, or COLUMN=POLICY",
				excerpt.Of(item),
				strings.Join(missingPolicies, ", "),
			)
		}
		byColumn[item[:at]] = f
	}
	return all, byColumn, nil
}

// allText is the value of --onehot that selects all columns with text.
const allText = "text"

// writePlan writes the encoding of each column to the file that --prepare-out names.
func (o *prepareFlags) writePlan(e *report.Encoded) error {
	if o.prepareOut == "" {
		return nil
	}
	return atomicfile.Write(o.prepareOut, func(w io.Writer) error { return e.Encoding.WritePlan(w) })
}

// Values of --standardize.
const (
	scaleNone    = "false"
	ScaleAll     = "true"
	scaleNumeric = "numeric"
)
