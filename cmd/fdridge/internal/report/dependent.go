package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/ridge"
)

// mostDependences limits how many combinations of columns are printed, and mostTerms limits the terms of each.
const (
	mostDependences = 5
	mostTerms       = 6
)

// dependentFit returns the first minimum-norm solution, or nil if there is none.
func (f *Fit) dependentFit() *ridge.Solution {
	for _, s := range f.Found.Solutions {
		if s.Status == ridge.MinimumNorm {
			return s
		}
	}
	return nil
}

// underflows reports whether the values of a column are so small that their products underflow. The rank is then
// not known.
func underflows(s *ridge.Solution) bool {
	return slices.ContainsFunc(s.Dependent, func(c ridge.Dependence) bool {
		return c.Underflow
	})
}

// describeDependent states why the solution without a penalty (γ = 0) is not unique. It also states what is known
// of the minimum-norm solution s.
func (f *Fit) describeDependent(s *ridge.Solution) string {
	d := s.Rank + len(s.Dependent)
	if len(s.Dependent) == 0 {
		d = len(s.Targets[0].Coef)
	}
	if underflows(s) {
		return fmt.Sprintf(
			"at gamma = 0 the coefficients are not known: %s. Multiply such columns by a power of 10, so that their values "+
				"are near 1. These coefficients use the other columns, and have no error bound. R² is proved for them.",
			f.describeDependences(s),
		)
	}
	return fmt.Sprintf("at gamma = 0 the solution is not unique: %s. This is the solution of smallest norm. "+
		"Its rank, %d of %d, is a decision within round-off, so the coefficients have no error bound. "+
		"R² is proved for these coefficients.", f.describeDependences(s), s.Rank, d)
}

// describeDependences states in one line which columns are combinations of other columns.
func (f *Fit) describeDependences(s *ridge.Solution) string {
	rows := s.Rows
	d := len(s.Targets[0].Coef)
	if len(s.Dependent) == 0 { // by AAᵀ, which gives no combinations of columns
		text := fmt.Sprintf("%d rows are too few for the coefficients of %d columns", rows, d)
		if f.Asked.Intercept {
			rows--
		}
		if int64(s.Rank) < rows {
			text += fmt.Sprintf(", and they have the rank %d", s.Rank)
		}
		return text
	}
	if f.Asked.Intercept {
		rows--
	}
	if rows < int64(s.Rank+len(s.Dependent)) && int64(s.Rank) == rows {
		return fmt.Sprintf("%d rows are too few for the coefficients of %d columns", s.Rows, s.Rank+len(s.Dependent))
	}
	var parts []string
	for i, c := range s.Dependent {
		if i == mostDependences {
			parts = append(parts, fmt.Sprintf("%d more columns depend on others", len(s.Dependent)-i))
			break
		}
		parts = append(parts, f.describeDependence(c))
	}
	return strings.Join(parts, "; ")
}

// describeDependence writes a column as a combination of other columns, such as "c equals 2·a + b". It uses the
// names and units of the columns in the file.
func (f *Fit) describeDependence(c ridge.Dependence) string {
	names := f.Data.Preparation.Terms()
	column := featureName(names, c.Column)
	switch {
	case c.Underflow:
		return "the products of " + column + " underflow, because its values are too small"
	case len(c.On) == 0 && f.Asked.Intercept:
		return column + " is constant"
	case len(c.On) == 0:
		return column + " is zero"
	}
	text := column + " equals "
	for i, j := range c.On {
		factor := c.Factors[i] * f.scale(c.Column) / f.scale(j)
		switch {
		case i == mostTerms:
			return text + fmt.Sprintf(" + %d more terms", len(c.On)-i)
		case factor < 0 && i > 0:
			text += " − "
		case factor < 0:
			text += "−"
		case i > 0:
			text += " + "
		}
		if factor < 0 {
			factor = -factor
		}
		if digits := chart.Digits(factor, 6); digits != "1" {
			text += digits + "·"
		}
		text += featureName(names, j)
	}
	if f.Asked.Intercept {
		text += " + a constant"
	}
	return text
}
