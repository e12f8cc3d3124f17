package report

import (
	"fmt"
	"strings"

	"github.com/fdridge/fdridge/ridge/plan"
)

// FindRemedies finds what would bring a fit that missed its tolerance further, in flags, the most
// certain first; see [fdridge.Result.Remedies].
func (f *Fit) FindRemedies() error {
	found, err := f.Found.Remedies()
	for _, r := range found {
		if word := f.flag(r); word != "" {
			f.Remedies = append(f.Remedies, word)
		}
	}
	return err
}

// flag is the flag that a remedy is asked for by, "" where it has been.
func (f *Fit) flag(r plan.Remedy) string {
	switch r.Kind {
	case plan.FactorDirectly:
		if f.solves() {
			return "fdridge fit --method exact"
		}
		return "--method exact"
	case plan.ScaleColumns:
		if f.Data.Preparation.Scaling != nil {
			return ""
		}
		return fmt.Sprintf("--standardize (a column is %.2g times as large as another)", r.Value)
	case plan.AllowPasses:
		return fmt.Sprintf("--max-passes %.0f", r.Value)
	case plan.EnlargeSketch:
		if f.solves() {
			return fmt.Sprintf("a sketch of %.0f rows, fdridge sketch --size %.0f", r.Value, r.Value)
		}
		return fmt.Sprintf("--size %.0f", r.Value)
	case plan.ChangeToCG:
		return "--method cg"
	case plan.RaiseGamma:
		return fmt.Sprintf("a --gamma of %.2g or more", r.Value)
	case plan.RaiseTol:
		return fmt.Sprintf("--tol %.2g", r.Value)
	}
	return ""
}

// far says that columns are of different size, and nothing has brought them to a like one.
func (f *Fit) far() bool {
	return f.Data.Preparation.Scaling == nil && f.Found.ColumnSpread > 10
}

// solves says that the command was given a sketch, and has no flags for another.
func (f *Fit) solves() bool { return strings.HasPrefix(f.Asked.Command, "fdridge solve") }
