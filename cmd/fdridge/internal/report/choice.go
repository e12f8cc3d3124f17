package report

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/internal/jsonfields"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// A choice is the JSON record of how the penalty γ was chosen among candidates. Each candidate has a score, summed
// over the targets, and the best score is the smallest. Score is an interval that contains the score of the chosen
// γ.
type choice struct {
	By       string         `json:"by"` // name of a [choose.Criterion]
	Gamma    number         `json:"gamma"`
	Score    ridge.Interval `json:"score"`
	Certain  bool           `json:"certain"`         // no other candidate can have a smaller score
	Possible [2]number      `json:"possible"`        // smallest and largest γ that can have the smallest score
	Excess   number         `json:"excess"`          // amount by which the score of another candidate may be smaller
	Relative number         `json:"relative_excess"` // Excess as a fraction of the other score
	Passes   int            `json:"passes"`          // passes for the choice, made after the sketch
	// intervals that contain the noise variance of each target; empty if the criterion does not estimate it
	Noise brackets `json:"noise_variance,omitempty"`
	Spent string   `json:"passes_reason,omitempty"`
	Path  []point  `json:"path"`

	reserve
	wording
}

// A reserve holds the reasons to doubt the chosen penalty γ.
type reserve struct {
	AtEnd    bool     `json:"at_end"`             // the chosen γ is the smallest or the largest candidate
	LeftOut  *leftOut `json:"left_out,omitempty"` // smaller candidates without a score
	Warnings []string `json:"warnings,omitempty"` // in words

	little   bool // the choice is little more than a guess
	unproved bool // nothing useful is proved of the score
	fitted   bool // the targets are fitted, or are constant, up to round-off
	constant bool // the targets are constant, up to round-off
	tied     int  // number of other candidates that are proved to have the same error rate as the chosen one
	// number of larger candidates that may have the same error rate, because their lower bounds equal it
	open int

	ends [2]bool // whether the chosen γ is the smallest, and whether it is the largest candidate

	// Relative lower bound on the excess of a leave-one-out error. The γ with the smallest GCV has this error, and
	// the excess is over the leave-one-out error of the chosen γ.
	disagreement float64
	flat         bool // the chosen γ is at the end and its neighbour has nearly the same score
}

// leftOut describes the candidates without a score. Gamma holds the smallest and the largest γ among them.
type leftOut struct {
	Count int       `json:"count"`
	Gamma [2]number `json:"gamma"`
}

// A wording holds the parts of the texts about a choice that depend on the options of the fit.
type wording struct {
	narrower string // option that would make the intervals of the scores narrower; "": none
}

// A point holds the certificates and scores of one candidate γ. A certificate states what is proved of a solution.
type point struct {
	model.Record
	field  string   // the JSON member of scores, see [choose.Words]
	scores brackets // the scores by which γ was chosen; nil if the certificates contain them
}

// criterionOf returns the criterion with the given name, or GCV if the name is unknown.
func criterionOf(name string) choose.Criterion {
	by, err := choose.ParseCriterion(name)
	if err != nil || by == choose.Auto {
		return choose.GCV
	}
	return by
}

// MarshalJSON writes γ, the certificates and the scores. The name of the JSON member with the scores is p.field.
func (p point) MarshalJSON() ([]byte, error) {
	first, err := jsonfields.MarshalEach(
		[]string{"gamma", "effective_dimension", "rss", "gcv"},
		p.Record,
		p.Certificates,
	)
	if err != nil {
		return nil, err
	}
	last, err := jsonfields.MarshalEach([]string{"relative_error_bound"}, p.Record, p.Certificates)
	if err != nil {
		return nil, err
	}
	out := first[:len(first)-1] // without the brace
	if len(p.scores) > 0 {
		scores, err := jsonfields.Value(p.scores)
		if err != nil {
			return nil, err
		}
		out = append(append(out, `,"`+p.field+`":`...), scores...)
	}
	return append(append(out, ','), last[1:]...), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *point) UnmarshalJSON(text []byte) error {
	if _, err := jsonfields.UnmarshalEach(text, &p.Record, &p.Certificates); err != nil {
		return err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return jsonfields.Explain(err)
	}
	for _, by := range choose.Criteria() {
		field := by.Words().Field
		found, ok := members[field]
		if !ok || field == "" {
			continue
		}
		if err := json.Unmarshal(found, &p.scores); err != nil {
			return fmt.Errorf("%s: %w", field, jsonfields.Explain(err))
		}
		p.field = field
		break
	}
	return nil
}

// isLike reports whether p and q have the same number of targets and scores of the same kind. The number of scores
// must also be right for the criterion by.
func (p *point) isLike(q *point, by choose.Criterion) bool {
	n, scores := len(p.Certificates), len(p.Certificates)
	if by.IsErrorRate() {
		scores = 1
	}
	return n > 0 &&
		n == len(q.Certificates) &&
		p.field == q.field &&
		(p.scores == nil || len(p.scores) == scores)
}

// describe converts the choice p for the report.
func describe(p *choose.GammaChoice, words wording) *choice {
	gamma := func(i int) number { return number(p.Path[i].Gamma) }
	possible := p.Possible
	c := &choice{
		By:       p.By.String(),
		Gamma:    gamma(p.Index),
		Score:    p.Score,
		Certain:  p.Certain,
		Excess:   number(p.Excess),
		Relative: number(p.RelativeExcess()),
		Passes:   p.Passes,
		Spent:    describeSpent(p.By, p.Passes, p.Spent),
		Possible: [2]number{gamma(possible[0]), gamma(possible[len(possible)-1])},
		Noise:    p.Noise,
		wording:  words,
	}
	c.ends = [2]bool{p.Index == 0, p.Index == len(p.Path)-1}
	c.little = p.LittleKnown()
	c.fitted = p.IsFitted()
	c.unproved = p.ProvesNothing()
	varies := func(o ridge.Target) bool { return o.TSS.Lo > 0 }
	c.constant = c.fitted && !slices.ContainsFunc(p.Path[p.Index].Targets, varies)
	c.AtEnd = c.ends[0] || c.ends[1]
	c.flat = c.AtEnd && isFlat(p)
	c.disagreement = p.GCVExcess()
	if n := len(p.Unknown); n > 0 {
		c.LeftOut = &leftOut{n, [2]number{number(p.Unknown[0]), number(p.Unknown[n-1])}}
	}
	for _, w := range c.warnings() {
		c.Warnings = append(c.Warnings, fmt.Sprintf("gamma = %.4g %s", float64(c.Gamma), w))
	}
	for i, f := range p.Path {
		x := point{Record: model.Record{Outcome: f.Outcome}}
		for _, o := range f.Targets {
			x.Certificates = append(x.Certificates, o.Certificate)
		}
		if words := p.By.Words(); words.Field != "" {
			x.field = words.Field
			x.scores = p.Scores[i]
		}
		if p.By.IsErrorRate() {
			switch s := p.Scores[i][0]; {
			case i == p.Index:
			case s.Lo == s.Hi && s == p.Score:
				c.tied++
			case s.Lo == p.Score.Hi && f.Gamma > p.Gamma():
				c.open++
			}
		}
		c.Path = append(c.Path, x)
	}
	return c
}

// isFlat reports whether the score hardly changes from the chosen γ to its neighbour in the grid. The neighbour's
// score must be at most 0.1 % larger. A γ beyond the end of the grid would then hardly be better.
func isFlat(p *choose.GammaChoice) bool {
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
		best += p.Scores[p.Index][j].Hi
		neighbour += p.Scores[next][j].Hi
	}
	if p.By.IsLogarithm() {
		return neighbour <= best+worth
	}
	return neighbour <= (1+worth)*best
}

// score returns the name of the score.
func (c *choice) score() string {
	return criterionOf(c.By).Words().Score
}

// isArbitrary reports whether no finite upper bound on the score of the chosen γ is known.
func (c *choice) isArbitrary() bool {
	return math.IsInf(c.Score.Hi, 1) ||
		math.IsNaN(c.Score.Hi)
}

// String describes the choice of γ and its warnings in one sentence for the text report.
func (c *choice) String() string {
	text := c.sentence()
	if len(c.Noise) == 1 {
		text += fmt.Sprintf("; noise variance %s", bracket(c.Noise[0]))
	}
	for _, w := range c.warnings() {
		text += "; this gamma " + w
	}
	return text
}

// sentence describes the choice without its warnings.
func (c *choice) sentence() string {
	gamma := fmt.Sprintf("gamma = %.4g", float64(c.Gamma))
	switch {
	case c.constant:
		return fmt.Sprintf(
			"%s: the %s is only round-off, %s, because the targets are constant",
			gamma,
			c.score(),
			bracket(c.Score),
		)
	case c.Certain && c.tied > 0 && c.open > 0:
		return fmt.Sprintf(
			"%s: smallest %s of %d candidates (proved), and the largest gamma of %d that are proved to have this "+
				"%s; %d larger %s may have it, too",
			gamma,
			c.score(),
			len(c.Path),
			c.tied+1,
			c.score(),
			c.open,
			plural(c.open, "candidate", "candidates"),
		)
	case c.Certain && c.tied > 0:
		return fmt.Sprintf(
			"%s: smallest %s of %d candidates (proved), and the largest gamma of %d with this %s",
			gamma,
			c.score(),
			len(c.Path),
			c.tied+1,
			c.score(),
		)
	case c.Certain:
		return fmt.Sprintf("%s: smallest %s of %d candidates (proved)", gamma, c.score(), len(c.Path))
	case c.fitted:
		return fmt.Sprintf(
			"%s: the %s is only round-off, %s, because the targets are fitted exactly",
			gamma,
			c.score(),
			bracket(c.Score),
		)
	case c.isArbitrary():
		return fmt.Sprintf("%s: arbitrary, because the %s is not known for any candidate", gamma, c.score())
	case float64(c.Excess) <= 1e-9*math.Abs(c.Score.Hi):
		return fmt.Sprintf(
			"%s: smallest %s of %d candidates, %s; others are equal up to round-off",
			gamma,
			c.score(),
			len(c.Path),
			bracket(c.Score),
		)
	}
	return fmt.Sprintf(
		"%s: smallest proved bound on the %s of %d candidates, which lies in %s; any gamma from %s to %s %s; %s",
		gamma,
		c.score(),
		len(c.Path),
		bracket(c.Score),
		formatGamma(float64(c.Possible[0]), false),
		formatGamma(float64(c.Possible[1]), true),
		describeGain(float64(c.Relative)),
		c.advice(),
	)
}

// describeGain returns a text such as "may be better by up to 3 %". excess is an upper bound on (s − s')/s'. Here
// s is the score of the chosen γ, and s' is the score of any other γ.
func describeGain(excess float64) string {
	if v := 100 * excess * (1 + 0x1p-52); v <= 1e4 {
		return "may be better by up to " + AtMost(v, 2) + " %"
	}
	return "may be better by any factor"
}

// describePasses states how many passes over the rows were made to choose γ, and why. It returns "" if reason is
// empty.
func describePasses(passes int, reason string) string {
	switch {
	case reason == "":
		return ""
	case passes == 0:
		return "no pass was made to choose gamma: " + reason
	}
	return fmt.Sprintf("%d %s made to choose gamma: %s", passes, plural(passes, "pass was", "passes were"), reason)
}

// narrower returns the option that would make the intervals of the scores narrower, or "" if there is none. A
// larger sketch helps unless the sketch is exact. Otherwise scaled columns may help, because they reduce round-off.
func (f *Fit) narrower() string {
	switch {
	case !f.Found.Choice.Whole &&
		f.describeGram() == "" &&
		f.Size() < f.Found.Summary.Config().Dim:
		return "a larger --size"
	case f.needsScaling():
		return "--standardize"
	}
	return ""
}

// Doubt returns a warning if nothing useful is proved of the choice of γ, otherwise "". The warning names the
// option to try next.
func (f *Fit) Doubt() string {
	p := f.Found.Choice
	if p == nil || !p.ProvesNothing() {
		return ""
	}
	c := describe(p, wording{f.narrower()})
	next := c.narrower
	if next == "" {
		next = "--standardize"
		if f.isStandardized() {
			next = fmt.Sprintf("--gamma auto:%.4g,%.4g,%.4g", 10*p.Gamma(), 100*p.Gamma(), 1000*p.Gamma())
		}
	}
	return fmt.Sprintf(
		"gamma = %.4g is little more than a guess: the %s is only known to lie in %s; try %s",
		p.Gamma(),
		c.score(),
		bracket(c.Score),
		next,
	)
}

// advice names the option that would narrow the range of the γ that may have the smallest score. If there is none,
// it says that only round-off is left.
func (c *choice) advice() string {
	if c.narrower == "" {
		return "only round-off is left"
	}
	return c.narrower + " would narrow this range"
}

// warnings returns the reasons to doubt the chosen γ. Each text begins with a verb, because the caller writes "this
// gamma" before it.
func (c *choice) warnings() []string {
	if c.constant {
		return nil
	}
	var out []string
	if c.AtEnd &&
		!c.flat &&
		!c.fitted &&
		!(c.ends[0] && c.LeftOut != nil) {
		out = append(out, c.beyond())
	}
	if l := c.LeftOut; l != nil {
		largest := formatGamma(float64(l.Gamma[1]), true)
		left := fmt.Sprintf("%d smaller candidates, %s and below, were", l.Count, largest)
		if l.Count == 1 {
			left = fmt.Sprintf("a smaller candidate, %s, was", largest)
		}
		text := fmt.Sprintf(
			"may not be the best: %s left out, because the system is singular there or the %s is hardly known",
			left,
			c.score(),
		)
		if c.narrower != "" {
			text += "; " + c.narrower + " would help"
		}
		out = append(out, text)
	}
	if v := 100 * c.disagreement; v > 5 {
		more := fmt.Sprintf("at least %.0f %% larger", v)
		if v > 1000 {
			more = "more than ten times as large"
		}
		out = append(
			out,
			fmt.Sprintf(
				"differs from GCV's choice, where the leave-one-out error is %s: a few rows have much influence",
				more,
			),
		)
	}
	if c.little {
		text := fmt.Sprintf("another candidate %s", describeGain(float64(c.Relative)))
		if c.unproved {
			text = fmt.Sprintf("the %s is only known to lie in %s", c.score(), bracket(c.Score))
		}
		out = append(out, "is little more than a guess: "+text)
	}
	return out
}

// beyond returns a warning for a chosen γ at an end of the grid. It advises to add the next three powers of ten
// beyond this end as candidates.
func (c *choice) beyond() string {
	end, step := "smallest candidate, and a smaller", -1
	switch {
	case c.ends[0] && c.ends[1]:
		return "is the only candidate: try --gamma auto"
	case c.ends[1]:
		end, step = "largest candidate, and a larger", 1
	}
	var list []string
	for e := range 4 {
		if g := float64(c.Gamma) * math.Pow10(step*e); g > 0 && !math.IsInf(g, 1) {
			list = append(list, fmt.Sprintf("%.4g", g))
		}
	}
	return fmt.Sprintf("is the %s one may be better: try --gamma auto:%s", end, strings.Join(list, ","))
}
