package ridge

import (
	"fmt"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/direct"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// leverages computes the eigenvectors of AᵀA once, in O(d³) time.
func (e *primal) leverages(system *direct.System, gammas []float64) (*certify.Known, error) {
	for _, g := range gammas {
		if err := checkGamma(g, "leave-one-out"); err != nil {
			return nil, err
		}
	}
	if e.known == nil {
		k, c, rounding := system.Gram()
		rows, d := system.Evidence(), float64(e.d)
		squares := rows.Size * rows.Size * roundoff.Inflate // bounds ‖A‖²_F
		spec, err := fd.WholeSpectrum(k, fd.Bound{RoundOff: rounding*roundoff.Unit*squares + d*roundoff.LostSquares, Frobenius2: squares, Rows: rows.Rows}, rows.Backend)
		if err != nil {
			return nil, fmt.Errorf("ridge: %w", err)
		}
		e.known = certify.New(certify.Evidence{
			Sketch: spec, Backend: rows.Backend, Rows: rows.Rows, Weight: e.stage.Weight.Value(), Weighted: e.stage.Weighted,
			Intercept: rows.Intercept, Projected: rows.Projected, Columns: rows.Columns, Reading: certify.Reading{Sparse: e.sparse},
			Sums: certify.Sums{Cross: c, TSS: rows.TSS, NonZero: e.stage.NonZero, Rounding: rounding / 2},
		})
	}
	return e.known, checkKnown(e.known, gammas)
}
