package report

import (
	"fmt"
	"io"

	"github.com/fdridge/fdridge/ridge"
)

// A standardErrorsRecord is the JSON form of the standard errors of the coefficients for one target. The
// coefficients are in the units of the file.
type standardErrorsRecord struct {
	Sigma     ridge.Interval `json:"sigma"`
	Sampling  brackets       `json:"sampling"`
	Posterior brackets       `json:"posterior"`
	// of the intercept; nil without one
	InterceptSampling  *ridge.Interval `json:"intercept_sampling,omitempty"`
	InterceptPosterior *ridge.Interval `json:"intercept_posterior,omitempty"`
}

// standardErrors returns the JSON form of the standard errors, for each solution and target. It returns nil if
// there are no standard errors.
func (f *Fit) standardErrors() [][]standardErrorsRecord {
	var out [][]standardErrorsRecord
	for _, all := range f.StandardErrors {
		var one []standardErrorsRecord
		for _, e := range all {
			record := standardErrorsRecord{Sigma: e.Sigma, Sampling: e.Sampling, Posterior: e.Posterior}
			if e.Intercept != nil {
				record.InterceptSampling = &e.Intercept.Sampling
				record.InterceptPosterior = &e.Intercept.Posterior
			}
			one = append(one, record)
		}
		out = append(out, one)
	}
	return out
}

// errorsOf returns the standard errors for target j of solution s. It returns nil if there are none.
func (f *Fit) errorsOf(s *ridge.Solution, j int) *ridge.StandardErrors {
	for i, of := range f.Found.Solutions {
		if of == s && i < len(f.StandardErrors) {
			return &f.StandardErrors[i][j]
		}
	}
	return nil
}

// Values instead of the number of a coefficient.
const (
	headings    = -1
	ofIntercept = -2
)

// addStandardErrors returns the cells of a table row with the standard errors of coefficient i appended. If i is
// the constant headings or ofIntercept, it appends the headings or the standard errors of the intercept.
func addStandardErrors(cells []string, e *ridge.StandardErrors, i int) []string {
	switch {
	case e == nil:
		return cells
	case i == headings:
		return append(cells, "s.e. (sampling)", "s.e. (posterior)")
	case i == ofIntercept && e.Intercept == nil:
		return append(cells, "", "")
	case i == ofIntercept:
		return append(
			cells,
			formatFigure(e.Intercept.Sampling),
			formatFigure(e.Intercept.Posterior),
		)
	}
	return append(cells, formatFigure(e.Sampling[i]), formatFigure(e.Posterior[i]))
}

// writeLargest writes tables of the largest coefficients with their standard errors. There is a table for each pair
// of a penalty γ and a target, at most mostTables tables. The last line says where the other standard errors are.
func (f *Fit) writeLargest(w io.Writer) {
	targets, dim := f.Found.Solutions[0].Dims()
	pairs := len(f.Found.Solutions) * targets
	for i := range min(pairs, mostTables) {
		fmt.Fprintln(w)
		f.coefficientsTable(f.Found.Solutions[i/targets], i%targets, false).write(w)
	}
	text := "--json has the standard errors of all coefficients."
	if dim > mostPrinted {
		scaled := ""
		if f.Data.Preparation.Reversible() != nil {
			scaled = " of the scaled columns"
		}
		text = fmt.Sprintf("These are the %d largest of %d coefficients%s; ", mostPrinted, dim, scaled) + text
	}
	if pairs > mostTables {
		more := pairs - mostTables
		text = fmt.Sprintf("%d more %s not shown. ", more, plural(more, "table is", "tables are")) + text
	}
	fmt.Fprintln(w, "\n"+wrapText(text))
}
