package fdridge_test

import (
	"context"
	"iter"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
)

// read are rows that are read, some at a time, and not kept by their source.
type read struct{ dataset.Source }

func (s read) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		_, d, t := s.Dims()
		var view engine.CSR
		for b, err := range s.Source.Blocks(ctx) {
			for lo := 0; lo < b.N; lo += 100 {
				if !yield(b.Cut(lo, min(lo+100, b.N), d, t, &view), err) {
					return
				}
			}
		}
	}
}

// TestPlanSparse: if Config.Entries states the entries of a sparse row, the plan counts only these, in time and in
// memory. The memory that a direct solution and a sketch allocate is within a factor of two of the plan.
func TestPlanSparse(t *testing.T) {
	const n, d, entries = 900, 12000, 60
	x, y := testkit.SparseRows(rand.New(rand.NewPCG(3, 9)), n, d, entries)
	all, err := dataset.FromCSR(x, 1, y)
	if err != nil {
		t.Fatal(err)
	}
	src := read{all}
	sum := testkit.Summarize(t, src, ridge.SummaryConfig{Size: 8})
	for _, gammas := range [][]float64{{1}, {1, 2, 3, 4}} {
		told := testkit.Must(plan.New(sum, plan.Config{Gammas: gammas, Sizes: []int{64}, Entries: entries, Lanes: 1}))(t)
		untold := testkit.Must(plan.New(sum, plan.Config{Gammas: gammas, Sizes: []int{64}, Lanes: 1}))(t)
		for i, o := range told.Options {
			if dense := untold.Options[i]; !(o.Seconds < dense.Seconds/2) || !(o.Seconds > 0) {
				t.Errorf(
					"%s for %d γ: %v s planned, of rows of %d entries in %d columns, dense ones take %v",
					o.Method,
					len(gammas),
					o.Seconds,
					entries,
					d,
					dense.Seconds,
				)
			}
		}
		compareBytes(t, told.Options[0], func() {
			testkit.Must(
				fdridge.Fit(t.Context(), src, fdridge.Options{NoIntercept: true, Method: ridge.Exact, Gammas: gammas}),
			)(
				t,
			)
		})
		compareBytes(t, told.Options[1], func() {
			s := testkit.Must(ridge.Summarize(t.Context(), src, ridge.SummaryConfig{Size: 64, Lanes: 1}, nil))(t)
			testkit.Must(s.Path(gammas))(t)
		})
	}
	if _, err := plan.New(sum, plan.Config{Entries: -1}); err == nil {
		t.Error("-1 entries a row are planned for")
	}
}

// compareBytes compares the memory of an option with what is allocated when it is run, for a second
// time.
func compareBytes(t *testing.T, o plan.Option, run func()) {
	t.Helper()
	run()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run()
	runtime.ReadMemStats(&after)
	taken := float64(after.TotalAlloc - before.TotalAlloc)
	if !(float64(o.Bytes) > taken/2 && float64(o.Bytes) < 2*taken) {
		t.Errorf("%s for %d γ: %d bytes planned, %g are taken", o.Method, len(o.Passes), o.Bytes, taken)
	}
}
