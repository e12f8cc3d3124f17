package main

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/internal/excerpt"
	"github.com/fdridge/fdridge/ridge/choose"
)

// gammaFlags say which γ to solve for, or how one is chosen.
type gammaFlags struct {
	gamma    once
	selectBy string
	gammaTol float64

	gammas []float64
	auto   bool // γ is to be chosen: of gammas, or of a grid where these are none
}

func newGammaFlags() gammaFlags {
	return gammaFlags{gamma: once{hint: "; several are one list, G,G"}}
}

// register adds the flags; more is what --select may name besides.
func (o *gammaFlags) register(f *pflag.FlagSet, more string) {
	f.Var(&o.gamma, "gamma", "regularisation γ, the weight of ‖x‖² against the sum of squares (scikit-learn's alpha); a list for several; auto: the best of 50 or more, see --select and --gamma-tol; auto:G,G,… the best of these")
	f.StringVar(&o.selectBy, "select", "", "what --gamma auto chooses by: gcv (generalised cross-validation, the default), loo (leave-one-out, as scikit-learn's RidgeCV; takes a pass of its own)"+more)
	f.Float64Var(&o.gammaTol, "gamma-tol", 0.01, "how far above the least of the grid, relatively, the score of the gamma that --gamma auto chooses may be: where the sketch leaves open more, and passes refine, they are spent on the choice first; inf: none are")
}

// check validates them; zero says that γ may be 0 if it is given.
func (o *gammaFlags) check(zero bool) error {
	if !o.gamma.set {
		o.gamma.value = "auto"
	}
	if !(o.gammaTol > 0) {
		return badInput("--gamma-tol: %v, must be positive", o.gammaTol)
	}
	list, auto := strings.CutPrefix(o.gamma.value, "auto:")
	if o.auto = auto || o.gamma.value == "auto"; o.gamma.value != "auto" {
		var err error
		if o.gammas, err = parseGammas(list, zero && !o.auto); err != nil {
			return err
		}
	}
	if o.selectBy == "" {
		return nil
	}
	if _, err := choose.ParseCriterion(o.selectBy); err != nil {
		return badInput("--select: %q is none of gcv, loo and cv", excerpt.Of(o.selectBy))
	}
	if !o.auto {
		return badInput("--select: it chooses gamma, say --gamma auto")
	}
	return nil
}

// criterion is that of --select.
func (o *gammaFlags) criterion() choose.Criterion {
	by, _ := choose.ParseCriterion(o.selectBy) // checked; GCV where it is not given
	return by
}
