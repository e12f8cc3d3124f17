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

// A Choice is the result of choosing among candidates by their scores; the smallest score is best. Of each score
// only a bracket and an estimate are known.
type Choice struct {
	// Index is the index of the chosen candidate. Its score has the smallest upper bound; see [Least].
	Index int `json:"index" null:"-1"`
	// Score is the bracket of the score of the chosen candidate, and Estimate is an estimate inside it.
	Score    ridge.Interval `json:"score"`
	Estimate float64        `json:"estimate" null:"+Inf"`
	// Certain is true if it is proved that no other candidate has a smaller score than the chosen one.
	Certain bool `json:"certain"`
	// Possible lists the indices of the candidates that may have the smallest score, ascending. Index is among
	// them. The lower bound of each of these scores is at most the smallest upper bound of all scores.
	Possible []int `json:"possible"`
	// Excess is an upper bound on the difference between the score of the chosen candidate and the smallest score.
	Excess float64 `json:"excess" null:"+Inf"`
}

// RelativeExcess returns an upper bound on Excess divided by the smallest score of all candidates. For example,
// 0.01 means one per cent. The bound is 0 if the choice is certain and +Inf if nothing is known.
func (c *Choice) RelativeExcess() float64 {
	least := c.Score.Hi - c.Excess
	switch {
	case c.Excess == 0:
		return 0
	case !(least > 0): // also true for NaN
		return math.Inf(1)
	}
	return math.Nextafter(c.Excess/least*(1+4*roundoff.Eps), math.Inf(1)) // the quotient may underflow
}

// roundedDifference returns hi − lo, rounded up.
func roundedDifference(hi, lo float64) float64 {
	v, rest := twofold.Sum(hi, -lo)
	if rest > 0 {
		return math.Nextafter(v, math.Inf(1))
	}
	return v
}

// Least chooses the candidate whose score has the smallest upper bound. If several candidates have this upper
// bound, the smallest estimate decides. scores[i] is the bracket of the score of candidate i.
//
// If an estimate is missing, NaN or outside its bracket, the midpoint of the bracket is used instead. A NaN bracket
// means that nothing is known of the score. If there are no candidates, Choice.Index is −1.
func Least(scores []ridge.Interval, estimates []float64) Choice {
	c := Choice{
		Index:    -1,
		Score:    ridge.Interval{Lo: math.Inf(-1), Hi: math.Inf(1)},
		Estimate: math.Inf(1),
	}
	known, most := make([]ridge.Interval, len(scores)), math.Inf(1) // most is the smallest upper bound
	for i, v := range scores {
		if math.IsNaN(v.Lo) || math.IsNaN(v.Hi) {
			v = ridge.Interval{Lo: math.Inf(-1), Hi: math.Inf(1)}
		}
		known[i] = v
		most = math.Min(most, v.Hi)
		at := math.NaN()
		if estimates != nil {
			at = estimates[i]
		}
		at = interval.Interval(v).Estimate(at)
		if c.Index < 0 ||
			v.Hi < c.Score.Hi ||
			v.Hi == c.Score.Hi && at < c.Estimate {
			c.Index = i
			c.Score = v
			c.Estimate = at
		}
	}
	for i, v := range known {
		if i == c.Index || v.Lo <= most {
			c.Possible = append(c.Possible, i)
			if i != c.Index {
				c.Excess = math.Max(c.Excess, roundedDifference(c.Score.Hi, v.Lo))
			}
		}
	}
	c.Certain = len(c.Possible) == 1
	return c
}

// LeastGCV chooses one of fits, which are solutions at several γ. It chooses the smallest score of target j by
// generalised cross-validation (G. Golub, M. Heath, G. Wahba, Technometrics 21, 1979):
//
//	GCV = n·RSS(x*)/(n − df)²
//
// n is the number of rows, RSS(x*) the sum of squared residuals of the exact solution x*, and df its degrees of
// freedom. If j is negative, LeastGCV uses the sum over all targets. fits is a result of [ridge.Summary.Path],
// [ridge.SolvePath] or [ridge.SolveExact]. The brackets come from the certificates. If the choice is Certain, exact
// solutions would give the same choice.
//
// scikit-learn's RidgeCV without cv uses the leave-one-out error Σ(rᵢ/(1−hᵢᵢ))²/n instead, with the residual
// rᵢ and the leverage hᵢᵢ of row i, see [ridge.LeaveOneOut]. GCV replaces each leverage by their mean df/n. The
// two scores are equal if all leverages are equal, and similar if all are small.
//
// The error is [ridge.ErrShape] if there are no fits, if a fit is nil, or if target j does not exist.
func LeastGCV(fits []*ridge.Solution, j int) (Choice, error) {
	if slices.Contains(fits, nil) {
		return Choice{}, rows.Unfit("a fit to choose from is nil")
	}
	return chooseTarget(gcvOf(fits), nil, j)
}

func gcvOf(fits []*ridge.Solution) [][]ridge.Interval {
	gcv := make([][]ridge.Interval, len(fits))
	for i, f := range fits {
		for _, o := range f.Targets {
			gcv[i] = append(gcv[i], o.GCV)
		}
	}
	return gcv
}

// chooseTarget chooses a candidate by the scores of target j. If j is negative, it chooses by the sums of the
// scores over all targets. scores[i][j] brackets the score of candidate i for target j.
func chooseTarget(scores [][]ridge.Interval, estimates [][]float64, j int) (Choice, error) {
	if len(scores) == 0 {
		return Choice{}, rows.Unfit("a choice of nothing")
	}
	sums := make([]ridge.Interval, len(scores))
	at := make([]float64, len(scores))
	for i, targets := range scores {
		if j >= len(targets) {
			return Choice{}, rows.Unfit("target %d of %d", j, len(targets))
		}
		for k, v := range targets {
			if j >= 0 && k != j {
				continue
			}
			e := math.NaN()
			if estimates != nil && k < len(estimates[i]) {
				e = estimates[i][k]
			}
			at[i] += interval.Interval(v).Estimate(e)
		}
		if j >= 0 {
			targets = targets[j : j+1]
		}
		sums[i] = ridge.Interval(sumBrackets(targets))
	}
	return Least(sums, at), nil
}

// sumBrackets returns a bracket of a sum.
func sumBrackets(parts []ridge.Interval) interval.Interval {
	list := make([]interval.Interval, len(parts))
	for i, v := range parts {
		list[i] = interval.Interval(v)
	}
	return interval.Total(list)
}

// Defaults of the options.
const (
	DefaultTol   = 0.01 // largest accepted relative excess of the chosen score
	DefaultFolds = 5
)
