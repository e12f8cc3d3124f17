package choose

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/fdridge/fdridge/ridge"
)

// maxRefinements limits the number of values of γ that refine adds to a grid; six to eight are usual. leastStep is
// the smallest difference in log γ between two of them.
const (
	maxRefinements = 16
	leastStep      = 5e-4
)

// refine adds candidates between the best γ and its two neighbours, until both neighbours are near. Each new γ is
// the minimum of the parabola in log γ through the three upper bounds of the scores. This is successive parabolic
// interpolation. The least step is from R. Brent, Algorithms for Minimization without Derivatives, 1973. No
// candidate is added if its score would differ from the best score by less than the width of a bracket. The reason
// is that such a difference proves nothing.
func refine(c *GammaChoice, find func(gammas []float64) ([]Candidate, error)) (*GammaChoice, error) {
	for more := range maxRefinements {
		gamma := c.between()
		isEnd := c.Index == 0 || c.Index == len(c.Path)-1
		if isEnd && more == 0 {
			beyond := gammasBeyond(gammasOf(c.Path), c.Index, GridSize/2)
			if len(beyond) == 0 {
				break
			}
			gamma = beyond[0]
		}
		if math.IsNaN(gamma) {
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
		slices.SortFunc(all, func(a, b Candidate) int {
			return cmp.Compare(a.Fit.Gamma, b.Fit.Gamma)
		})
		next, err := c.Again(all)
		if err != nil {
			return nil, err
		}
		c = next
	}
	return c, nil
}

// between returns the next γ to try. It returns NaN if both neighbours of the best γ are near, or if there is only
// one.
func (c *GammaChoice) between() float64 {
	i := c.Index
	if i == 0 || i == len(c.Path)-1 {
		return math.NaN()
	}
	top := func(k int) float64 { return sumBrackets(c.Scores[k]).Hi }
	left := math.Log(c.Path[i-1].Gamma / c.Gamma())  // negative
	right := math.Log(c.Path[i+1].Gamma / c.Gamma()) // positive
	below, above := top(i-1)-top(i), top(i+1)-top(i) // at least 0
	// The parabola bend·x² + slope·x is 0 at the best γ. Its value is below at left, and above at right.
	bend := (above/right - below/left) / (right - left)
	slope := above/right - bend*right
	at := -slope / (2 * bend)
	// The step is so long that bend·step² is at least 16 times the width of the best bracket.
	step := math.Max(leastStep, math.Sqrt(16*(c.Score.Hi-c.Score.Lo)/bend))
	if !(math.Max(-left, right) > 2*step) {
		return math.NaN()
	}
	if math.Abs(at) < step/2 { // the best γ is near the minimum: bring the farther neighbour near
		at = math.Copysign(1.5*step, left+right)
	}
	return c.Gamma() * math.Exp(math.Max(left+step, math.Min(at, right-step)))
}
