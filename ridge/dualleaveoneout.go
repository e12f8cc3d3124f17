package ridge

import (
	"context"
	"slices"

	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/dual"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// leftOut returns the solutions at gammas and their leave-one-out errors.
func (e *dualExact) leftOut(ctx context.Context, gammas []float64) ([]*Solution, [][]Interval, error) {
	e.reduce()
	if e.turned != nil && e.columns == nil {
		e.columns = dual.Columns(e.turned, e.data.N())
	}
	fits, scores := make([]*Solution, 0, len(gammas)), make([][]Interval, 0, len(gammas))
	for part := range slices.Chunk(gammas, e.batch()) {
		found, err := e.find(ctx, part)
		if err != nil {
			return nil, nil, err
		}
		for _, f := range found {
			fits, scores = append(fits, e.solution(f)), append(scores, e.leftOutOf(f))
		}
	}
	return fits, scores, nil
}

// leftOutOf returns the leave-one-out error of each target at one γ.
func (e *dualExact) leftOutOf(found *dualFit) []Interval {
	gamma, out := found.systems[0].Gamma, make([]Interval, e.t)
	for j := range out {
		out[j] = Interval(interval.Nonnegative())
	}
	factored, ok := e.reduced(gamma)
	if !ok {
		return out
	}
	left := certify.DualLeft{
		Diagonal: dual.InverseDiagonal(e.turned, e.columns, gamma), Norms: e.gram.RowNorms(), Share: e.data.Share(),
	}
	for j, s := range found.systems {
		left.Missed, left.Off, left.Energy = s.found.Missed, s.found.Off, s.bounds.Energy
		out[j] = Interval(e.known.LeftOut(factored, &left))
	}
	return out
}
