package choose

import (
	"context"
	"slices"
	"sort"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// cvScores holds the scores for each penalty γ and each target, see [CVResult].
type cvScores struct {
	gammas        []float64
	fitted, ridge [][]ridge.Interval
}

// scores returns the mean squared errors over all rows.
func scores(gammas []float64, folds []fold, all *ridge.Summary) cvScores {
	n := all.Weight()
	t := all.Config().Targets
	round := all.RelativeWeightError() // finite, because the weight is positive
	s := cvScores{gammas: gammas}
	for i := range gammas {
		fitted := make([]ridge.Interval, t)
		ridge := make([]ridge.Interval, t)
		for j := range t {
			var ofFits, ofExact []interval.Interval
			for _, f := range folds {
				ofFits = append(ofFits, f.errors[i*t+j])
				exact := interval.WidenRoot(f.errors[i*t+j], f.shift[i*t+j])
				ofExact = append(ofExact, exact)
			}
			fitted[j] = perWeight(interval.Total(ofFits), n, round)
			ridge[j] = perWeight(interval.Total(ofExact), n, round)
		}
		s.fitted = append(s.fitted, fitted)
		s.ridge = append(s.ridge, ridge)
	}
	return s
}

// extendGrid extends the grid beyond its end, if the best γ is there. It repeats this as long as the choice
// improves. all is the summary of all rows.
func (v *validation) extendGrid(
	ctx context.Context,
	s cvScores,
	all *ridge.Summary,
) (cvScores, error) {
	for range maxExtensions {
		fitted, ridge, err := s.best()
		if err != nil {
			return s, err
		}
		more := gammasBeyond(s.gammas, fitted.Index, gridCV/2)
		if ridge.Index != fitted.Index {
			more = append(more, gammasBeyond(s.gammas, ridge.Index, gridCV/2)...)
		}
		if len(more) == 0 {
			break
		}
		folds, err := v.fit(ctx, more)
		if err != nil {
			return s, err
		}
		next := s.merged(scores(more, folds, all))
		nextFitted, nextRidge, err := next.best()
		if err != nil {
			return s, err
		}
		if !(nextFitted.Score.Hi < fitted.Score.Hi) &&
			!(nextRidge.Score.Hi < ridge.Score.Hi) {
			break
		}
		s = next
		if !shouldExtendGrid(CV, fitted, nextFitted) &&
			!shouldExtendGrid(CV, ridge, nextRidge) {
			break
		}
	}
	return s, nil
}

// best chooses γ by s.fitted and by s.ridge.
func (s cvScores) best() (fitted, ridge Choice, err error) {
	fitted, err = chooseTarget(s.fitted, nil, -1)
	if err == nil {
		ridge, err = chooseTarget(s.ridge, midpoints(s.fitted), -1)
	}
	return fitted, ridge, err
}

func midpoints(scores [][]ridge.Interval) [][]float64 {
	out := make([][]float64, len(scores))
	for i, targets := range scores {
		for _, v := range targets {
			out[i] = append(out[i], interval.Interval(v).Mid())
		}
	}
	return out
}

// merged returns the scores of s and o together, in ascending order of γ.
func (s cvScores) merged(o cvScores) cvScores {
	order := make([]int, len(s.gammas)+len(o.gammas))
	for i := range order {
		order[i] = i
	}
	both := cvScores{
		slices.Concat(s.gammas, o.gammas),
		slices.Concat(s.fitted, o.fitted),
		slices.Concat(s.ridge, o.ridge),
	}
	sort.Slice(order, func(i, j int) bool {
		return both.gammas[order[i]] < both.gammas[order[j]]
	})
	var out cvScores
	for _, i := range order {
		out.gammas, out.fitted, out.ridge = append(out.gammas, both.gammas[i]),
			append(out.fitted, both.fitted[i]), append(out.ridge, both.ridge[i])
	}
	return out
}

func perWeight(v interval.Interval, weight, round float64) ridge.Interval {
	return ridge.Interval(interval.PerWeight(v, weight, round))
}
