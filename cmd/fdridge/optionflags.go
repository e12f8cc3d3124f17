package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
)

// optionFlags maps the fields of fdridge.Options to the flags that set them.
var optionFlags = map[string]string{
	"Gammas": "--gamma", "Candidates": "--gamma", "Select": "--select", "Folds": "--cv", "GammaTol": "--gamma-tol",
	"Penalty": "--penalty", "Unpenalized": "--unpenalized", "Bands": "--bands",
	"PerTarget": "--per-target", "Block": "--predict", "Classes": "--classes",
	"Method": "--method", "NoIntercept": "--intercept", "Tol": "--tol", "MaxPasses": "--max-passes",
	"Size": "--size", "Lanes": "--lanes", "KeepSummary": "--save-sketch",
	"Journal": "--checkpoint", "Reducer": "--mpi",
}

// freeOptions are the fields of fdridge.Options whose flags may change when a run resumes from a checkpoint: limits and
// outputs. A flag that sets neither a field of fdridge.Options nor a field of table.Spec may change, too.
var freeOptions = []string{"Tol", "MaxPasses", "KeepSummary", "Journal"}

// nameOptions replaces the names of fields of fdridge.Options in an error by the names of flags.
func nameOptions(err error) error {
	e, ok := errors.AsType[*fdridge.OptionError](err)
	if !ok {
		return err
	}
	var flags []string
	for _, field := range e.Fields {
		if flag := optionFlags[field]; flag != "" && !slices.Contains(flags, flag) {
			flags = append(flags, flag)
		}
	}
	return cli.BadInput("%s: %s", strings.Join(flags, ", "), e.Rule)
}
