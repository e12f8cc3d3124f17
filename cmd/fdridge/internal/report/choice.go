package report

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/ridge"
)

// A choice is how γ was chosen: by the least score, summed over the targets.
type choice struct {
	By       string         `json:"by"` // "gcv" or "cv"
	Gamma    number         `json:"gamma"`
	Score    ridge.Interval `json:"score"`
	Certain  bool           `json:"certain"`  // no other γ of the path can have a smaller score
	Possible [2]number      `json:"possible"` // the least and the largest γ that can
	Excess   number         `json:"excess"`   // how much smaller another one's score can be
	AtEnd    bool           `json:"at_end"`   // it is the least or the largest of the path
	Path     []pathPoint    `json:"path"`

	narrower string // what would make brackets narrower
}

type pathPoint struct {
	Gamma              number                    `json:"gamma"`
	EffectiveDimension ridge.Interval            `json:"effective_dimension"`
	RSS                perTarget[ridge.Interval] `json:"rss"`
	GCV                perTarget[ridge.Interval] `json:"gcv"`
	CV                 perTarget[ridge.Interval] `json:"cv,omitempty"`
	RelativeErrorBound perTarget[number]         `json:"relative_error_bound"`
}

func describe(p *ridge.GammaChoice) *choice {
	gamma := func(i int) number { return number(p.Path[i].Gamma) }
	possible := p.Possible
	c := &choice{
		By: "gcv", Gamma: gamma(p.Index), Score: p.Score, Certain: p.Certain, Excess: number(p.Excess),
		Possible: [2]number{gamma(possible[0]), gamma(possible[len(possible)-1])},
	}
	if p.CV != nil {
		c.By = "cv"
	}
	c.AtEnd = p.Index == 0 || p.Index == len(p.Path)-1
	for i, f := range p.Path {
		point := pathPoint{Gamma: number(f.Gamma), EffectiveDimension: f.EffectiveDimension}
		for j := range f.Targets {
			o := &f.Targets[j]
			point.RSS, point.GCV = append(point.RSS, o.RSS), append(point.GCV, o.GCV)
			point.RelativeErrorBound = append(point.RelativeErrorBound, number(o.RelativeErrorBound))
		}
		if p.CV != nil {
			point.CV = p.Scores[i]
		}
		c.Path = append(c.Path, point)
	}
	return c
}

// score is what was least, in words.
func (c *choice) score() string {
	return map[string]string{"gcv": "GCV", "cv": "cross-validated error"}[c.By]
}

// String says it in words.
func (c *choice) String() string {
	gamma := fmt.Sprintf("gamma %.4g", float64(c.Gamma))
	switch {
	case c.Certain:
		return fmt.Sprintf("%s has the least %s of %d, for certain%s", gamma, c.score(), len(c.Path), c.edge())
	case math.IsInf(c.Score.Hi, 1) || math.IsNaN(c.Score.Hi):
		return fmt.Sprintf("%s: the sketch bounds no %s from above, the choice says nothing", gamma, c.score())
	case float64(c.Excess) <= 1e-9*c.Score.Hi:
		return fmt.Sprintf("%s has the least %s of %d, %s; others have the same, to round-off%s", gamma, c.score(), len(c.Path), bracket(c.Score), c.edge())
	}
	return fmt.Sprintf("%s has the least proved %s of %d, %s; the sketch leaves open any from %s to %s, %s would narrow it%s",
		gamma, c.score(), len(c.Path), bracket(c.Score), atLeast(float64(c.Possible[0]), 4, general), atMost(float64(c.Possible[1]), 4, general), c.narrower, c.edge())
}

// narrower is what would make the brackets of GCV narrower: a sketch of d rows has only
// round-off left.
func (f *Fit) narrower() string {
	if f.Size() < f.Found.Summary.Config().Dim {
		return "a larger --size"
	}
	return "--standardize, or features of like scale,"
}

// edge warns that the γ chosen is the least or the largest of those tried.
func (c *choice) edge() string {
	if !c.AtEnd {
		return ""
	}
	return "; it is at the end of those tried, and the best may lie beyond: say --gamma auto:G,G,…"
}

// sentence says what was chosen and whether that is certain.
func (c *choice) sentence() string {
	gamma := chart.Digits(float64(c.Gamma), 4)
	if c.Certain {
		return fmt.Sprintf("γ = %s has the least %s of the %d tried, for certain.", gamma, c.score(), len(c.Path))
	}
	return fmt.Sprintf("γ = %s was chosen of %d: its %s, between %s and %s, has the least upper end. The sketch leaves open any γ from %s to %s; %s would narrow that.",
		gamma, len(c.Path), c.score(), atLeast(c.Score.Lo, 3, typeset), bound(c.Score.Hi),
		atLeast(float64(c.Possible[0]), 4, typeset), atMost(float64(c.Possible[1]), 4, typeset), c.narrower)
}
