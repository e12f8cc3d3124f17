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
// It normally computes leverages from the eigenvectors of AᵀA. Their error is proportional to ‖AᵀA‖. If this
// error is not far below the smallest γ, it uses generalised eigenproblems ([certify.Pencil]). The units of the
// columns do not affect their error. For them, it divides the columns of the rows by powers of two, which causes no
// round-off. If columns were projected out, it always uses the eigenvectors, because pencils have no bounds then.
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

// pencilsFor returns pencils in ascending order of γ, and the numbers by which they divide the columns. Every γ has
// a pencil that is accurate enough, except perhaps the smallest γ. If no pencil is accurate at any γ, both results
// are nil.
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

// equilibrate divides each column of src by its element of scale. It multiplies the coefficients of fits by the
// same numbers, so that their predictions do not change.
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

// leverages computes the eigenvectors of AᵀA in O(d³) time for d features. Later calls return the stored result.
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

// evidence returns the facts about the rows that certificates need, except the sketch. c is the computed AᵀY.
// rounding is the bound on round-off that [direct.System.Gram] returned.
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
