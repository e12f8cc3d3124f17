package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/internal/jsonfields"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// A choice is how γ was chosen: by the least score, summed over the targets.
type choice struct {
	By       string         `json:"by"` // "gcv", "loo" or "cv"
	Gamma    number         `json:"gamma"`
	Score    ridge.Interval `json:"score"`
	Certain  bool           `json:"certain"`         // no other γ of the path can have a smaller score
	Possible [2]number      `json:"possible"`        // the least and the largest γ that can
	Excess   number         `json:"excess"`          // how much smaller another one's score can be
	Relative number         `json:"relative_excess"` // by what part of it
	Passes   int            `json:"passes"`          // that were spent on the choice, after the sketch's
	Spent    string         `json:"passes_reason,omitempty"`
	Path     []point        `json:"path"`

	reserve
	wording
}

// A reserve is what a choice is to be taken with.
type reserve struct {
	AtEnd    bool     `json:"at_end"`             // the γ is the least or the largest of the path
	LeftOut  *leftOut `json:"left_out,omitempty"` // smaller ones, of which nothing is said
	Warnings []string `json:"warnings,omitempty"` // all of these, in words

	little bool // the choice is little more than a guess
	flat   bool // next to an end the score is hardly more
}

// leftOut are so many γ, from the least to the largest.
type leftOut struct {
	Count int       `json:"count"`
	Gamma [2]number `json:"gamma"`
}

// A wording is what a choice is described with.
type wording struct {
	narrower string // what would make brackets narrower; "": nothing
	far      bool   // columns are of different size, and --standardize was not asked for
	whole    bool   // AᵀA itself is what it was chosen by
}

// A point is what is known at one γ of a path.
type point struct {
	model.Record
	CV  brackets `json:"cv,omitempty"`
	LOO brackets `json:"loo,omitempty"`
}

// pointNames are the names of a point in JSON, in their order.
var pointNames = []string{"gamma", "effective_dimension", "rss", "gcv", "cv", "loo", "relative_error_bound"}

func pointOf(s *ridge.Solution) point {
	p := point{Record: model.Record{Outcome: s.Outcome}}
	for _, o := range s.Targets {
		p.Certificates = append(p.Certificates, o.Certificate)
	}
	return p
}

// MarshalJSON writes the names of a point alone.
func (p point) MarshalJSON() ([]byte, error) {
	return jsonfields.MarshalEach(pointNames, p, p.Certificates)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *point) UnmarshalJSON(text []byte) error {
	_, err := jsonfields.UnmarshalEach(text, p, &p.Certificates)
	return err
}

// isLike reports whether p has as many targets as q, and the same scores.
func (p *point) isLike(q *point) bool {
	n := len(p.Certificates)
	alike := func(a, b brackets) bool { return (a != nil) == (b != nil) && (a == nil || len(a) == n) }
	return n > 0 && n == len(q.Certificates) && alike(p.CV, q.CV) && alike(p.LOO, q.LOO)
}

// describe describes a choice in that wording, but for whether AᵀA is known.
func describe(p *choose.GammaChoice, words wording) *choice {
	gamma := func(i int) number { return number(p.Path[i].Gamma) }
	possible := p.Possible
	c := &choice{
		By: p.By.String(), Gamma: gamma(p.Index), Score: p.Score, Certain: p.Certain,
		Excess: number(p.Excess), Relative: number(p.RelativeExcess()), Passes: p.Passes, Spent: allWords(p.Spent),
		Possible: [2]number{gamma(possible[0]), gamma(possible[len(possible)-1])}, wording: words,
	}
	c.whole = p.Whole
	c.AtEnd, c.little = p.Index == 0 || p.Index == len(p.Path)-1, p.LittleKnown()
	c.flat = c.AtEnd && flatAt(p)
	if n := len(p.Unknown); n > 0 {
		c.LeftOut = &leftOut{n, [2]number{number(p.Unknown[0]), number(p.Unknown[n-1])}}
	}
	for _, w := range c.warnings(general) {
		c.Warnings = append(c.Warnings, fmt.Sprintf("gamma %.4g %s", float64(c.Gamma), w))
	}
	for i, f := range p.Path {
		x := pointOf(f)
		switch p.By {
		case choose.CV:
			x.CV = p.Scores[i]
		case choose.LOO:
			x.LOO = p.Scores[i]
		}
		c.Path = append(c.Path, x)
	}
	return c
}

// flatAt says that next to the γ chosen, at an end, the score is about as little: what lies beyond has
// hardly more to give.
func flatAt(p *choose.GammaChoice) bool {
	const worth = 1e-3
	next := p.Index + 1
	if p.Index > 0 {
		next = p.Index - 1
	}
	if next == len(p.Path) {
		return false
	}
	best, neighbour := 0.0, 0.0
	for j := range p.Scores[p.Index] {
		best, neighbour = best+p.Scores[p.Index][j].Hi, neighbour+p.Scores[next][j].Hi
	}
	return neighbour <= (1+worth)*best
}

// score is what was least, in words.
func (c *choice) score() string {
	return map[string]string{"gcv": "GCV", "loo": "leave-one-out error", "cv": "cross-validated error"}[c.By]
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
	return fmt.Sprintf("%s has the least proved %s of %d, %s; %s open any from %s to %s, which %s; %s%s",
		gamma, c.score(), len(c.Path), bracket(c.Score), c.leaves(), fromGamma(float64(c.Possible[0]), general), toGamma(float64(c.Possible[1]), general), c.cost(general), c.open("it"), c.edge())
}

// leaves says what leaves a choice open.
func (c *choice) leaves() string {
	if c.Passes > 0 || c.whole {
		return "what was read leaves"
	}
	return "the sketch leaves"
}

// cost says how much better another γ may be.
func (c *choice) cost(s look) string {
	if v := 100 * float64(c.Relative) * (1 + 0x1p-52); v <= 1e4 {
		return "may be better by " + atMost(v, 2, s) + " %"
	}
	return "may be better by any factor"
}

// reason is what passes were spent on the choice for, or why none were; "" where there was no
// need.
func (c *choice) reason() string {
	switch {
	case c.Spent == "":
		return ""
	case c.Passes == 0:
		return "no pass was spent on the choice: " + c.Spent
	}
	return fmt.Sprintf("%d %s spent on the choice: %s", c.Passes, plural(c.Passes, "pass was", "passes were"), c.Spent)
}

// narrower is what would make the brackets of GCV narrower, "" where nothing is left to be done: a
// sketch of d rows, and AᵀA itself, has only round-off left, which columns of like scale have less of.
func (f *Fit) narrower() string {
	switch {
	case !f.Found.Choice.Whole && f.scatter() == "" && f.Size() < f.Found.Summary.Config().Dim:
		return "a larger --size"
	case f.far():
		return "--standardize"
	}
	return ""
}

// open says what would narrow what is left open.
func (c *choice) open(what string) string {
	if c.narrower == "" {
		return "round-off alone leaves " + what + " open"
	}
	return c.narrower + " would narrow " + what
}

// warnings are what the choice is to be taken with, said of the γ chosen.
func (c *choice) warnings(s look) []string {
	var out []string
	if c.AtEnd && !c.flat {
		out = append(out, "is at the end of those tried, and the best may lie beyond: say --gamma auto:G,G,…")
	}
	if l := c.LeftOut; l != nil {
		largest := toGamma(float64(l.Gamma[1]), s)
		left := fmt.Sprintf("%d smaller ones, from %s down, were", l.Count, largest)
		if l.Count == 1 {
			left = fmt.Sprintf("a smaller one, %s, was", largest)
		}
		out = append(out, fmt.Sprintf("is the best of those tried: %s left out, because the system is singular there or too little is known of the %s, and such a gamma may be better%s",
			left, c.score(), c.more()))
	}
	if c.little {
		out = append(out, fmt.Sprintf("is little more than a guess: another one %s", c.cost(s)))
	}
	return out
}

// more says what would tell more of those left out, "" where nothing is known to.
func (c *choice) more() string {
	switch {
	case c.far:
		return ": --standardize would tell more of them"
	case c.narrower != "":
		return ": " + c.narrower + " would tell more of them"
	}
	return ""
}

// edge are the warnings, behind a sentence.
func (c *choice) edge() string {
	out := ""
	for _, w := range c.warnings(general) {
		out += "; it " + w
	}
	return out
}

// sentence says what was chosen and whether that is certain.
func (c *choice) sentence() string {
	gamma, why := chart.Digits(float64(c.Gamma), 4), c.reason()
	if why != "" {
		why = " " + strings.ToUpper(why[:1]) + why[1:] + "."
	}
	if c.Certain {
		return fmt.Sprintf("γ = %s has the least %s of the %d tried, for certain.%s", gamma, c.score(), len(c.Path), why)
	}
	leaves := c.leaves()
	return fmt.Sprintf("γ = %s was chosen of %d: its %s, between %s and %s, has the least upper end. %s open any γ from %s to %s; %s. Another one %s.%s",
		gamma, len(c.Path), c.score(), atLeast(c.Score.Lo, 3, typeset), bound(c.Score.Hi), strings.ToUpper(leaves[:1])+leaves[1:],
		fromGamma(float64(c.Possible[0]), typeset), toGamma(float64(c.Possible[1]), typeset), c.open("that"), c.cost(typeset), why)
}
