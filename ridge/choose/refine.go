package choose

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/fdridge/fdridge/ridge"
)

// maxRefinements limits the number of γ that refine adds to a grid. It adds a γ if the expected decrease of the score
// is larger than leastGain. About five γ are enough.
const (
	maxRefinements = 12
	leastGain      = 1e-9
)

// refine adds candidates between the best one and its neighbours, each at the minimum of the parabola through the upper
// bounds of these three scores in log γ (successive parabolic interpolation). It stops if the parabola promises less
// than leastGain or twice the width of the best bracket, because a smaller difference of scores proves nothing. If
// the best candidate is at an end of the grid, refine adds none.
func refine(c *GammaChoice, find func(gammas []float64) ([]Candidate, error)) (*GammaChoice, error) {
	for range maxRefinements {
		gamma, gain := c.vertex()
		width := c.Score.Hi - c.Score.Lo
		if !(gain > math.Max(leastGain, 2*width)) || slices.Contains(gammasOf(c.Path), gamma) {
			break
		}
		found, err := find([]float64{gamma})
		if _, singular := errors.AsType[*ridge.SingularError](err); singular {
			break
		}
		if err != nil {
			return nil, err
		}
		all := slices.Concat(candidatesOf(c), found)
		slices.SortFunc(all, func(a, b Candidate) int { return cmp.Compare(a.Fit.Gamma, b.Fit.Gamma) })
		next, err := c.Again(all)
		if err != nil {
			return nil, err
		}
		c = next
	}
	return c, nil
}

// vertex returns the γ at the minimum of a parabola in log γ, and the difference of the parabola between the best γ
// and this minimum. The parabola goes through the upper bounds of the best score and of its two neighbours. The gain is
// 0 if the best γ is at an end of the grid, and NaN if a bound is infinite.
func (c *GammaChoice) vertex() (gamma, gain float64) {
	i := c.Index
	if i == 0 || i == len(c.Path)-1 {
		return c.Gamma(), 0
	}
	top := func(k int) float64 { return sumBrackets(c.Scores[k]).Hi }
	left := math.Log(c.Path[i-1].Gamma / c.Gamma())  // negative
	right := math.Log(c.Path[i+1].Gamma / c.Gamma()) // positive
	below, above := top(i-1)-top(i), top(i+1)-top(i) // at least 0
	// The parabola bend·x² + slope·x has the values below at left, and above at right.
	bend := (above/right - below/left) / (right - left)
	slope := above/right - bend*right
	at := -slope / (2 * bend)
	return c.Gamma() * math.Exp(at), slope * slope / (4 * bend)
}
