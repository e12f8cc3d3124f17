package choose

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A Choice is one of several candidates, of each of which a score is known as a
// bracket. The least score is wanted.
type Choice struct {
	// Index is the candidate whose upper end is the least: it has the best score
	// that is proved. The one with the least midpoint may be a better guess, but
	// nothing is proved of it, and where an upper end is infinite there is no midpoint.
	Index int `json:"index" null:"-1"`
	// Score is its bracket.
	Score ridge.Interval `json:"score"`
	// Certain says that its upper end is below the lower end of every other, so
	// that it has the least score beyond doubt.
	Certain bool `json:"certain"`
	// Possible are the candidates, ascending, that may have the least score: those
	// whose lower end is no more than the least upper end. Index is among them.
	Possible []int `json:"possible"`
	// Excess bounds how far the score of Index is above the least one.
	Excess float64 `json:"excess" null:"+Inf"`
}

// RelativeExcess bounds by how much of the least score that of Index is above it: 0.01 is one
// per cent. It is 0 where the choice is certain, +Inf where nothing is known.
func (c *Choice) RelativeExcess() float64 {
	least := c.Score.Hi - c.Excess
	switch {
	case c.Excess == 0:
		return 0
	case !(least > 0): // NaN, too
		return math.Inf(1)
	}
	return math.Nextafter(c.Excess/least*(1+4*roundoff.Eps), math.Inf(1)) // a quotient may underflow
}

// above is hi − lo, rounded up.
func above(hi, lo float64) float64 {
	v, rest := twofold.Sum(hi, -lo)
	if rest > 0 {
		return math.Nextafter(v, math.Inf(1))
	}
	return v
}

// Least returns the choice of the candidate with the least score. A NaN bracket is ignored. Without candidates Index is -1.
func Least(scores []ridge.Interval) Choice {
	c := Choice{Index: -1, Score: ridge.Interval{Lo: math.Inf(-1), Hi: math.Inf(1)}}
	known := make([]ridge.Interval, len(scores))
	for i, v := range scores {
		if math.IsNaN(v.Lo) || math.IsNaN(v.Hi) {
			v = ridge.Interval{Lo: math.Inf(-1), Hi: math.Inf(1)}
		}
		known[i] = v
		if c.Index < 0 || v.Hi < c.Score.Hi {
			c.Index, c.Score = i, v
		}
	}
	for i, v := range known {
		if i == c.Index || v.Lo <= c.Score.Hi {
			c.Possible = append(c.Possible, i)
			if i != c.Index {
				c.Excess = math.Max(c.Excess, above(c.Score.Hi, v.Lo))
			}
		}
	}
	c.Certain = len(c.Possible) == 1
	return c
}

// LeastGCV picks the γ of a path, as [ridge.Summary.Path], [ridge.SolvePath] or [ridge.SolveExact] return
// it, by generalised cross-validation (G. Golub, M. Heath, G. Wahba, Technometrics
// 21, 1979): the least n·RSS(x*)/(n − df)² of target j, summed over all targets
// where j is negative. The brackets are those of the certificates, so a choice that
// is Certain is the one that exact solutions for these γ would have led to.
//
// scikit-learn's RidgeCV, without cv, scores by leave-one-out errors, Σ(rᵢ/(1−hᵢᵢ))²/n,
// which need the leverages hᵢᵢ of all rows, see [ridge.LeaveOneOut]; GCV puts their mean df/n in
// their place. The two are the same for rows of equal leverage and choose alike where no row
// has much. [CrossValidate] holds rows out in folds.
//
// No fits, a nil one, or a target that they don't have, are [ridge.ErrShape].
func LeastGCV(fits []*ridge.Solution, j int) (Choice, error) {
	if slices.Contains(fits, nil) {
		return Choice{}, rows.Unfit("a fit to choose from is nil")
	}
	return chooseTarget(gcvOf(fits), j)
}

// gcvOf are the brackets of GCV, for each fit and target.
func gcvOf(fits []*ridge.Solution) [][]ridge.Interval {
	gcv := make([][]ridge.Interval, len(fits))
	for i, f := range fits {
		for j := range f.Targets {
			gcv[i] = append(gcv[i], f.Targets[j].GCV)
		}
	}
	return gcv
}

// chooseTarget chooses by the scores of target j, or of all where j is negative; a
// row for each candidate.
func chooseTarget(scores [][]ridge.Interval, j int) (Choice, error) {
	if len(scores) == 0 {
		return Choice{}, rows.Unfit("a choice of nothing")
	}
	sums := make([]ridge.Interval, len(scores))
	for i, targets := range scores {
		if j >= len(targets) {
			return Choice{}, rows.Unfit("target %d of %d", j, len(targets))
		}
		if j >= 0 {
			targets = targets[j : j+1]
		}
		sums[i] = ridge.Interval(total(targets))
	}
	return Least(sums), nil
}

// total is the bracket of a sum of numbers that are not negative.
func total(parts []ridge.Interval) interval.Interval {
	list := make([]interval.Interval, len(parts))
	for i, v := range parts {
		list[i] = interval.Interval(v)
	}
	return interval.Total(list)
}

// Defaults of the options in this package.
const (
	DefaultTol   = 0.01 // how far above the least the score of a choice may be
	DefaultFolds = 5
)
