package main

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/internal/excerpt"
	"github.com/fdridge/fdridge/ridge"
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

// check validates them for a method.
func (o *gammaFlags) check(method string) error {
	if !(o.gammaTol > 0) {
		return badInput("--gamma-tol: %v, must be positive", o.gammaTol)
	}
	list, auto := strings.CutPrefix(o.gamma.value, "auto:")
	if o.auto = auto || o.gamma.value == "auto"; o.gamma.value != "auto" {
		var err error
		if o.gammas, err = parseGammas(list, method == "exact" && !o.auto); err != nil {
			return err
		}
	}
	if o.selectBy == "" {
		return nil
	}
	by, err := ridge.ParseCriterion(o.selectBy)
	switch {
	case err != nil:
		return badInput("--select: %q is none of gcv, loo and cv", excerpt.Of(o.selectBy))
	case !o.auto:
		return badInput("--select: it chooses gamma, say --gamma auto")
	case by == ridge.ByCV && isDirect(method):
		return badInput("--select: %s chooses from sketches, which --method %s does without; it chooses by gcv or loo", o.selectBy, method)
	case by == ridge.ByLOO && method == "one-shot":
		return badInput("--select: loo takes a pass over the rows of its own, and --method one-shot makes none")
	}
	return nil
}

// criterion is that of --select.
func (o *gammaFlags) criterion() ridge.Criterion {
	by, _ := ridge.ParseCriterion(o.selectBy) // checked; GCV where it is not given
	return by
}
