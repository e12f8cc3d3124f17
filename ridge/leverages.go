package ridge

import (
	"context"
	"fmt"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/direct"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// leaveOneOut makes a pass over src for the leave-one-out errors of fits.
//
// Leverages are computed with the eigenvectors of AᵀA, whose error is relative to ‖AᵀA‖. If this error is not
// far below the smallest γ, generalised eigenproblems (pencils, [certify.Pencil]) are used instead: the units of the
// columns do not affect their error. The columns of the rows are then divided by powers of two, which is exact. There
// are no bounds for pencils of projected rows.
func (e *primal) leaveOneOut(
	ctx context.Context,
	src dataset.Source,
	system *direct.System,
	fits []*Solution,
	opts LeaveOneOutOptions,
) (*LeftOutScores, error) {
	var gammas []float64
	for _, f := range fits {
		if err := checkGamma(f.Gamma, "leave-one-out"); err != nil {
			return nil, err
		}
		gammas = append(gammas, f.Gamma)
	}
	const small = 1e-6 // of γ
	if len(gammas) > 0 &&
		e.opts.Projected == nil &&
		!(gramRoundOff(system) <= small*slices.Min(gammas)) {
		if pencils, scale := pencilsFor(system, gammas); pencils != nil {
			rows := system.Evidence()
			k := certify.Equilibrated(
				e.evidence(system, nil, 0),
				rows.Size*roundoff.Inflate,
				pencils,
				scale,
			)
			if err := checkKnown(k, gammas); err != nil {
				return nil, err
			}
			src, fits, err := equilibrate(src, fits, scale)
			if err != nil {
				return nil, err
			}
			return leaveOneOutOf(ctx, src, k, fits, opts)
		}
	}
	known, err := e.leverages(system)
	if err != nil {
		return nil, err
	}
	if err := checkKnown(known, gammas); err != nil {
		return nil, err
	}
	return leaveOneOutOf(ctx, src, known, fits, opts)
}

// gramRoundOff bounds the round-off of AᵀA.
func gramRoundOff(system *direct.System) float64 {
	rows := system.Evidence()
	_, _, rounding := system.Gram()
	return rounding*roundoff.Unit*rows.Size*rows.Size*roundoff.Inflate + float64(rows.Dim)*roundoff.LostSquares
}

// pencilsFor returns pencils, ascending in γ, and the scale by which they divide the columns. Every γ has a pencil
// that is accurate enough, except perhaps the smallest γ. If no pencil is accurate at any γ, both results are nil.
func pencilsFor(system *direct.System, gammas []float64) (pencils []*certify.Pencil, scale []float64) {
	gammas = slices.Clone(gammas)
	slices.Sort(gammas)
	scale = system.Equilibration(gammas[0])
	var last *certify.Pencil
	for _, g := range gammas {
		if last != nil && last.Serves(g) {
			continue
		}
		if p := system.Pencil(g, scale); p != nil && p.Serves(g) {
			pencils = append(pencils, p)
			last = p
		}
	}
	if pencils == nil {
		return nil, nil
	}
	return pencils, scale
}

// equilibrate divides the columns of src by scale, and multiplies the coefficients of fits by scale.
func equilibrate(
	src dataset.Source,
	fits []*Solution,
	scale []float64,
) (dataset.Source, []*Solution, error) {
	by := &dataset.Scaling{Mean: make([]float64, len(scale)), Scale: scale}
	src, err := by.Apply(src)
	if err != nil {
		return nil, nil, err
	}
	out := make([]*Solution, len(fits))
	for i, f := range fits {
		scaled := *f
		scaled.Targets = slices.Clone(f.Targets)
		for j := range scaled.Targets {
			coef := slices.Clone(f.Targets[j].Coef)
			for at := range coef {
				coef[at] *= scale[at]
			}
			scaled.Targets[j].Coef = coef
		}
		out[i] = &scaled
	}
	return src, out, nil
}

// leverages computes the eigenvectors of AᵀA once, in O(d³) time.
func (e *primal) leverages(system *direct.System) (*certify.Known, error) {
	if e.known != nil {
		return e.known, nil
	}
	k, c, rounding := system.Gram()
	rows := system.Evidence()
	squares := rows.Size * rows.Size * roundoff.Inflate // bounds ‖A‖²_F
	spec, err := fd.WholeSpectrum(
		k,
		fd.Bound{RoundOff: gramRoundOff(system), Frobenius2: squares, Rows: rows.Rows},
		rows.Backend,
	)
	if err != nil {
		return nil, fmt.Errorf("ridge: %w", err)
	}
	evidence := e.evidence(system, c, rounding)
	evidence.Sketch = spec
	e.known = certify.New(evidence)
	return e.known, nil
}

// evidence returns what certificates need to know about the rows, but no sketch. c is the computed AᵀY, and rounding
// is the result of [direct.System.Gram].
func (e *primal) evidence(system *direct.System, c []float64, rounding float64) certify.Evidence {
	rows := system.Evidence()
	return certify.Evidence{
		Backend:   rows.Backend,
		Rows:      rows.Rows,
		Weight:    e.stage.Weight.Value(),
		Weighted:  e.stage.Weighted,
		Intercept: rows.Intercept,
		Projected: rows.Projected,
		Columns:   rows.Columns,
		Reading:   certify.Reading{Sparse: e.sparse},
		Sums: certify.Sums{
			Cross:    c,
			TSS:      rows.TSS,
			NonZero:  e.stage.NonZero,
			Rounding: rounding / 2,
		},
	}
}
