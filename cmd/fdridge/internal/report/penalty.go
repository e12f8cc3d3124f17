package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// AsFitted changes the report if the command solve applied penalties to the columns of an existing sketch. A
// penalty of a column is the same as a scaling of the column. AsFitted adds this scaling to the preparation. It
// replaces each solution by [ridge.Solution.Fitted], which has the coefficients of the scaled columns.
func (f *Fit) AsFitted() error {
	penalty := f.Found.Solutions[0].Penalty
	prep, err := f.Data.Preparation.Penalize(penalty)
	if err != nil || penalty == nil {
		return err
	}
	found := *f.Found
	found.Solutions = slices.Clone(found.Solutions)
	for i, s := range found.Solutions {
		found.Solutions[i] = s.Fitted()
	}
	f.Found = &found
	f.Data.Preparation = prep
	f.after = penalty
	return nil
}

// Bands returns the groups of columns that share a penalty.
func (f *Fit) Bands() []model.Band {
	if f.Found.Bands != nil {
		return model.Bands(f.Found.Bands.Bands)
	}
	return model.Bands(f.Data.Bands)
}

// A penalties describes the penalties of the columns.
type penalties struct {
	Least   number       `json:"least"` // smallest penalty of the columns
	Largest number       `json:"largest"`
	None    []string     `json:"unpenalized,omitempty"` // columns without penalty, not counted in Least
	Bands   []model.Band `json:"bands,omitempty"`
	Choice  *bandChoice  `json:"choice,omitempty"` // how the penalties of the bands were chosen
	besides bool         // the columns have other penalties, too, from --penalty or in the sketch
}

// A bandChoice is the JSON record of how the penalties of bands were chosen. A band is a group of columns that
// share a penalty.
type bandChoice struct {
	GCV      ridge.Interval `json:"gcv"`
	Certain  bool           `json:"certain"`         // no other candidate can have a smaller GCV
	Possible int            `json:"possible"`        // number of candidates that may have the smallest GCV
	Relative number         `json:"relative_excess"` // fraction by which another GCV may be smaller
	Passes   int            `json:"passes"`          // passes for the choice, made after the sketch
	Spent    string         `json:"passes_reason,omitempty"`
	AtEnd    bool           `json:"at_end"` // a chosen penalty is the smallest or the largest of its candidates
	Tried    []bandTrial    `json:"tried"`
}

type bandTrial struct {
	Penalties []float64      `json:"penalties"`
	Gamma     number         `json:"gamma"`
	GCV       ridge.Interval `json:"gcv"`
}

// penalties returns the JSON record of the penalties of the columns. It returns nil if no column has a penalty of
// its own.
func (f *Fit) penalties() *penalties {
	if f.after == nil && f.Data.Before == nil {
		return nil
	}
	d := len(f.after)
	if f.after == nil {
		d = len(f.Data.Before)
	}
	out := &penalties{
		Least:   number(math.Inf(1)),
		Bands:   f.Bands(),
		besides: f.after != nil && f.Data.Before != nil,
	}
	for j := range d {
		p := 1.0
		for _, list := range [][]float64{f.after, f.Data.Before} {
			if list != nil {
				p *= list[j]
			}
		}
		if p == 0 {
			out.None = append(out.None, ColumnName(&f.Data.Preparation, j))
			continue
		}
		out.Least = min(out.Least, number(p))
		out.Largest = max(out.Largest, number(p))
	}
	if c := f.Found.Bands; c != nil && c.Choice.Index >= 0 {
		spent := describeSpent(choose.GCV, c.Passes, c.Spent)
		out.Choice = &bandChoice{
			GCV:      c.Choice.Score,
			Certain:  c.Choice.Certain,
			Possible: len(c.Choice.Possible),
			Relative: number(c.Choice.RelativeExcess()),
			Passes:   c.Passes,
			Spent:    strings.ReplaceAll(spent, "another gamma may", "other penalties may"),
			AtEnd:    c.AtEnd,
		}
		for _, t := range c.Tried {
			out.Choice.Tried = append(out.Choice.Tried, bandTrial{t.Penalties, number(t.Gamma), t.GCV})
		}
	}
	return out
}

// String describes the penalties.
func (p *penalties) String() string {
	none := ""
	if p.None != nil {
		named := min(len(p.None), 8)
		none = "no penalty: " + strings.Join(p.None[:named], ", ")
		if named < len(p.None) {
			none += fmt.Sprintf(" and %d more", len(p.None)-named)
		}
		if p.Bands == nil && p.Least == 1 && p.Largest == 1 {
			return none
		}
		none += "; "
	}
	if p.Bands == nil {
		return none + fmt.Sprintf(
			"penalties of the columns: %s to %s",
			chart.Digits(float64(p.Least), 4),
			chart.Digits(float64(p.Largest), 4),
		)
	}
	var parts []string
	for _, b := range p.Bands {
		parts = append(parts, fmt.Sprintf("%s = %s", b.Columns, chart.Digits(b.Penalty, 4)))
	}
	text := none + "penalties of bands: " + strings.Join(parts, ", ")
	if p.besides {
		text += ", times the other penalties"
	}
	c := p.Choice
	if c == nil {
		return text
	}
	text += fmt.Sprintf("; smallest GCV, %s, of %d candidates", bracket(c.GCV), len(c.Tried))
	switch {
	case c.Certain:
		text += " (proved)"
	case float64(c.Relative) <= 1e-9:
		text += "; others are equal up to round-off"
	default:
		text += fmt.Sprintf("; %d others may be better", c.Possible-1)
	}
	if c.AtEnd {
		text += "; one is the last candidate on its side: leave its columns out, or do not penalise them"
	}
	if c.Passes > 0 {
		text += fmt.Sprintf(
			"; %d %s made for this choice: %s",
			c.Passes,
			plural(c.Passes, "pass was", "passes were"),
			c.Spent,
		)
	}
	return text
}
