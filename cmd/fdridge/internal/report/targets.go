package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// A table of results has a row for each target if there are at most mostTargets targets. Otherwise a table shows
// quantiles over the targets. A second table then has a row for each of the worstTargets targets with the largest
// error bounds.
const (
	mostTargets  = 100
	worstTargets = 10
)

// An eachChoice is the JSON record of how a penalty γ was chosen for each target separately. Scores, Excess and
// Noise have an element for each target.
type eachChoice struct {
	By         string           `json:"by"`
	Candidates []float64        `json:"candidates"`
	Scores     []ridge.Interval `json:"scores"`
	// upper bound on how much smaller the score of another candidate may be; 0: the chosen one is proved to be the
	// best
	Excess   []number `json:"excess"`
	Proved   int      `json:"proved"` // number of targets with excess 0
	Relative number   `json:"worst_relative_excess"`
	AtEnd    [2]int   `json:"at_end"` // number of targets with the smallest candidate, and with the largest
	Passes   int      `json:"passes"`
	Spent    string   `json:"passes_reason,omitempty"`
	// intervals that contain the noise variance of each target; empty if the criterion does not estimate it
	Noise    []ridge.Interval `json:"noise_variance,omitempty"`
	Warnings []string         `json:"warnings,omitempty"`
}

func describeEach(c *choose.TargetChoice) *eachChoice {
	out := &eachChoice{
		By:         c.By.String(),
		Candidates: c.Candidates,
		Scores:     c.Scores,
		Proved:     c.Proved(),
		Relative: number(
			c.WorstExcess(),
		),
		Noise:  c.Noise,
		AtEnd:  c.AtEnd,
		Passes: c.Passes,
		Spent:  describeSpent(c.By, c.Passes, c.Spent),
	}
	for _, v := range c.Excess {
		out.Excess = append(out.Excess, number(v))
	}
	for i, n := range c.AtEnd {
		if n == 0 {
			continue
		}
		end := [2]string{"the smallest candidate, and a smaller one", "the largest candidate, and a larger one"}[i]
		warning := fmt.Sprintf(
			"%d of %d targets (%s) have %s may be better",
			n,
			len(c.Gammas),
			percent(float64(n)/float64(len(c.Gammas))),
			end,
		)
		if i == 1 {
			warning += "; the best gamma of a target that does not depend on the features is infinite"
		}
		out.Warnings = append(out.Warnings, warning)
	}
	return out
}

// lines describes the choice of the penalties in lines for the text report.
func (c *eachChoice) lines() []string {
	text := fmt.Sprintf(
		"gamma for each target: smallest %s of %d candidates, proved for %d of %d targets",
		criterionOf(c.By).Words().Score,
		len(c.Candidates),
		c.Proved,
		len(c.Scores),
	)
	if c.Proved < len(c.Scores) {
		text += "; for the others another candidate " + describeGain(float64(c.Relative))
	}
	out := []string{text, describePasses(c.Passes, c.Spent)}
	for _, w := range c.Warnings {
		out = append(out, "warning: "+w)
	}
	return out
}

// targetsToShow returns the indices of the targets that a table lists. If there are more than mostTargets targets,
// these are the worstTargets targets with the largest error bounds. Otherwise they are all targets.
func targetsToShow(errors perTarget[number]) []int {
	out := make([]int, len(errors))
	for j := range out {
		out[j] = j
	}
	if len(out) <= mostTargets {
		return out
	}
	return largest(out, func(j int) float64 { return float64(errors[j]) })[:worstTargets]
}

// largest sorts indices in place such that value(i) descends, and returns them.
func largest(indices []int, value func(i int) float64) []int {
	slices.SortStableFunc(indices, func(a, b int) int {
		return cmp.Compare(value(b), value(a))
	})
	return indices
}

// quantiles are the columns of a table of quantiles, as fractions. The fraction 0.5, for example, is the median.
var quantiles = []float64{0, 0.05, 0.25, 0.5, 0.75, 0.95, 1}

// quantilesTable returns a table of quantiles over the targets of fit i. It has rows for the penalty γ, the error
// bound, R² and the score. For values that are intervals, it shows the quantile of the lower ends and of the upper
// ends.
func (f *Fit) quantilesTable(rec *fitRecord, i int) *table {
	s := &rec.Fits[i]
	scores := rec.scores(&rec.Fits[i])
	t := &table{keys: 1, rows: [][]string{{fmt.Sprintf("%d targets", rec.Targets)}}}
	for _, q := range quantiles {
		t.rows[0] = append(t.rows[0], map[float64]string{0: "least", 0.5: "median", 1: "largest"}[q])
		if last := len(t.rows[0]) - 1; t.rows[0][last] == "" {
			t.rows[0][last] = fmt.Sprintf("%g %%", 100*q)
		}
	}
	add := func(name string, of func(j int) ridge.Interval, write func(v ridge.Interval) string) {
		cells := []string{name}
		lo := sorted(rec.Targets, func(j int) float64 { return of(j).Lo })
		hi := sorted(rec.Targets, func(j int) float64 { return of(j).Hi })
		for _, q := range quantiles {
			at := int(math.Round(q * float64(rec.Targets-1)))
			cells = append(cells, write(ridge.Interval{Lo: lo[at], Hi: hi[at]}))
		}
		t.add(cells...)
	}
	add(
		"gamma",
		func(j int) ridge.Interval {
			return ridge.Interval{Lo: s.GammaOf(j), Hi: s.GammaOf(j)}
		},
		func(v ridge.Interval) string { return fmt.Sprintf("%.4g", v.Lo) },
	)
	add(
		"error ≤",
		func(j int) ridge.Interval {
			return ridge.Interval{Hi: float64(s.CoefRelative[j])}
		},
		func(v ridge.Interval) string { return bound(v.Hi) },
	)
	add("R²", func(j int) ridge.Interval { return s.R2Bracket[j] }, formatFigure)
	add(rec.scoreHeading(), func(j int) ridge.Interval { return scores[j] }, formatFigure)
	return t
}

// sorted returns the values value(0), …, value(n−1) in ascending order. NaN comes first.
func sorted(n int, value func(j int) float64) []float64 {
	out := make([]float64, n)
	for j := range out {
		out[j] = value(j)
	}
	slices.Sort(out)
	return out
}

// criterionName returns the name of the criterion whose scores the report shows: the criterion that chose the
// penalty γ, or "gcv" if γ was given.
func (r *fitRecord) criterionName() string {
	switch {
	case r.Choice != nil:
		return r.Choice.By
	case r.Each != nil:
		return r.Each.By
	}
	return "gcv"
}

// scoreHeading returns the heading of the table column with the scores.
func (r *fitRecord) scoreHeading() string {
	return strings.TrimSuffix(criterionOf(r.criterionName()).Words().Score, " error")
}
