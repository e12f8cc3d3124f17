package choose

import (
	"context"
	"slices"
	"sort"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// cvScores are what a cross-validation has found for each γ and target, see [CVResult].
type cvScores struct {
	gammas        []float64
	fitted, ridge [][]ridge.Interval
}

// scores are the mean errors over all rows, given those of the folds for each γ and target.
func scores(gammas []float64, folds []fold, all *ridge.Summary) cvScores {
	n, t := all.Weight(), all.Config().Targets
	round := all.RelativeWeightError() // there is one
	s := cvScores{gammas: gammas}
	for i := range gammas {
		fitted, ridge := make([]ridge.Interval, t), make([]ridge.Interval, t)
		for j := range t {
			var missed, moved []interval.Interval
			for _, f := range folds {
				missed = append(missed, f.missed[i*t+j])
				moved = append(moved, interval.WidenRoot(f.missed[i*t+j], f.shift[i*t+j]))
			}
			fitted[j], ridge[j] = perWeight(interval.Total(missed), n, round), perWeight(interval.Total(moved), n, round)
		}
		s.fitted, s.ridge = append(s.fitted, fitted), append(s.ridge, ridge)
	}
	return s
}

// goOn makes the fits for further γ where the best one is at an end of the grid, from the
// summaries of the folds, as [Gamma] does.
func (v *validation) goOn(ctx context.Context, s cvScores, all *ridge.Summary) (cvScores, error) {
	for range mostMore {
		fitted, ridge, err := s.best()
		if err != nil {
			return s, err
		}
		more := beyond(s.gammas, fitted.Index, gridCV/2)
		if ridge.Index != fitted.Index {
			more = append(more, beyond(s.gammas, ridge.Index, gridCV/2)...)
		}
		if len(more) == 0 {
			break
		}
		folds, err := v.fit(ctx, more)
		if err != nil {
			return s, err
		}
		next := s.with(scores(more, folds, all))
		nextFitted, nextRidge, err := next.best()
		if err != nil {
			return s, err
		}
		if !(nextFitted.Score.Hi < fitted.Score.Hi) && !(nextRidge.Score.Hi < ridge.Score.Hi) {
			break
		}
		if s = next; !goesOn(fitted, nextFitted) && !goesOn(ridge, nextRidge) {
			break
		}
	}
	return s, nil
}

// best chooses by the scores of one-shot fits, and by those of exact solutions, over all
// targets.
func (s cvScores) best() (fitted, ridge Choice, err error) {
	if fitted, err = chooseTarget(s.fitted, -1); err == nil {
		ridge, err = chooseTarget(s.ridge, -1)
	}
	return fitted, ridge, err
}

// from are the scores from the i-th γ on.
func (s cvScores) from(i int) cvScores { return cvScores{s.gammas[i:], s.fitted[i:], s.ridge[i:]} }

// with are the scores of s and of o, by ascending γ.
func (s cvScores) with(o cvScores) cvScores {
	order := make([]int, len(s.gammas)+len(o.gammas))
	for i := range order {
		order[i] = i
	}
	both := cvScores{slices.Concat(s.gammas, o.gammas), slices.Concat(s.fitted, o.fitted), slices.Concat(s.ridge, o.ridge)}
	sort.Slice(order, func(i, j int) bool { return both.gammas[order[i]] < both.gammas[order[j]] })
	var out cvScores
	for _, i := range order {
		out.gammas, out.fitted, out.ridge = append(out.gammas, both.gammas[i]), append(out.fitted, both.fitted[i]), append(out.ridge, both.ridge[i])
	}
	return out
}

func perWeight(v interval.Interval, weight, round float64) ridge.Interval {
	return ridge.Interval(interval.PerWeight(v, weight, round))
}
