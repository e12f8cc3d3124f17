package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/table"
)

// coverageFlags holds the flag --coverage. Its value is the probability that an interval contains a new
// observation.
type coverageFlags struct {
	level float64
	given bool
}

func (o *coverageFlags) register(f *pflag.FlagSet) {
	f.Float64Var(
		&o.level, "coverage", 0, "intervals for new rows, with --holdout or --predict; P: probability",
	)
}

// check returns an error if --coverage is invalid or cannot be used with the other flags. s describes the rows of
// the fit. isPredicted tells whether --predict is given.
func (o *coverageFlags) check(f *pflag.FlagSet, s table.Spec, isPredicted bool) error {
	o.given = f.Changed("coverage")
	switch {
	case !o.given:
		return nil
	case !(o.level > 0 && o.level < 1):
		return cli.BadInput("--coverage: %v, must be between 0 and 1", o.level)
	case s.Classes:
		return cli.BadInput(
			"--coverage: an interval contains a number, and --classes predicts labels; leave out one of the two")
	case s.Holdout == 0 && !isPredicted:
		return cli.BadInput(
			"--coverage: it needs rows that take no part in the fit; add --holdout 0.2, or --predict FILE for jackknife+")
	}
	return nil
}

// calibrate computes, for each solution, the intervals for new observations from the residuals of the held-out
// rows. If --coverage is not given, it returns nil.
func (o *coverageFlags) calibrate(
	ctx context.Context,
	d *table.Table,
	solutions []*ridge.Solution,
	intercept bool,
) ([]*model.Coverage, error) {
	if !o.given {
		return nil, nil
	}
	t, _ := solutions[0].Dims()
	n, _, _ := d.Held.Dims()
	if n > 0 {
		need := 32 * float64(n) * float64(t) * float64(len(solutions))
		if err := cli.CheckMemory(need, "hold out fewer rows", "--coverage: the residuals of %d rows", n); err != nil {
			return nil, err
		}
	}
	found, err := d.Calibrate(ctx, solutions, intercept, o.level)
	if err != nil {
		return nil, predictionError(err)
	}
	out, err := found.Coverages()
	if e, ok := errors.AsType[*model.CoverageRowsError](err); ok {
		return nil, cli.BadInput(
			"--coverage: intervals of coverage %v need at least %d held-out rows, and %s held out; use a larger --holdout",
			e.Level, e.Needed, wereRows(e.Rows))
	}
	return out, err
}

// wereRows returns a text such as "1 row was" or "3 rows were".
func wereRows(n int64) string {
	if n == 1 {
		return "1 row was"
	}
	return fmt.Sprint(n, " rows were")
}

// coverageIntervals selects the intervals for new observations that the model has from held-out rows.
type coverageIntervals struct{}

func (coverageIntervals) isForNewRows() bool { return true }
func (coverageIntervals) file() string       { return "" }

func (coverageIntervals) of(m *model.Model) (model.Intervals, string, error) {
	remark := ""
	if c := m.Fits[0].Coverage; c != nil {
		remark = remarkCoverage(c)
	}
	return model.CoverageIntervals{}, remark, nil
}

func (coverageIntervals) explain(_ *model.Model, err error) error {
	if errors.Is(err, model.ErrUncovered) {
		return cli.BadInput(
			"--interval: the model has no intervals for new rows; fit again with --holdout 0.2 --coverage 0.9")
	}
	return err
}

// remarkCoverage returns a remark if, for some target, nothing is proved about the exact solution. The intervals of
// the model then need not contain the intervals of the exact solution. Otherwise it returns "".
func remarkCoverage(c *model.Coverage) string {
	for _, q := range c.ExactRadius {
		if math.IsInf(float64(q), 1) {
			return "intervals hold for the model's own coefficients: nothing is proved about the exact solution's predictions"
		}
	}
	return ""
}
