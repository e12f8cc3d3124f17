package ridge_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/ridgetest"
)

// tall is n rows of d features of N(0, 1), far from the origin by offset, and a target
// that they explain.
func tall(n, d int, offset float64) table {
	r := rand.New(rand.NewPCG(20, uint64(d)))
	var p table
	for range n {
		row, y := make([]float64, d), r.NormFloat64()
		for j := range row {
			row[j] = offset + r.NormFloat64()
			y += float64(j+1) * (row[j] - offset)
		}
		p.x, p.y = append(p.x, row), append(p.y, []float64{y})
	}
	return p
}

// TestLeastEigenvalue: where the sketch spans all features, the least eigenvalue of K
// bounds errors in the place of γ.
func TestLeastEigenvalue(t *testing.T) {
	p := tall(20000, 8, 0)
	sum := must(ridge.Summarize(t.Context(), p, ridge.SummaryConfig{Size: 8}, nil))(t)
	truth := p.truth(false)
	for _, gamma := range []float64{1e-6, 1, 1e3} {
		f := must(sum.Fit(gamma))(t)
		ridgetest.Certificate(t, truth, f)
		if v := f.Certificate.RelativeErrorBound[0]; !(v <= 1e-10) {
			t.Errorf("γ = %g: a relative error of %g is certified", gamma, v)
		} else {
			t.Logf("γ = %g: %g", gamma, v)
		}
	}
}

// TestOffset: means that are rounded move the gradient of a pass to second order only.
func TestOffset(t *testing.T) {
	p := tall(2000, 4, 1e8)
	sum := must(ridge.Summarize(t.Context(), p, ridge.SummaryConfig{Size: 4, Intercept: true}, nil))(t)
	truth := p.truth(true)
	f, err := ridge.Solve(t.Context(), p, sum, 1, ridge.SolveOptions{Tol: 1e-13})
	if short, ok := errors.AsType[*ridge.NotConvergedError](err); ok {
		f, err = short.Fits[0], nil
	}
	check(t, err)
	ridgetest.Certificate(t, truth, f)
	if v := f.Certificate.RelativeErrorBound[0]; !(v <= 1e-12) {
		t.Errorf("a relative error of %g is certified", v)
	} else {
		t.Logf("%g", v)
	}
	g := must(ridge.Exact(t.Context(), p, []float64{1}, ridge.ExactOptions{Intercept: true}))(t)[0]
	ridgetest.Certificate(t, truth, g)
	t.Logf("exact: %g", g.Certificate.RelativeErrorBound[0])
}
