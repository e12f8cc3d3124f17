package ridge

import (
	"cmp"
	"context"

	"github.com/fdridge/fdridge/ridge/internal/dual"
)

// maxFormed is the largest number of coefficients that a dual method forms at each γ to choose γ.
const maxFormed = 1 << 20

// isLarge reports whether the choice of γ forms no coefficients.
func (e *dualExact) isLarge() bool { return e.t > maxFormed/e.d }

// solve solves for batches of γ and for blocks of targets. A block of 0 means dual.TargetBlock(n, d). If form is false, large
// coefficients are not formed. If visit is not nil, it is called for each γ and each block of targets.
func (e *dualExact) solve(ctx context.Context, gammas []float64, block int, form bool, visit func(i int, found *dualFit)) ([]*Solution, error) {
	fits, batch := make([]*Solution, len(gammas)), e.batch()
	if form = form || !e.isLarge(); !form {
		batch = 1
	}
	block = cmp.Or(block, dual.TargetBlock(e.data.N(), e.d))
	for from := 0; from < len(gammas); from += batch {
		part := gammas[from:min(from+batch, len(gammas))]
		for lo := 0; lo < e.t; lo += block {
			targets := targetRange{lo, min(lo+block, e.t)}
			var found []*dualFit
			if !form {
				found = e.withoutCoefficients(part[0], targets)
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if found == nil {
				var err error
				if found, err = e.solveSystems(ctx, part, targets); err != nil {
					return nil, err
				}
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
		if all := fits[from]; !form && all.Proves() {
			for j := range all.Targets {
				all.Targets[j].Coef = nil
			}
		}
	}
	return fits, nil
}

// withoutCoefficients solves at one γ with the tridiagonal form of G. It returns nil if coefficients are needed.
func (e *dualExact) withoutCoefficients(gamma float64, targets targetRange) []*dualFit {
	if e.method == DualCG || !e.plan.shouldReduce() {
		return nil
	}
	e.reduce()
	factored, ok := e.factorAt(gamma)
	if !ok {
		return nil
	}
	systems := e.systems(gamma, targets, e.known.Dimension(factored))
	found, bounds := e.gram.Unformed(&e.known, e.reduction, gamma, systems[0].df, targets.lo, gatherResiduals(systems))
	if found == nil {
		return nil
	}
	for i, s := range systems {
		s.best, s.bounds = found[i], bounds[i]
	}
	return []*dualFit{{systems, Dual}}
}
