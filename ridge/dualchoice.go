package ridge

import (
	"context"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/dual"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// dualChoice makes the solution at the γ of the least score through G = AAᵀ, of which one reduction
// serves all γ: GCV follows from it, and leave-one-out errors from the diagonal of (G + γI)⁻¹.
func (r *Result) dualChoice(ctx context.Context, src dataset.Source, opts *Options) error {
	e, err := newDual(src, opts.exact(Dual), dualPlan{gammas: gridGCV, leverage: opts.Select == ByLOO})
	if err != nil {
		return err
	}
	if err := e.read(ctx, src); err != nil {
		return err
	}
	r.Choice, err = chooseOf(opts.Candidates, gridOver(e.meanEigenvalue(), gridGCV), func(gammas []float64) ([]candidate, error) {
		if opts.Select == ByLOO {
			return e.leftOut(ctx, gammas)
		}
		fits, err := e.solve(ctx, gammas)
		return byGCV(fits), err
	})
	if err != nil {
		return err
	}
	r.Choice.By, r.Choice.Whole = opts.Select, true
	chosen := *r.Choice.Path[r.Choice.Index]
	if opts.Tol > 0 {
		chosen.Status = chosen.directStatus(opts.Tol)
	}
	chosen.Passes = e.passes
	r.Passes += e.passes
	return r.take(ctx, src, opts, Dual, []float64{chosen.Gamma}, []*Solution{&chosen})
}

// leftOut are the candidates at some γ with their leave-one-out errors.
func (e *dualExact) leftOut(ctx context.Context, gammas []float64) ([]candidate, error) {
	e.reduce()
	if e.turned != nil && e.columns == nil {
		e.columns = dual.Columns(e.turned, e.data.N())
	}
	out := make([]candidate, 0, len(gammas))
	for part := range slices.Chunk(gammas, e.batch()) {
		found, err := e.find(ctx, part)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			out = append(out, candidate{e.solution(f), e.leftOutOf(f)})
		}
	}
	return out, nil
}

// leftOutOf are the leave-one-out errors of what was found at a γ, for each target.
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
