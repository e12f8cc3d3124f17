package sparsework

import (
	"errors"
	"sync"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

var (
	summaries     = make(map[int64]*ridge.Summary) // by the number of rows
	summariesLock sync.Mutex
)

// summarised is a summary of as many rows of package sparsework, small beside them.
func summarised(t *testing.T, src dataset.Source) *ridge.Summary {
	t.Helper()
	summariesLock.Lock()
	defer summariesLock.Unlock()
	n, _, _ := src.Dims()
	if summaries[n] == nil {
		sum, err := ridge.Summarize(t.Context(), src, ridge.SummaryConfig{Size: 1, Lanes: 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		summaries[n] = sum
	}
	return summaries[n]
}

// TestSolveSparseWork: the time of a pass depends on the number of entries of sparse rows. TestGramSparseWork checks
// the passes of the operator, which all methods use. This test checks that nothing else goes over all columns for each
// block.
func TestSolveSparseWork(t *testing.T) {
	Hold(t, func(t *testing.T, src dataset.Source) func() int {
		sum := summarised(t, src)
		return func() int {
			fits, err := ridge.SolvePath(
				t.Context(),
				src,
				sum,
				[]float64{0.1},
				ridge.SolveOptions{Tol: 1e-12, MaxPasses: 2},
			)
			if short, ok := errors.AsType[*ridge.NotConvergedError](err); ok {
				fits = short.Solutions
			} else if err != nil {
				t.Fatal(err)
			}
			return fits[0].Iterations
		}
	})
}

// TestLeaveOneOutSparseWork: the time of a pass for leave-one-out errors depends on the number of entries of sparse
// rows.
func TestLeaveOneOutSparseWork(t *testing.T) {
	Hold(t, func(t *testing.T, src dataset.Source) func() int {
		sum := summarised(t, src)
		fit, err := sum.Fit(1)
		if err != nil {
			t.Fatal(err)
		}
		return func() int {
			_, err := ridge.LeaveOneOut(t.Context(), src, sum, []*ridge.Solution{fit}, ridge.LeaveOneOutOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return 1
		}
	})
}

// TestPredictSparseWork: and so do predictions, with intervals and without.
func TestPredictSparseWork(t *testing.T) {
	Hold(t, func(t *testing.T, src dataset.Source) func() int {
		sum := summarised(t, src)
		fit, err := sum.Fit(1)
		if err != nil {
			t.Fatal(err)
		}
		p, err := sum.Predictor(1)
		if err != nil {
			t.Fatal(err)
		}
		n, _, _ := src.Dims()
		within, yhat := make([]ridge.Interval, n), make([]float64, 1)
		return func() int {
			for b, err := range src.Blocks(t.Context()) {
				if err == nil {
					err = p.Predict(within[:b.N], b)
				}
				for i := 0; i < b.N && err == nil; i++ {
					idx, val := b.Sparse.Row(i)
					err = fit.PredictSparse(yhat, idx, val)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			return 1
		}
	})
}
