package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// AsFitted makes the report one of the columns that were fitted, where a penalty was put on them
// after the pass: it is taken into the preparation, which scales columns by it.
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
	f.Found, f.Data.Preparation = &found, prep
	f.after = penalty
	return nil
}

// Bands are the groups of columns that have a penalty in common.
func (f *Fit) Bands() []model.Band {
	if f.Found.Bands != nil {
		return model.Bands(f.Found.Bands.Bands)
	}
	return model.Bands(f.Data.Bands)
}

// A penalties is what columns were penalised by.
type penalties struct {
	Least   number       `json:"least"` // of all columns
	Largest number       `json:"largest"`
	Bands   []model.Band `json:"bands,omitempty"`
	Choice  *bandChoice  `json:"choice,omitempty"` // how those of bands were chosen
	besides bool         // the sketch was made with penalties, too
}

// A bandChoice is how the penalties of bands were chosen.
type bandChoice struct {
	GCV      ridge.Interval `json:"gcv"`
	Certain  bool           `json:"certain"`         // no other penalties of those tried have a smaller GCV
	Possible int            `json:"possible"`        // how many of those tried may have the least
	Relative number         `json:"relative_excess"` // by what part of it another one's may be smaller
	Passes   int            `json:"passes"`          // that were spent on the choice, after the sketch's
	Spent    string         `json:"passes_reason,omitempty"`
	AtEnd    bool           `json:"at_end"` // a penalty is the least or the largest that is tried at all
	Tried    []bandTrial    `json:"tried"`
}

type bandTrial struct {
	Penalties []float64      `json:"penalties"`
	Gamma     number         `json:"gamma"`
	GCV       ridge.Interval `json:"gcv"`
}

// penalties are those of the fit, nil where all columns have 1.
func (f *Fit) penalties() *penalties {
	if f.after == nil && f.Data.Before == nil {
		return nil
	}
	d := len(f.after)
	if f.after == nil {
		d = len(f.Data.Before)
	}
	out := &penalties{Least: number(math.Inf(1)), Bands: f.Bands(), besides: f.after != nil && f.Data.Before != nil}
	for j := range d {
		p := 1.0
		for _, list := range [][]float64{f.after, f.Data.Before} {
			if list != nil {
				p *= list[j]
			}
		}
		out.Least, out.Largest = min(out.Least, number(p)), max(out.Largest, number(p))
	}
	if c := f.Found.Bands; c != nil && c.Choice.Index >= 0 {
		out.Choice = &bandChoice{
			GCV: c.Choice.Score, Certain: c.Choice.Certain, Possible: len(c.Choice.Possible), Relative: number(c.Choice.RelativeExcess()), Passes: c.Passes, Spent: strings.ReplaceAll(allWords(c.Spent), "another gamma is", "other penalties are"), AtEnd: c.AtEnd,
		}
		for _, t := range c.Tried {
			out.Choice.Tried = append(out.Choice.Tried, bandTrial{t.Penalties, number(t.Gamma), t.GCV})
		}
	}
	return out
}

// String says it in words.
func (p *penalties) String() string {
	if p.Bands == nil {
		return fmt.Sprintf("columns are penalised by %s to %s", chart.Digits(float64(p.Least), 4), chart.Digits(float64(p.Largest), 4))
	}
	var parts []string
	for _, b := range p.Bands {
		parts = append(parts, fmt.Sprintf("%s by %s", b.Columns, chart.Digits(b.Penalty, 4)))
	}
	text := "columns are penalised in bands: " + strings.Join(parts, ", ")
	if p.besides {
		text += ", times what the sketch was made with"
	}
	c := p.Choice
	if c == nil {
		return text
	}
	text += fmt.Sprintf("; chosen by GCV, %s, the least of %d tried", bracket(c.GCV), len(c.Tried))
	switch {
	case c.Certain:
		text += ", for certain"
	case float64(c.Relative) <= 1e-9:
		text += "; others have the same, to round-off"
	default:
		text += fmt.Sprintf(" that is proved; %d of them may be better", c.Possible-1)
	}
	if c.AtEnd {
		text += "; one is at the end of those tried: its columns, or those of the others, are best left out or not penalised"
	}
	if c.Passes > 0 {
		text += fmt.Sprintf("; %d %s spent on that: %s", c.Passes, plural(c.Passes, "pass was", "passes were"), c.Spent)
	}
	return text
}
