package report

import (
	"fmt"
	"io"

	"github.com/fdridge/fdridge/ridge"
)

// A standardErrorsRecord is the JSON form of the standard errors of one target, for coefficients in the units of the
// file.
type standardErrorsRecord struct {
	Sigma     ridge.Interval `json:"sigma"`
	Sampling  brackets       `json:"sampling"`
	Posterior brackets       `json:"posterior"`
	// of the intercept; nil without one
	InterceptSampling  *ridge.Interval `json:"intercept_sampling,omitempty"`
	InterceptPosterior *ridge.Interval `json:"intercept_posterior,omitempty"`
}

// standardErrors returns the JSON form of the standard errors of each solution and target, or nil.
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

// errorsOf returns the standard errors of target j of solution s, or nil.
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

// addStandardErrors adds the cells of coefficient i to a row of the table. i may also be headings or ofIntercept.
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

// writeLargest writes tables of the largest coefficients with their standard errors, for the first mostTables pairs of
// γ and target. A line says where the others are.
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
