// Package sparsework tests that the cost of a pass over sparse rows is proportional to the number of entries. A pass
// may loop over all columns a few times, but not once for each row or block.
package sparsework

import (
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
)

// Dim is the number of columns. Entries is the number of entries in each row.
const (
	Dim     = 400_000
	Entries = 3
)

// few and many are numbers of rows, with one row in each block. The test compares passes over few and over many rows.
// A pass over many rows may take mostSweeps more units of processor time, where a unit is the time to set Dim numbers
// to zero. Setting Dim numbers to zero for each row would take 4000 units.
const (
	few        = 4
	many       = 4000
	mostSweeps = 3000
)

// Rows is a source of sparse rows with random columns and one target. The rows are the same in each run of the test.
type Rows struct {
	x *engine.CSR
	y []float64
}

// New returns Rows with n rows.
func New(n int) Rows {
	rng := rand.New(rand.NewPCG(7, 7))
	r := Rows{x: &engine.CSR{Rows: n, Cols: Dim, RowPtr: []int{0}}}
	for range n {
		for k := range Entries {
			const share = Dim / Entries
			r.x.ColIdx = append(r.x.ColIdx, int32(k*share+rng.IntN(share)))
			r.x.Val = append(r.x.Val, rng.NormFloat64())
		}
		r.x.RowPtr = append(r.x.RowPtr, len(r.x.Val))
		r.y = append(r.y, rng.NormFloat64())
	}
	return r
}

// Dims implements [dataset.Source].
func (r Rows) Dims() (n int64, d, t int) { return int64(r.x.Rows), Dim, 1 }

// Blocks implements [dataset.Source].
func (r Rows) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		for i := range r.x.Rows {
			row := r.x.Slice(i, i+1)
			if !yield(dataset.Block{First: int64(i), N: 1, Sparse: &row, Y: r.y[i : i+1]}, nil) {
				return
			}
		}
	}
}

// Hold fails the test if passes over many rows take more time or memory, compared with passes over few rows, than
// their entries account for. begin returns a function that makes some passes and returns their number.
func Hold(t *testing.T, begin func(t *testing.T, src dataset.Source) func() (passes int)) {
	t.Helper()
	little, much := begin(t, New(few)), begin(t, New(many))
	time1, bytes1 := least(little)
	time2, bytes2 := least(much)
	if more, most := time2-time1, mostSweeps*sweep(); more > most {
		t.Errorf(
			"a pass over %d rows takes %v longer than one over %d, with %d entries a row it should be less than %v",
			many,
			more,
			few,
			Entries,
			most,
		)
	}
	if more := bytes2 - bytes1; more > 8*Dim/2 {
		t.Errorf("a pass over %d rows allocates %.3g bytes more than one over %d", many, more, few)
	}
}

// least calls the function do three times. It returns the smallest time and the smallest allocated memory per pass.
func least(do func() int) (least time.Duration, bytes float64) {
	least, bytes = math.MaxInt64, math.Inf(1)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := spent()
		passes := max(do(), 1)
		least = min(least, (spent()-start)/time.Duration(passes))
		runtime.ReadMemStats(&after)
		bytes = math.Min(bytes, float64(after.TotalAlloc-before.TotalAlloc)/float64(passes))
	}
	return least, bytes
}

// sweep returns the time to set Dim numbers to zero, the smallest of five.
func sweep() time.Duration {
	x, least := make([]float64, Dim), time.Duration(math.MaxInt64)
	for range 5 {
		start := time.Now() // finer than spent
		for i := range x {
			x[i] = 0
		}
		least = min(least, time.Since(start))
	}
	return least
}
