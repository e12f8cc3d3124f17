package ridge

import (
	"context"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/dual"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// leaveOneOut solves at all gammas and computes the leave-one-out errors of the solutions. The leverages of the
// rows come from AAᵀ or, for many sparse rows, from trial vectors.
func (e *dualExact) leaveOneOut(
	ctx context.Context,
	gammas []float64,
	receive func(int, dataset.Block, []Interval, []float64),
) ([]*Solution, *LeftOutScores, error) {
	if e.usesTrials() {
		if fits, scores, ok, err := e.leaveOneOutByTrials(ctx, gammas, receive); ok || err != nil {
			return fits, scores, err
		}
	}
	if err := e.switchToGram(ctx); err != nil {
		return nil, nil, err
	}
	e.reduce()
	scores := &LeftOutScores{Bounds: make([][]Interval, len(gammas))}
	block := 0
	if receive != nil {
		block = e.t // a decision compares all targets
	}
	fits, err := e.solve(ctx, gammas, block, false, func(i int, f *dualFit) {
		bounds, levers := e.leftOutErrors(f)
		scores.Bounds[i] = append(scores.Bounds[i], bounds...)
		if receive != nil {
			b, brackets, estimates := e.leftOutPredictions(f, levers)
			receive(i, b, brackets, estimates)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	return fits, scores, nil
}

// leftOutPredictions returns the arguments of LeaveOneOutOptions.Left for all rows.
func (e *dualExact) leftOutPredictions(
	found *dualFit,
	levers []certify.Leverage,
) (b dataset.Block, brackets []Interval, estimates []float64) {
	b.N = e.data.N()
	for i := range b.N {
		root := e.data.Root(i)
		b.W = append(b.W, e.data.Weight(i))
		for j, s := range found.systems {
			y := e.data.Y(i, j)
			v, at := levers[i].Unweighted(
				y,
				root,
				s.best.Missed[i],
				s.best.Off+s.bounds.Energy,
			)
			b.Y = append(b.Y, y)
			brackets = append(brackets, Interval(v))
			estimates = append(estimates, at)
		}
	}
	return b, brackets, estimates
}

// leftOutErrors returns the leave-one-out error of each target, and the leverages of the rows.
func (e *dualExact) leftOutErrors(found *dualFit) ([]Interval, []certify.Leverage) {
	gamma := found.systems[0].Gamma
	out := make([]Interval, len(found.systems))
	for j := range out {
		out[j] = Interval(interval.Nonnegative())
	}
	factored, ok := e.factorAt(gamma)
	levers := make([]certify.Leverage, e.data.N())
	if !ok {
		return out, levers
	}
	left := certify.DualLeft{
		Diagonal: dual.InverseDiagonal(e.reduction, e.columns, gamma),
		Norms:    e.gram.RowNorms(),
		Share:    e.data.Share(),
		Levers:   levers,
	}
	for j, s := range found.systems {
		left.Missed = s.best.Missed
		left.Off = s.best.Off
		left.Energy = s.bounds.Energy
		out[j] = Interval(e.known.LeftOut(factored, &left))
	}
	return out, levers
}
