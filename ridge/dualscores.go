package ridge

import (
	"cmp"
	"context"
	"slices"

	"github.com/fdridge/fdridge/ridge/internal/dual"
)

// solve returns the solution at each penalty γ in gammas. It solves for several γ and a block of targets together.
// The argument block is the number of targets in a block; 0 means the default, dual.TargetBlock.
//
// The argument form asks for coefficients. If form is false, a solution has no coefficients if an error bound of
// the solution is proved. Without such a proof, it has coefficients all the same. If visit is not nil, solve calls
// visit(i, found) for each block of targets, with the fit at gammas[i].
func (e *dualExact) solve(
	ctx context.Context,
	gammas []float64,
	block int,
	form bool,
	visit func(i int, found *dualFit),
) ([]*Solution, error) {
	fits := make([]*Solution, len(gammas))
	batch := e.batch()
	block = cmp.Or(block, dual.TargetBlock(e.data.N(), e.d))
	for from := 0; from < len(gammas); from += batch {
		part := gammas[from:min(from+batch, len(gammas))]
		for lo := 0; lo < e.t; lo += block {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			found, err := e.solveBlock(ctx, part, targetRange{lo, min(lo+block, e.t)}, form)
			if err != nil {
				return nil, err
			}
			for i, f := range found {
				s := e.solution(f)
				if visit != nil {
					visit(from+i, f)
				}
				if before := fits[from+i]; before != nil {
					s.Targets = append(before.Targets, s.Targets...)
				}
				fits[from+i] = s
			}
		}
		for _, s := range fits[from : from+len(part)] {
			for j, drops := 0, !form && s.Proves(); drops && j < len(s.Targets); j++ {
				s.Targets[j].Coef = nil
			}
		}
	}
	return fits, nil
}

// solveWithZero is like solve, but gammas may contain γ = 0.
func (e *dualExact) solveWithZero(
	ctx context.Context,
	gammas []float64,
	block int,
	form bool,
) ([]*Solution, error) {
	isZero := func(g float64) bool { return g == 0 }
	fits, err := e.solve(
		ctx,
		slices.DeleteFunc(slices.Clone(gammas), isZero),
		block,
		form,
		nil,
	)
	if err != nil {
		return nil, err
	}
	for i, g := range gammas {
		if !isZero(g) {
			continue
		}
		one, err := e.minimumNorm(ctx)
		if err != nil {
			return nil, err
		}
		fits = slices.Insert(fits, i, one)
	}
	return fits, nil
}

// solveBlock returns a fit for each γ.
func (e *dualExact) solveBlock(
	ctx context.Context,
	gammas []float64,
	targets targetRange,
	form bool,
) ([]*dualFit, error) {
	if form {
		return e.solveSystems(ctx, gammas, targets)
	}
	found := e.withoutCoefficients(gammas, targets)
	var open []float64
	for i, f := range found {
		if f == nil {
			open = append(open, gammas[i])
		}
	}
	rest, err := e.solveSystems(ctx, open, targets)
	if err != nil {
		return nil, err
	}
	for i, f := range found {
		if f == nil {
			found[i] = rest[0]
			rest = rest[1:]
		}
	}
	return found, nil
}

// withoutCoefficients solves at each γ with the tridiagonal form of AAᵀ, without computing coefficients. If some
// coefficients are needed at a γ, the fit at this γ is nil.
func (e *dualExact) withoutCoefficients(gammas []float64, targets targetRange) []*dualFit {
	fits, systems := e.prepare(gammas, targets)
	points := make([]dual.Unformed, len(systems))
	for i, s := range systems {
		points[i] = dual.Unformed{
			Gamma:     s.Gamma,
			Target:    s.Target,
			Dimension: s.df,
			B:         s.residual,
		}
	}
	e.gram.Unformed(&e.known, e.reduction, points)
	for i, s := range systems {
		s.best, s.bounds = points[i].Found, points[i].Bounds
	}
	for i, f := range fits {
		if f != nil &&
			slices.ContainsFunc(f.systems, func(s *dualSystem) bool {
				return s.best == nil
			}) {
			fits[i] = nil
		}
	}
	return fits
}
