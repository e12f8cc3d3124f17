package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/ridge/plan"
)

// FindRemedies sets f.Remedies to the flags that may help a fit that missed its tolerance. The most promising flag
// is first. See [fdridge.Result.Remedies].
func (f *Fit) FindRemedies() error {
	found, err := f.Found.Remedies()
	for _, r := range found {
		if word := f.flag(r); word != "" {
			f.Remedies = append(f.Remedies, word)
		}
	}
	return err
}

// flag returns the command-line flag that applies a remedy, such as "--max-passes 20". It returns "" for the remedy
// of scaling the columns if they are already scaled.
func (f *Fit) flag(r plan.Remedy) string {
	switch r.Kind {
	case plan.FactorDirectly:
		if f.isSolve() {
			return "fdridge fit --method exact"
		}
		return "--method exact"
	case plan.ScaleColumns:
		if f.isStandardized() {
			return ""
		}
		return fmt.Sprintf("--standardize (the sizes of the columns differ by a factor of %.2g)", r.Value)
	case plan.AllowPasses:
		return fmt.Sprintf("--max-passes %.0f", r.Value)
	case plan.EnlargeSketch:
		if f.isSolve() {
			return fmt.Sprintf("a sketch of %.0f rows (fdridge sketch --size %.0f)", r.Value, r.Value)
		}
		return fmt.Sprintf("--size %.0f", r.Value)
	case plan.ChangeToCG:
		return "--method cg"
	case plan.RaiseGamma:
		return fmt.Sprintf("--gamma %.2g or more", r.Value)
	case plan.RaiseTol:
		return fmt.Sprintf("--tol %.2g", r.Value)
	}
	return ""
}

// needsScaling reports whether the columns were not scaled although their sizes differ by more than a factor of 10.
func (f *Fit) needsScaling() bool {
	return !f.isStandardized() && f.Found.ColumnSpread > 10
}

// isStandardized reports whether the columns were scaled before the fit.
func (f *Fit) isStandardized() bool {
	prep := &f.Data.Preparation
	scaled := func(c prepare.Column) bool { return c.Scale != 0 }
	return prep.Scaling != nil ||
		prep.Encoding != nil && slices.ContainsFunc(prep.Encoding.Columns, scaled)
}

// isSolve reports whether the command is solve. This command reads a sketch from a file and cannot change it.
func (f *Fit) isSolve() bool {
	return strings.HasPrefix(f.Asked.Command, "fdridge solve")
}
