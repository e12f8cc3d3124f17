package ridge_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// tall is n rows of d features of N(0, 1), far from the origin by offset, and a target
// that they explain.
func tall(n, d int, offset float64) testkit.Table {
	r := rand.New(rand.NewPCG(20, uint64(d)))
	var p testkit.Table
	for range n {
		row, y := make([]float64, d), r.NormFloat64()
		for j := range row {
			row[j] = offset + r.NormFloat64()
			y += float64(j+1) * (row[j] - offset)
		}
		p.X, p.Y = append(p.X, row), append(p.Y, []float64{y})
	}
	return p
}

// TestLeastEigenvalue: where the sketch spans all features, the least eigenvalue of K
// bounds errors in the place of γ.
func TestLeastEigenvalue(t *testing.T) {
	p := tall(20000, 8, 0)
	sum := testkit.Must(ridge.Summarize(t.Context(), p, ridge.SummaryConfig{Size: 8}, nil))(t)
	truth := p.Truth(false)
	for _, gamma := range []float64{1e-6, 1, 1e3} {
		f := testkit.Must(sum.Fit(gamma))(t)
		testkit.Certificate(t, truth, f)
		if v := f.Targets[0].RelativeErrorBound; !(v <= 1e-10) {
			t.Errorf("γ = %g: a relative error of %g is certified", gamma, v)
		} else {
			t.Logf("γ = %g: %g", gamma, v)
		}
	}
}

// TestOffset: means that are rounded move the gradient of a pass to second order only,
// and so much is counted.
func TestOffset(t *testing.T) {
	for _, c := range []struct{ offset, tol float64 }{{1e8, 1e-13}, {1e12, 1e-6}} {
		p := tall(2000, 4, c.offset)
		sum := testkit.Must(ridge.Summarize(t.Context(), p, ridge.SummaryConfig{Size: 4, Intercept: true}, nil))(t)
		truth := p.Truth(true)
		// To a loose tolerance no gradient is measured with twice the digits.
		for tol := 1.0; tol > 1e-14; tol /= 10 {
			loose, err := ridge.Solve(t.Context(), p, sum, 1, ridge.SolveOptions{Tol: tol})
			if short, ok := errors.AsType[*ridge.NotConvergedError](err); ok {
				loose, err = short.Solutions[0], nil
			}
			testkit.Check(t, err)
			testkit.Certificate(t, truth, loose)
		}
		f, err := ridge.Solve(t.Context(), p, sum, 1, ridge.SolveOptions{Tol: 1e-14})
		if short, ok := errors.AsType[*ridge.NotConvergedError](err); ok {
			f, err = short.Solutions[0], nil
		}
		testkit.Check(t, err)
		testkit.Certificate(t, truth, f)
		testkit.Certificate(t, truth, testkit.Must(sum.Fit(1))(t))
		if v := f.Targets[0].RelativeErrorBound; !(v <= c.tol) {
			t.Errorf("offset %g: a relative error of %g is certified", c.offset, v)
		}
		testkit.Certificate(
			t,
			truth,
			testkit.Must(ridge.SolveExact(t.Context(), p, []float64{1}, ridge.ExactOptions{Intercept: true}))(t)[0],
		)
	}
}

// TestNearlySingular: where the sketch spans all features and K is singular but for
// round-off, its least eigenvalue is no more certain than that.
func TestNearlySingular(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 1))
	for range 400 {
		d := 2 + r.IntN(3)
		apart := math.Pow(10, -9+5*r.Float64())
		if r.IntN(3) == 0 {
			apart = 0
		}
		var p testkit.Table
		for range d + 5 + r.IntN(40) {
			row, u := make([]float64, d), r.NormFloat64()
			for j := range row {
				row[j] = u*float64(1+j%2)/3 + apart*r.NormFloat64()
			}
			p.X, p.Y = append(p.X, row), append(p.Y, []float64{u + r.NormFloat64()})
		}
		sum := testkit.Must(ridge.Summarize(t.Context(), p, ridge.SummaryConfig{Size: d}, nil))(t)
		truth := p.Truth(false)
		for _, gamma := range []float64{1e-20, 1e-16, 1e-13, 1e-9} {
			testkit.Certificate(t, truth, testkit.Must(sum.Fit(gamma))(t))
			if t.Failed() {
				t.Fatalf("γ = %g, apart %g, rows %v", gamma, apart, p.X)
			}
		}
	}
}

// TestSparseFar: a pass centres sparse rows from where they are, so that their distance
// from zero counts.
func TestSparseFar(t *testing.T) {
	for _, offset := range []float64{1e5, 1e8} {
		p := tall(600, 3, offset)
		p.Sparse = true
		sum := testkit.Must(ridge.Summarize(t.Context(), p, ridge.SummaryConfig{Size: 1, Intercept: true}, nil))(t)
		truth := p.Truth(true)
		for _, gamma := range []float64{1, 1e4} {
			for _, method := range []ridge.Method{ridge.CG, ridge.Galerkin} {
				for tol := 1.0; tol >= 1e-14; tol /= 10 { // plain gradients first, then gradients with twice the digits
					f, err := ridge.Solve(
						t.Context(),
						p,
						sum,
						gamma,
						ridge.SolveOptions{Tol: tol, Method: method, MaxPasses: 40},
					)
					if short, ok := errors.AsType[*ridge.NotConvergedError](err); ok {
						f, err = short.Solutions[0], nil
					}
					testkit.Check(t, err)
					testkit.Certificate(t, truth, f)
				}
			}
		}
	}
}
