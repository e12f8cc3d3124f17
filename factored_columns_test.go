package fdridge_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/ridgetest"
)

// TestDualColumnsAreRows: what is read by columns is solved as by rows, certified as well, and the
// reads are counted: one for G, and one for each time that is measured.
func TestDualColumnsAreRows(t *testing.T) {
	r := rand.New(rand.NewPCG(46, 6))
	s := testkit.Problem(r, "gaussian", 30, 77, 2, 0.1)
	for _, intercept := range []bool{false, true} {
		opts := ridge.ExactOptions{Method: ridge.Dual, Intercept: intercept, Tol: 1e-14}
		want, got := testkit.MustExact(t, s, opts, 0.3)[0], testkit.MustExact(t, testkit.Turned(t, s), opts, 0.3)[0]
		ridgetest.Near(t, "by columns", want, got, 1e-13)
		if got.Method != ridge.Dual || got.Passes < 2 || got.Passes > 3 ||
			!(got.Targets[1].RelativeErrorBound <= 1e-14) {
			t.Errorf("%s in %d reads, certified to %.3g", got.Method, got.Passes, got.Targets[1].RelativeErrorBound)
		}
		// Dense rows that do not fit are read several times.
		s.Block = 7
		opts.MaxBytes = 60_000
		got = testkit.MustExact(t, s, opts, 0.3)[0]
		if got.Passes < 4 || !(got.Targets[1].RelativeErrorBound <= 1e-14) {
			t.Errorf("in little memory: %d reads, certified to %.3g", got.Passes, got.Targets[1].RelativeErrorBound)
		}
		ridgetest.Near(t, "in little memory", want, got, 1e-13)
	}
	// A transposed source is rows as well.
	rows := testkit.Table{X: s.X, Y: s.Y}
	sum := func(src dataset.Source) float64 {
		f, err := fdridge.Fit(
			context.Background(),
			src,
			fdridge.Options{NoIntercept: true, Gammas: []float64{1}, Method: ridge.CG, Size: 8, Tol: 1e-9},
		)
		if err != nil {
			t.Fatal(err)
		}
		return f.Solutions[0].Targets[0].Coef[3]
	}
	if a, b := sum(rows), sum(testkit.Turned(t, s)); !(math.Abs(a-b) <= 1e-8) {
		t.Errorf("cg by rows %g, by columns turned into rows %g", a, b)
	}
}
