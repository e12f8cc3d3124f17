package report

import "github.com/fdridge/fdridge/ridge"

// A standardErrorsRecord is the JSON form of the standard errors of one target, for coefficients in the units of the
// file.
type standardErrorsRecord struct {
	Sigma     ridge.Interval `json:"sigma"`
	Sampling  brackets       `json:"sampling"`
	Posterior brackets       `json:"posterior"`
}

// standardErrors returns the JSON form of the standard errors of each solution and target, or nil.
func (f *Fit) standardErrors() [][]standardErrorsRecord {
	var out [][]standardErrorsRecord
	for _, all := range f.StandardErrors {
		var one []standardErrorsRecord
		for _, e := range all {
			one = append(one, standardErrorsRecord{e.Sigma, e.Sampling, e.Posterior})
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

// addStandardErrors adds the cells of coefficient i to a row of the table, or the headings if i is negative.
func addStandardErrors(cells []string, e *ridge.StandardErrors, i int) []string {
	switch {
	case e == nil:
		return cells
	case i < 0:
		return append(cells, "s.e. (sampling)", "s.e. (posterior)")
	}
	return append(cells, formatFigure(e.Sampling[i]), formatFigure(e.Posterior[i]))
}
