package input

import (
	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/dataset"
)

// HoldoutFlags hold --holdout, the fraction of rows that are kept out of the fit and used to score it.
type HoldoutFlags struct{ Share float64 }

func (o *HoldoutFlags) Register(f *pflag.FlagSet) {
	f.Float64Var(&o.Share, "holdout", 0, "keep this fraction of the rows out of the fit and score the fit on them")
}

func (o *HoldoutFlags) Holdout() dataset.Holdout { return dataset.Holdout{Share: o.Share} }

func (o *HoldoutFlags) Check() error {
	if o.Holdout().Check() != nil {
		return cli.BadInput("--holdout: %v, must be at least 0 and below 1", o.Share)
	}
	return nil
}

// Flag returns "holdout" if the flag is given, otherwise "".
func (o *HoldoutFlags) Flag() string {
	if o.Share > 0 {
		return "holdout"
	}
	return ""
}
