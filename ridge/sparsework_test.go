package ridge_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/sparsework"
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

// TestSolveSparseWork: passes take the time of the entries of sparse rows. Those of all methods are
// the operator's, see package gram; here nothing else may go over columns for each block.
func TestSolveSparseWork(t *testing.T) {
	sparsework.Hold(t, func(t *testing.T, src dataset.Source) func() int {
		sum := summarised(t, src)
		return func() int {
			fits, err := ridge.SolvePath(t.Context(), src, sum, []float64{0.1}, ridge.SolveOptions{Tol: 1e-12, MaxPasses: 2})
			if short, ok := errors.AsType[*ridge.NotConvergedError](err); ok {
				fits = short.Solutions
			} else if err != nil {
				t.Fatal(err)
			}
			return fits[0].Iterations
		}
	})
}

// TestLeaveOneOutSparseWork: so does a pass for leave-one-out errors.
func TestLeaveOneOutSparseWork(t *testing.T) {
	sparsework.Hold(t, func(t *testing.T, src dataset.Source) func() int {
		sum := summarised(t, src)
		fit, err := sum.Fit(1)
		if err != nil {
			t.Fatal(err)
		}
		return func() int {
			if _, err := ridge.LeaveOneOut(t.Context(), src, sum, []*ridge.Solution{fit}, ridge.LeaveOneOutOptions{}); err != nil {
				t.Fatal(err)
			}
			return 1
		}
	})
}

// TestPredictSparseWork: and so do predictions, with intervals and without.
func TestPredictSparseWork(t *testing.T) {
	sparsework.Hold(t, func(t *testing.T, src dataset.Source) func() int {
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

// TestPredictSparse: predictions for a sparse row have the bits of those for the row written out,
// and refuse what is no such row.
func TestPredictSparse(t *testing.T) {
	fit := &ridge.Solution{Targets: []ridge.Target{
		{Coef: []float64{0.1, -3, 0.7, 1e-9}, Intercept: 0.3},
		{Coef: []float64{2, 5, -0.7, 1e20}, Intercept: -1},
	}}
	idx, val, row := []int32{0, 2}, []float64{1.1, -0.9}, []float64{1.1, 0, -0.9, 0}
	got, want := make([]float64, 2), make([]float64, 2)
	if err := fit.PredictRow(want, row); err != nil {
		t.Fatal(err)
	}
	if err := fit.PredictSparse(got, idx, val); err != nil {
		t.Fatal(err)
	}
	if got[0] != want[0] || got[1] != want[1] {
		t.Errorf("predictions %v, of the row written out %v", got, want)
	}
	for name, err := range map[string]error{
		"a column beyond the last":  fit.PredictSparse(got, []int32{4}, []float64{1}),
		"a column before the first": fit.PredictSparse(got, []int32{-1}, []float64{1}),
		"fewer values":              fit.PredictSparse(got, idx, val[:1]),
		"fewer predictions":         fit.PredictSparse(got[:1], idx, val),
	} {
		if !errors.Is(err, ridge.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
