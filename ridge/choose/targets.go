package choose

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/accum"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/rows"
	"github.com/fdridge/fdridge/ridge/reason"
)

// A TargetChoice is the result of choosing a penalty γ for each target separately, by the smallest upper bound on
// the score; see [Least]. Gammas, Scores and Excess have one element for each target.
type TargetChoice struct {
	By         Criterion        `json:"by"`         // the criterion of the scores
	Candidates []float64        `json:"candidates"` // the γ that were tried, ascending
	Gammas     []float64        `json:"gammas"`     // the chosen γ
	Scores     []ridge.Interval `json:"scores"`     // brackets of the scores of the chosen γ
	// Excess holds, for each target, an upper bound on the score of the chosen γ minus the smallest score. If it is
	// 0, the chosen γ is proved to have the smallest score.
	Excess []float64 `json:"excess"`
	// AtEnd[0] is the number of targets whose γ is the smallest candidate. AtEnd[1] is the number of targets whose
	// γ is the largest candidate. A target of pure noise is usually counted in AtEnd[1], because its best γ is
	// +Inf.
	AtEnd  [2]int `json:"at_end"`
	Passes int    `json:"passes"` // as in [GammaChoice]
	Whole  bool   `json:"whole"`  // as in [GammaChoice]
	// Noise brackets the noise variance of each target, as in [GammaChoice].
	Noise []ridge.Interval `json:"noise_variance,omitempty"`
	Spent []reason.Reason  `json:"spent,omitempty"` // as in [GammaChoice]
}

// Proved returns the number of targets whose chosen γ is proved to have the smallest score.
func (c *TargetChoice) Proved() int {
	n := 0
	for _, v := range c.Excess {
		if v == 0 {
			n++
		}
	}
	return n
}

// WorstExcess returns the largest relative excess of all targets, as defined at [Choice.RelativeExcess].
func (c *TargetChoice) WorstExcess() float64 {
	worst := 0.0
	for j, v := range c.Scores {
		one := Choice{Score: v, Excess: c.Excess[j]}
		worst = math.Max(worst, c.By.relativeExcess(&one))
	}
	return worst
}

// EachScore returns brackets of the score of generalised cross-validation (GCV), as defined at [LeastGCV]. The
// scores are for the exact solution for every target and every γ. The bracket of target j at gammas[i] is element
// j·len(gammas) + i.
//
// No coefficients are computed. One matrix product computes all brackets, in O(r) time per γ and target for the r
// eigenvalues of the sketch. The brackets are narrow if the summary holds AᵀA itself, or a sketch that has lost
// nothing. Errors are the errors of [ridge.Summary.Path].
func EachScore(sum *ridge.Summary, gammas []float64) ([]ridge.Interval, error) {
	k, err := accum.KnownOf(sum, ridge.OneShot.String(), 1, gammas...)
	if err != nil {
		return nil, err
	}
	var out []ridge.Interval
	for _, v := range k.GCV(gammas) {
		out = append(out, ridge.Interval(v))
	}
	return out, nil
}

// EachGrid returns the values of the penalty γ that [EachGCV] compares by default. They are the [Grid] of 50 γ,
// extended downwards to the smallest sum of squares of a column. A γ of this extension is left out if the score of
// a target of pure noise is not known to one per cent there.
//
// The candidates do not depend on the targets. So different blocks of targets of the same rows have the same
// candidates. Errors are the errors of [ridge.Summary.Path].
func EachGrid(sum *ridge.Summary) ([]float64, error) {
	grid, err := gridOf(sum, GridSize)
	if err != nil {
		return nil, err
	}
	k, err := accum.KnownOf(sum, ridge.OneShot.String(), 1, grid.Gammas...)
	if err != nil {
		return nil, err
	}
	scores := k.NoiseGCV(grid.Gammas)
	first := grid.start(len(scores), func(i int) ridge.Interval {
		return ridge.Interval(scores[i])
	})
	return grid.Gammas[first:], nil
}

// EachGCV chooses a penalty γ for each target by generalised cross-validation (GCV); see [EachScore]. If candidates
// is nil, the candidates are the result of [EachGrid]. Every target is compared at all candidates.
// TargetChoice.AtEnd counts the targets whose γ is at an end of the grid. Errors are the errors of
// [ridge.Summary.Path].
func EachGCV(sum *ridge.Summary, candidates []float64) (*TargetChoice, error) {
	gammas := Ascending(candidates)
	if candidates == nil {
		var err error
		gammas, err = EachGrid(sum)
		if err != nil {
			return nil, err
		}
	}
	return eachOf(GCV, sum, gammas, EachScore)
}

// Ascending returns the γ in ascending order, without duplicates.
func Ascending(gammas []float64) []float64 {
	gammas = slices.Clone(gammas)
	slices.Sort(gammas)
	return slices.Compact(gammas)
}

// ChooseEach chooses a penalty γ for each target. If oneShot is true, the scores are r.Fitted, for fits from
// sketches. Otherwise they are r.Ridge, for exact solutions.
func (r *CVResult) ChooseEach(oneShot bool) (*TargetChoice, error) {
	if r == nil || len(r.Ridge) == 0 {
		return nil, rows.Unfit("a cross-validation without scores")
	}
	scores := r.Ridge
	if oneShot {
		scores = r.Fitted
	}
	return each(CV, r.Gammas, len(r.Ridge[0]), func(i, j int) (ridge.Interval, float64) {
		return scores[i][j], interval.Interval(r.Fitted[i][j]).Mid()
	}), nil
}

// each chooses one of gammas for each of t targets. score(i, j) returns the bracket and the estimate of the score
// of target j at gammas[i].
func each(
	by Criterion,
	gammas []float64,
	t int,
	score func(i, j int) (ridge.Interval, float64),
) *TargetChoice {
	c := &TargetChoice{By: by, Candidates: gammas}
	scores := make([]ridge.Interval, len(gammas))
	estimates := make([]float64, len(gammas))
	for j := range t {
		for i := range gammas {
			scores[i], estimates[i] = score(i, j)
		}
		best := Least(scores, estimates)
		c.Gammas = append(c.Gammas, gammas[best.Index])
		c.Scores = append(c.Scores, best.Score)
		c.Excess = append(c.Excess, best.Excess)
		if best.Index == 0 {
			c.AtEnd[0]++
		}
		if best.Index == len(gammas)-1 {
			c.AtEnd[1]++
		}
	}
	return c
}
