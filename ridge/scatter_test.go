package ridge_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestFewFeaturesOld: a summary of rows, from a message of before, and one that keeps AᵀA merge
// into either, and what the union certifies holds.
func TestFewFeaturesOld(t *testing.T) {
	src := testkit.Problem(rand.New(rand.NewPCG(4, 5)), "gaussian", 300, 10, 1, 1)
	of := func(store fd.Storage, lo, hi int) *ridge.Summary {
		s := testkit.Must(ridge.NewSummary(ridge.SummaryConfig{Dim: 10, Size: 5, Intercept: true, Store: store}))(t)
		testkit.Check(
			t, s.AppendBlock(dataset.Block{N: hi - lo, X: testkit.Flat(src.X[lo:hi]), Y: testkit.Flat(src.Y[lo:hi])}),
		)
		return testkit.Must(ridge.ReadSummary(bytes.NewReader(testkit.Marshal(t, s)), nil))(t)
	}
	for _, stores := range [][2]fd.Storage{{fd.StoreRows, fd.StoreSmaller}, {fd.StoreSmaller, fd.StoreRows}} {
		all, other := of(stores[0], 0, 150), of(stores[1], 150, 300)
		if all.Config().Store != stores[0] || other.Config().Store != stores[1] {
			t.Fatalf("%v and %v were read", all.Config().Store, other.Config().Store)
		}
		testkit.Check(t, all.Merge(other))
		if got := all.Sketch().Scatter(); got != (stores[0] == fd.StoreSmaller) || all.Sketch().Bound().Shrinkage == 0 {
			t.Errorf("%v: AᵀA is kept: %v, %+v", stores, got, all.Sketch().Bound())
		}
		ref := refbig.New(src.X, src.Y, nil, true)
		for _, gamma := range []float64{0.1, 10, 1000} {
			testkit.Certificate(t, ref, testkit.Must(all.Fit(gamma))(t))
			testkit.Certificate(
				t,
				ref,
				testkit.Must(ridge.Solve(t.Context(), src, all, gamma, ridge.SolveOptions{Method: ridge.Galerkin}))(t),
			)
		}
	}
}
