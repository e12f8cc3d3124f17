package paper

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/ridge"
)

// A LinearModel is the fixed design
//
//	b = A·x₀ + ε,   E ε = 0,   Var ε = τ²·I,   A n×d (each row is a sample),
//
// under which the weights x̂ that a method computes from A and b have a bias
// E x̂ − x₀, a variance and a mean squared error E‖x̂ − x₀‖² (section 3 of the
// paper). It holds the triangular factor of A and the eigenvalues of K: it is for
// experiments, with d up to a few thousand. Several goroutines may use it at once.
type LinearModel struct {
	be    engine.Backend
	d     int
	noise float64   // τ²
	x0    []float64 // x₀
	r     []float64 // R of A = QR, d×d, upper triangular with zeros below
	rx0   []float64 // R·x₀
	trace float64   // tr K
	exact *Estimator
}

// NewLinearModel makes the model of the features of src, whose targets are not
// looked at but must be there, with true weights x0 (d) and noise variance
// τ² = noise >= 0. It takes one pass, O(nd² + d³) time and O(d²) memory. be is
// engine.Default() where it is nil. The arguments are not kept.
//
// Errors: those of src; [ridge.ErrEmpty]; [ridge.ErrShape]; *[ridge.SizeError];
// *[fd.NonFiniteError] and *[fd.RangeError] for rows, and for x0 as row 0;
// [ridge.ErrNoConvergence].
func NewLinearModel(ctx context.Context, src dataset.Source, x0 []float64, noise float64, be engine.Backend) (*LinearModel, error) {
	ctx = background.IfNil(ctx)
	if !(noise >= 0) || math.IsInf(noise, 0) {
		return nil, fmt.Errorf("paper: noise variance %v, must be finite and not negative", noise)
	}
	if be == nil {
		var err error
		if be, err = engine.Default(); err != nil {
			return nil, err
		}
	}
	_, d, _ := src.Dims()
	if len(x0) != d {
		return nil, fmt.Errorf("paper: %w: %d true weights for %d features", ridge.ErrShape, len(x0), d)
	}
	if err := checkRows(1, x0); err != nil {
		return nil, err
	}
	r, err := factor(ctx, src, be)
	if err != nil {
		return nil, err
	}
	m := &LinearModel{be: be, d: d, noise: noise, x0: slices.Clone(x0), r: r, rx0: make([]float64, d), trace: dot(r, r)}
	m.be.Gemv(false, 1, engine.View(d, d, m.r), x0, 0, m.rx0)
	if m.exact, err = m.oneShot("exact", d, m.r); err != nil {
		return nil, err
	}
	clear(m.exact.excess)
	m.exact.bound = &fd.Bound{}
	return m, nil
}
