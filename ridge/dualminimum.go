package ridge

import (
	"context"
	"math"
	"slices"

	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/direct"
	"github.com/fdridge/fdridge/ridge/internal/dual"
)

// needsRows reports whether least squares (γ = 0) is solved by the n×n matrix AAᵀ, because QR needs too much
// memory for d features. The limit for QR is opts.MaxBytes. If n is known (not −1), the limit is also at most
// MaxGramBytes. QR is preferred, because AAᵀ gives fewer correct digits and cannot name the dependent columns.
func needsRows(n int64, d, t int, opts *ExactOptions) bool {
	if opts.LeaveOneOut || opts.Projected != nil {
		return false
	}
	limit := opts.MaxBytes
	if n >= 0 {
		limit = min(limit, MaxGramBytes)
	}
	return direct.Bytes(d, t) > limit && n < int64(d)
}

// minimumNorm returns the least-squares solution of smallest norm, x = Aᵀα with α = (AAᵀ)⁺b for each target
// b. It corrects α by the residual b − Ax, which it computes with twice the digits. The corrections end when the
// part of the residual in the range of A no longer halves. docs/math.md, Proposition 8.11, says what is proved.
func (e *dualExact) minimumNorm(ctx context.Context) (*Solution, error) {
	inverse := e.gram.PseudoInverse(e.opts.Backend)
	if inverse == nil {
		return nil, &SingularError{0, Dual, -1}
	}
	out := &Solution{Outcome: Outcome{
		EffectiveDimension: Interval(e.known.LeastSquaresDimension()),
		Method:             Dual,
		Backend:            e.opts.Backend.Name(),
		Rows:               int64(e.data.N()),
		Status:             MinimumNorm,
		Rank:               inverse.Rank,
	}}
	if e.known.Shift > 0 { // G has an eigenvalue more than AAᵀ
		out.Rank = max(0, inverse.Rank-1)
	}
	block := dual.TargetBlock(e.data.N(), e.d)
	for lo := 0; lo < e.t; lo += block {
		systems := e.systems(0, targetRange{lo, min(lo+block, e.t)}, certify.Dimension{})
		if err := e.refineMinimum(ctx, systems, inverse); err != nil {
			return nil, err
		}
		for _, s := range systems {
			if s.best == nil ||
				slices.ContainsFunc(s.best.X, func(v float64) bool {
					return v-v != 0
				}) {
				return nil, &SingularError{0, Dual, -1}
			}
			total, _ := e.known.TSS[s.Target].Round()
			out.Targets = append(
				out.Targets,
				newTarget(s.best.X, math.Max(0, total), e.data.Total(), s.bounds),
			)
		}
	}
	out.Passes = e.passes
	return out, nil
}

// refineMinimum corrects the solutions of the systems, at most maxMeasurements times. For each system it keeps the
// solution whose measured residual has the smallest part in the range of A.
func (e *dualExact) refineMinimum(
	ctx context.Context,
	systems []*dualSystem,
	inverse *dual.PseudoInverse,
) error {
	for _, s := range systems {
		inverse.Solve(s.residual)
	}
	for range maxMeasurements {
		var open []*dualSystem
		var points []dual.Point
		for _, s := range systems {
			if !s.ended {
				s.Add(s.residual, e.data.Root)
				open, points = append(open, s), append(points, s.Point)
			}
		}
		if len(open) == 0 {
			return nil
		}
		if e.measuresRead {
			e.passes++
		}
		found, err := e.data.Measure(ctx, e.opts.Backend, points)
		if err != nil {
			return err
		}
		for i, s := range open {
			copy(s.residual, found[i].Residual)
			along := inverse.Solve(s.residual)
			if s.best == nil || along < s.norm {
				s.best = found[i]
				s.bounds = e.known.MinimumNorm(s.Target, pointOf(s, found[i]))
			}
			s.ended = !(along < s.norm/2)
			s.norm = along
		}
	}
	return nil
}
