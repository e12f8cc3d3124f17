package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/ridge"
)

// A weightsSection lists the largest weights of each target and γ.
type weightsSection struct {
	Tables []weightsTable
	More   int // fits whose weights are not shown

	Scaled   string // how the columns were scaled before the fit; empty: they were not
	Units    string // what order they have, where the columns were not scaled
	Features string // what the weights are of, where not of the file's columns
}

// A weightsTable has the largest weights of one target at one γ.
type weightsTable struct {
	Title, Intercept string
	Open             bool
	Rows             []weightRow
	Others           int
}

// A weightRow is x̂ⱼ ± its bound, in the units of the file and as fitted.
type weightRow struct {
	Name, Weight, Bound, Scaled, ScaledBound string
	Sign                                     bool // proved: 0 is not within the bound
}

// Limits of what a page shows of the weights.
const (
	mostWeights = 20
	mostTables  = 12
)

// weights orders weights by what they are in the units that were fitted: those of scaled
// columns can be compared.
func (f *Fit) weights() weightsSection {
	var out weightsSection
	prep := &f.Data.Preparation
	if prep.Scaling != nil {
		out.Scaled = "Columns were scaled before the fit; the weights of the scaled columns, by which they are ordered, can be compared with one another."
	}
	if prep.Scaling == nil && prep.Expansion() == nil {
		out.Units = "Each is in the target's units per unit of its column, so that their order depends on those; with --standardize it does not."
	}
	if features := prep.Expansion(); features != nil {
		out.Features = fmt.Sprintf("The weights are of the features that %s made of the %d columns of the file.", features, prep.Inputs)
	}
	names := prep.Terms()
	for _, s := range f.Found.Solutions {
		for j := range s.Targets {
			if len(out.Tables) == mostTables {
				out.More++
				continue
			}
			t := f.weightsTable(s, j, names)
			t.Open = len(out.Tables) == 0
			out.Tables = append(out.Tables, t)
		}
	}
	return out
}

// scale is what column i was divided by, where the weights are of columns.
func (f *Fit) scale(i int) float64 {
	if prep := &f.Data.Preparation; prep.Scaling != nil && prep.Expansion() == nil {
		return prep.Scaling.Scale[i]
	}
	return 1
}

func (f *Fit) weightsTable(s *ridge.Solution, j int, names []string) weightsTable {
	coef, e := s.Targets[j].Coef, s.Targets[j].ErrorBound
	order := make([]int, len(coef))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch x, y := math.Abs(coef[a]), math.Abs(coef[b]); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	_, intercept := f.Data.Preparation.Unscale(coef, s.Targets[j].Intercept)
	t := weightsTable{Title: f.nameOf(s, j), Others: max(0, len(coef)-mostWeights)}
	if f.Asked.Intercept || intercept != 0 {
		value, within := around(intercept, f.Data.Preparation.InterceptBound(&s.Targets[j]))
		if t.Intercept = value; within != noBound {
			t.Intercept += " ± " + within
		}
	}
	for _, i := range order[:len(coef)-t.Others] {
		scale := f.scale(i)
		w := weightRow{Name: featureName(names, i), Sign: math.Abs(coef[i]) > e}
		w.Weight, w.Bound = around(divided(coef[i], e, scale))
		w.Scaled, w.ScaledBound = around(coef[i], e)
		t.Rows = append(t.Rows, w)
	}
	return t
}

// divided is x, which is within e of what it stands for, over scale, and a bound on the error of
// that.
func divided(x, e, scale float64) (quotient, within float64) {
	if scale == 1 || x == 0 && e == 0 {
		return x, e
	}
	quotient = x / scale
	return quotient, e/scale*(1+0x1p-50) + 0x1p-52*math.Abs(quotient) + 0x1p-1073
}

// featureName is feature i's own where it has one, otherwise its number.
func featureName(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprint(i + 1)
}
