package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge/choose"
)

// gammaFlags are the flags for the ridge penalty γ: its values, or the criterion that chooses one.
type gammaFlags struct {
	gamma    cli.Single
	selectBy string
	gammaTol float64
	each     bool

	gammas []float64
	auto   bool // choose γ among gammas, or on a grid without gammas
}

// criteriaFor returns the names of the criteria that can choose the penalty. Criteria that need class labels or
// folds of the rows are included only if hasRows is true.
func criteriaFor(hasRows bool) []string {
	var out []string
	for _, by := range choose.Criteria() {
		if needs := by.Needs(); hasRows || !needs.Folds && !needs.Labels {
			out = append(out, by.String())
		}
	}
	return out
}

// register adds the flags to f. criteria are the values that --select accepts.
func (o *gammaFlags) register(f *pflag.FlagSet, criteria []string) {
	f.Var(&o.gamma, "gamma", "regularisation, alpha in sklearn: G, list, auto, auto:LIST (default auto)")
	f.StringVar(&o.selectBy, "select", "", strings.Join(criteria, ", ")+" (default loo or gcv)")
	cli.SetValues(f, "select", criteria...)
	cli.SetValues(f, "gamma", "auto")
	f.BoolVar(&o.each, "per-target", false, "choose a gamma for each target, or take one of --gamma for each")
	f.Float64Var(&o.gammaTol, "gamma-tol", 0.01, "accept a score within this fraction of the best")
}

// check validates the flags. zero allows γ = 0.
func (o *gammaFlags) check(zero bool) error {
	if !o.gamma.Given {
		o.gamma.Value = "auto"
	}
	if !(o.gammaTol > 0) {
		return cli.BadInput("--gamma-tol: %v, must be positive", o.gammaTol)
	}
	list, auto := strings.CutPrefix(o.gamma.Value, "auto:")
	o.auto = auto || o.gamma.Value == "auto"
	if o.gamma.Value != "auto" {
		var err error
		o.gammas, err = cli.ParseGammas(list, zero && !o.auto)
		if o.auto {
			slices.Sort(o.gammas) // reports name the ends of the list
		}
		if err != nil {
			return err
		}
	}
	if o.selectBy == "" {
		return nil
	}
	if _, err := choose.ParseCriterion(o.selectBy); err != nil {
		return cli.BadInput("--select: %q must be one of %s", errtext.Excerpt(o.selectBy), choose.Names(", "))
	}
	return nil
}

// criterion returns the criterion of --select.
func (o *gammaFlags) criterion() choose.Criterion {
	by, _ := choose.ParseCriterion(o.selectBy) // checked; Auto without --select
	return by
}
