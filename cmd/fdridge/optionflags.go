package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/fdridge/fdridge"
)

// optionFlags maps the fields of fdridge.Options to the flags that set them.
var optionFlags = map[string]string{
	"Gammas": "--gamma", "Candidates": "--gamma", "Select": "--select", "Folds": "--cv", "GammaTol": "--gamma-tol",
	"Penalty": "--penalty", "Bands": "--bands",
	"Method": "--method", "NoIntercept": "--intercept", "Tol": "--tol", "MaxPasses": "--max-passes",
	"Size": "--size", "Lanes": "--lanes", "KeepSummary": "--save-sketch",
	"Journal": "--checkpoint", "Reducer": "--mpi",
}

// nameOptions names the flags in an error about fields of fdridge.Options.
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
	return badInput("%s: %s", strings.Join(flags, ", "), e.Rule)
}
