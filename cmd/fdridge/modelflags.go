package main

import (
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/model"
)

// modelFlags are the flags of a command that applies a model to rows and writes a number or numbers for each row.
type modelFlags struct {
	model          string
	gamma          cli.Single
	out, outFormat string
	json           bool
	formats        []string // values of --out-format
}

// registerModel adds the flags that choose the model.
func (o *modelFlags) registerModel(f *pflag.FlagSet) {
	f.StringVar(&o.model, "model", "", "model that fit --out or solve --out wrote")
	f.Var(&o.gamma, "gamma", "use the fit at gamma G, if the model has several")
}

// registerOut adds --out, --out-format and --json to f. outHelp, formatHelp and jsonHelp are their help texts.
func (o *modelFlags) registerOut(f *pflag.FlagSet, outHelp, formatHelp, jsonHelp string) {
	f.StringVar(&o.out, "out", "", outHelp)
	f.StringVar(&o.outFormat, "out-format", "auto", formatHelp)
	cli.SetValues(f, "out-format", o.formats...)
	f.BoolVar(&o.json, "json", false, jsonHelp)
}

// form returns the value of --out-format unless it is "auto". If it is, form returns the format that the suffix of
// --out stands for: csv, arrow, arrows, npy, or "" for any other suffix.
func (o *modelFlags) form() (string, error) {
	if err := cli.OneOf("out-format", o.outFormat, o.formats...); err != nil {
		return "", err
	}
	if o.outFormat != "auto" {
		return o.outFormat, nil
	}
	switch suffix := filepath.Ext(o.out); suffix {
	case ".csv", ".arrow", ".arrows", ".npy":
		return suffix[1:], nil
	case ".feather":
		return "arrow", nil
	}
	return "", nil
}

// load reads the model that --model names. It returns the model with only the fit that --gamma selects.
func (o *modelFlags) load() (*model.Model, error) {
	m, err := readModel("--model: ", o.model)
	if err != nil {
		return nil, err
	}
	return chooseFit(m, o.gamma)
}
