package report

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// A weightsSection has tables of the largest coefficients, one for each target and each penalty γ.
type weightsSection struct {
	Tables []weightsTable
	More   int // number of further fits, which have no table

	Scaled   string // note on the scaling of the columns; "": none
	Units    string // note on the units of unscaled columns
	Features string // note on computed features; "": none
}

// A weightsTable holds the largest coefficients for one target and one penalty γ.
type weightsTable struct {
	*table
	Title  string
	Open   bool
	Others int
}

// Limits on the tables of coefficients.
const (
	mostWeights = 20
	mostTables  = 12
)

// weights returns the section of the HTML page about the coefficients. If the columns were scaled, each table is
// sorted by the magnitude of the coefficients of the scaled columns.
func (f *Fit) weights() weightsSection {
	var out weightsSection
	prep := &f.Data.Preparation
	if prep.Scaling != nil {
		out.Scaled = "The table is ordered by the coefficients of the scaled columns, which can be compared."
	}
	if prep.Scaling == nil && prep.Expansion() == nil {
		out.Units = "The order depends on the units of the columns; with --standardize it does not."
	}
	if features := prep.Expansion(); features != nil {
		out.Features = fmt.Sprintf(
			"The coefficients belong to the features that %s computes from the %d columns.",
			features,
			prep.Inputs,
		)
	}
	for _, s := range f.Found.Solutions {
		for j := range s.Targets {
			if len(out.Tables) == mostTables {
				out.More++
				continue
			}
			t := weightsTable{
				f.coefficientsTable(s, j, true),
				f.nameOf(s, j),
				len(out.Tables) == 0,
				max(0, len(s.Targets[j].Coef)-mostWeights),
			}
			if b, e, ok := f.intercept(&s.Targets[j]); ok {
				value, within := formatAround(b, e)
				t.Title += ", intercept " + value
				if within != noBound {
					t.Title += " ± " + within
				}
			}
			out.Tables = append(out.Tables, t)
		}
	}
	return out
}

// scale returns the number by which column i was divided. It returns 1 if the columns were not scaled, or if the
// coefficients belong to computed features instead of columns.
func (f *Fit) scale(i int) float64 {
	if scaling := f.Data.Preparation.Reversible(); scaling != nil {
		return scaling.Scale[i]
	}
	return 1
}

// intercept returns the intercept b for target o in the units of the file, and a bound on the error of b. The
// result ok is false if the fit has no intercept.
func (f *Fit) intercept(o *ridge.Target) (b, bound float64, ok bool) {
	_, b = f.Data.Preparation.Unscale(o.Coef, o.Intercept)
	return b, f.Data.Preparation.InterceptBound(o), f.Asked.Intercept || b != 0
}

// divide returns the quotient x/scale and a bound on its error. The error of x is at most xBound.
func divide(x, xBound, scale float64) (quotient, quotientBound float64) {
	if scale == 1 || x == 0 && xBound == 0 {
		return x, xBound
	}
	quotient = x / scale
	return quotient, xBound/scale*(1+0x1p-50) + 0x1p-52*math.Abs(quotient) + 0x1p-1073
}

// ColumnName returns the name of column j, counted from 0, of the preparation prep. If the columns have no names,
// they are called x1, x2, and so on.
func ColumnName(prep *model.Preparation, j int) string {
	return featureName(prep.Names, j)
}

// featureName returns the name of feature i, counted from 0. Features without names are called x1, x2, and so on.
func featureName(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprint("x", i+1)
}
