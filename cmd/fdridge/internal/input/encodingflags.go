package input

import (
	"os"
	"slices"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// encodingFlags configure how missing values and categorical columns become numbers.
type encodingFlags struct {
	Missing string
	oneHot  cli.List
	prepareFlags
}

// missingPolicies are the values of --missing.
var missingPolicies = []string{"refuse", "mean", "median", "most-frequent", "constant", "drop"}

// plainPolicies are the values of --missing that need no pass to examine the columns first.
var plainPolicies = []string{"refuse", "mean", "drop"}

func (o *encodingFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.Missing, "missing", "refuse", "missing values: a policy; or by column A=mean,B=drop")
	cli.SetValues(f, "missing", missingPolicies...)
	o.prepareFlags.register(f)
	f.Var(&o.oneHot, "onehot", "0/1 columns for the levels of A,B, or of all columns with text")
}

// policy returns --missing if its value is mean or drop, otherwise RefuseMissing.
func (o *encodingFlags) policy() prepare.Missing {
	if o.Missing == "mean" || o.Missing == "drop" {
		return prepare.Missing(o.Missing)
	}
	return prepare.RefuseMissing
}

// cells returns the flags' settings for cells that are not numbers, or nil if there are none.
func (o *encodingFlags) cells() *prepare.Cells {
	if o.Rules != nil || o.plan != nil {
		return nil // a pass over the rows or the plan file determines the settings
	}
	if o.policy() == prepare.RefuseMissing && !o.oneHot.Given {
		return nil // all cells must be numbers
	}
	return &prepare.Cells{Missing: o.policy(), OneHot: o.oneHot.Items}
}

// Learns returns the name of a flag that needs a pass over the rows before the fit, such as "onehot". It returns ""
// if no such flag is given.
func (o *encodingFlags) Learns() string {
	switch {
	case o.prepare == "auto":
		return "prepare auto"
	case o.plan != nil:
		return ""
	case o.oneHot.Given:
		return "onehot"
	case o.Missing == "mean":
		return "missing mean"
	}
	return ""
}

// CheckKept returns an error if --cache-keep would store the codes of categorical levels. A later run could not
// interpret these codes.
func (o *encodingFlags) CheckKept(rows *CacheFlags) error {
	if rows.keep && (o.oneHot.Given || o.Rules != nil || o.plan != nil) {
		return cli.BadInput(
			"--cache-keep: a later run does not know the codes that this run gives to the levels of --onehot and --prepare; leave out one of the two",
		)
	}
	return nil
}

// checkPrepare validates --prepare and the flags that encode columns. It sets o.plan if --prepare names a plan file,
// and o.Rules if a pass over the rows has to decide how to encode each column.
func (o *encodingFlags) checkPrepare(standardize string) error {
	if err := cli.FirstError(cli.OneOf("missing-target", o.missingTarget, "", "drop", "refuse"), cli.OneOf("standardize", standardize, ScaleAll, scaleNone, scaleNumeric)); err != nil {
		return err
	}
	if !(o.minShare >= 0 && o.minShare < 1) {
		return cli.BadInput("--min-share: %v, must be at least 0 and below 1", o.minShare)
	}
	all, of, err := parseMissing(o.Missing)
	if err != nil {
		return err
	}
	text := slices.Contains(o.oneHot.Items, allText)
	byHand := o.dates.Given || o.indicators || o.missingTarget == "drop" || text || standardize == scaleNumeric ||
		len(of) > 0 ||
		o.oneHot.Given && o.minShare > 0 ||
		!slices.Contains(plainPolicies, o.Missing)
	if o.prepare != "" {
		for _, flag := range []struct {
			name  string
			given bool
		}{{"onehot", o.oneHot.Given}, {"missing", o.Missing != "refuse"}, {"dates", o.dates.Given}, {"missing-indicator", o.indicators}, {"missing-target", o.missingTarget != ""}, {"standardize", standardize != scaleNone}, {"min-share", o.minShare > 0 && o.prepare != "auto"}} {
			if flag.given {
				return cli.BadInput(
					"--%s: --prepare decides it for each column; leave it out, or edit a plan that --prepare-out wrote",
					flag.name,
				)
			}
		}
	}
	switch {
	case o.prepare == "auto":
		o.Rules = &prepare.Rules{Auto: true, MinShare: o.minShare}
	case o.prepare != "":
		f, err := os.Open(o.prepare)
		if err != nil {
			return cli.BadInput("--prepare: %w", err)
		}
		defer f.Close() // nothing was written, so Close cannot lose data
		o.plan, err = prepare.ReadPlan(f)
		if err != nil {
			return cli.BadInput("--prepare: %s: %w", o.prepare, err)
		}
	case byHand && standardize == ScaleAll:
		return cli.BadInput(
			"--standardize: with --missing by column, --dates, --onehot text and the like say --standardize numeric, which leaves columns of levels as they are",
		)
	case byHand:
		o.Rules = &prepare.Rules{
			OneHotText: text, Dates: o.dates.Items, Missing: all, MissingOf: of, Indicators: o.indicators,
			Standardize: standardize == scaleNumeric, MinShare: o.minShare,
		}
		if o.missingTarget == "drop" || o.missingTarget == "" && all.Missing == prepare.MissingDrop {
			o.Rules.Targets = prepare.MissingDrop
		}
	case o.minShare > 0:
		return cli.BadInput("--min-share: it groups levels, and there is no --onehot")
	}
	if o.prepareOut != "" && o.Rules == nil && o.plan == nil {
		return cli.BadInput(
			"--prepare-out: nothing is decided by --missing %s and --onehot alone; say --prepare auto",
			o.Missing,
		)
	}
	return cli.CheckOutput("prepare-out", o.prepareOut)
}
