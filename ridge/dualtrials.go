package ridge

import (
	"context"
	"math"
	"slices"
	"sort"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/dual"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// Constants of leave-one-out errors without AAᵀ.
const (
	// While γ is chosen, conjugate gradients solve at each candidate to the relative error choiceTol. They stop
	// after choiceSteps steps. The brackets of the scores include the errors that remain.
	choiceTol, choiceSteps = 1e-7, 400
	// scoreTol is the wanted relative width of the bracket of a leave-one-out error.
	scoreTol = 5e-3
	// deepTrials is the number of trial vectors for each row whose leverage needs a narrower bracket.
	deepTrials = 3
)

// usesTrials reports whether trial vectors bracket the leverages of the rows. For few rows, AAᵀ is factorised
// instead, because this costs little.
func (e *dualExact) usesTrials() bool {
	kept, ok := e.data.(*dual.Rows)
	return ok &&
		e.method == DualCG &&
		kept.Sparse() &&
		kept.N() > 2*dual.SharedTrials
}

// leaveOneOutByTrials solves by conjugate gradients, without AAᵀ. It brackets the leverages of the rows by trial
// vectors. First, every row gets one trial vector of its own. Then some rows get deepTrials trial vectors each: the
// rows that widen the brackets of the scores most. The third result is false if there are no trial vectors.
func (e *dualExact) leaveOneOutByTrials(
	ctx context.Context,
	gammas []float64,
	receive func(int, dataset.Block, []Interval, []float64),
) ([]*Solution, *LeftOutScores, bool, error) {
	kept := e.data.(*dual.Rows)
	if e.trials == nil {
		e.trials = kept.NewLeverages(e.opts.Backend, dual.SharedTrials)
		if e.trials == nil {
			return nil, nil, false, nil
		}
		e.rowNorms = e.trials.RowNorms()
	}
	all := make([]int, kept.N())
	free := make([][]interval.Interval, len(gammas))
	for i := range all {
		all[i] = i
	}
	for g := range gammas {
		free[g] = slices.Repeat([]interval.Interval{{Lo: 0, Hi: 1}}, kept.N())
	}
	e.trials.Narrow(gammas, all, 1, free)
	if err := ctx.Err(); err != nil {
		return nil, nil, true, err
	}
	found := make([]*dualFit, len(gammas))
	for g, gamma := range gammas {
		var err error
		found[g], err = e.solveForChoice(ctx, gamma)
		if err != nil {
			return nil, nil, true, err
		}
	}
	lefts := make([][]certify.DualLeft, len(gammas))
	for g := range gammas {
		lefts[g] = e.leftOf(found[g], kept)
	}
	if rows := e.rowsToNarrow(gammas, free, lefts); len(rows) > 0 {
		e.trials.Narrow(gammas, rows, deepTrials, free)
	}
	scores := &LeftOutScores{Bounds: make([][]Interval, len(gammas))}
	fits := make([]*Solution, len(gammas))
	for g, gamma := range gammas {
		df := e.known.DimensionOf(gamma, free[g])
		e.dimensions[gamma] = df
		levers := make([]certify.Leverage, kept.N())
		for j := range lefts[g] {
			lefts[g][j].Levers = levers
			score := e.known.LeftOutOf(gamma, free[g], &lefts[g][j])
			scores.Bounds[g] = append(scores.Bounds[g], Interval(score))
		}
		for _, s := range found[g].systems {
			s.df = df
			s.bounds = e.weights(s, s.best)
		}
		if receive != nil {
			b, brackets, estimates := e.leftOutPredictions(found[g], levers)
			receive(g, b, brackets, estimates)
		}
		fits[g] = e.solution(found[g])
		for j := range fits[g].Targets {
			fits[g].Targets[j].Coef = nil // too inaccurate to return
		}
	}
	return fits, scores, true, nil
}

// leftOf returns, for each target of a fit, all that is needed for the leave-one-out errors besides the leverages.
func (e *dualExact) leftOf(found *dualFit, kept *dual.Rows) []certify.DualLeft {
	out := make([]certify.DualLeft, len(found.systems))
	for j, s := range found.systems {
		out[j] = certify.DualLeft{
			Norms:  e.rowNorms,
			Share:  kept.Share(),
			Missed: s.best.Missed,
			Off:    s.best.Off,
			Energy: s.bounds.Energy,
		}
	}
	return out
}

// rowsToNarrow returns the rows whose leverages have to be bracketed more narrowly. free[g] holds the present
// brackets at gammas[g]. All other rows together widen the bracket of a score by at most half the wanted width. The
// wanted width is larger for a score far above the best score. Scores that are not known within a factor of two are
// ignored.
func (e *dualExact) rowsToNarrow(
	gammas []float64,
	free [][]interval.Interval,
	lefts [][]certify.DualLeft,
) []int {
	n := len(free[0])
	scores := make([]interval.Interval, len(gammas))
	least := math.Inf(1)
	for g, gamma := range gammas {
		for j := range lefts[g] {
			v := e.known.LeftOutOf(gamma, free[g], &lefts[g][j])
			scores[g].Lo += v.Lo
			scores[g].Hi += v.Hi
		}
		least = math.Min(least, scores[g].Mid())
	}
	// need[i] is the width that row i adds to a score, divided by half the wanted width. It is the largest such
	// quotient of all scores.
	need := make([]float64, n)
	var shares [][]float64
	for g, gamma := range gammas {
		if v := scores[g]; !(v.Hi <= 2*v.Lo) {
			continue
		}
		wanted := math.Max(scoreTol*least, (scores[g].Mid()-least)/2) / 2 * float64(e.known.Rows)
		widths := make([]float64, n)
		for j := range lefts[g] {
			lefts[g][j].Spread(gamma, free[g], widths)
		}
		vec.Scale(1/wanted, widths)
		for i, v := range widths {
			need[i] = math.Max(need[i], v)
		}
		shares = append(shares, widths)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool {
		return need[order[a]] < need[order[b]]
	})
	rest := make([]float64, len(shares))
	kept := 0
	for _, i := range order { // the rows that may keep their brackets
		for g := range shares {
			rest[g] += shares[g][i]
		}
		if !(len(rest) == 0 || slices.Max(rest) <= 1) {
			break
		}
		kept++
	}
	rows := slices.Clone(order[kept:])
	slices.Sort(rows)
	return rows
}

// solveForChoice solves for all targets at one γ by conjugate gradients. The relative error is choiceTol, or larger
// if choiceSteps steps are not enough.
func (e *dualExact) solveForChoice(ctx context.Context, gamma float64) (*dualFit, error) {
	f, _, err := e.conjugateGradients(
		ctx,
		gamma,
		targetRange{0, e.t},
		choiceTol,
		choiceSteps,
	)
	if err == nil && f == nil {
		err = &SingularError{gamma, DualCG, -1}
	}
	return f, err
}
