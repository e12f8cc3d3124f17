// Package sparsework holds passes over sparse rows to the price of their entries: what has as many
// numbers as there are columns may be gone over a few times in a pass, but not for each row or
// block.
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

// Dim is how many columns the rows have, Entries how many entries each of them.
const (
	Dim     = 1_000_000
	Entries = 3
)

// The rows come one in a block. Passes over few of them are compared with passes over many;
// mostSweeps is how much longer these may take for each pass, in the processor time in which Dim
// numbers are set to zero, where no time is lost to other work on the machine. Setting them for each row takes 4000 of it.
const (
	few        = 4
	many       = 4000
	mostSweeps = 3000
)

// Rows is a source of n rows in scattered columns, the same each time, with one target.
type Rows struct {
	x *engine.CSR
	y []float64
}

// New makes n rows.
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

// Dims is that of [dataset.Source].
func (r Rows) Dims() (n int64, d, t int) { return int64(r.x.Rows), Dim, 1 }

// Blocks is that of [dataset.Source].
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

// Hold prepares passes over few rows and over many, and fails where those over many take longer, or
// more memory, than the entries account for. begin returns what makes the passes, and says how many
// it has made.
func Hold(t *testing.T, begin func(t *testing.T, src dataset.Source) func() (passes int)) {
	t.Helper()
	little, much := begin(t, New(few)), begin(t, New(many))
	time1, bytes1 := least(little)
	time2, bytes2 := least(much)
	if more, most := time2-time1, mostSweeps*sweep(); more > most {
		t.Errorf("a pass over %d rows takes %v longer than one over %d, with %d entries a row it should be less than %v", many, more, few, Entries, most)
	}
	if more := bytes2 - bytes1; more > 8*Dim/2 {
		t.Errorf("a pass over %d rows allocates %.3g bytes more than one over %d", many, more, few)
	}
}

// least is the least time of several calls for each pass that is made, and the least memory that one
// allocates.
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

// sweep is the least time in which Dim numbers are set to zero.
func sweep() time.Duration {
	x, least := make([]float64, Dim), time.Duration(math.MaxInt64)
	for range 5 {
		start := time.Now() // which is finer than what spent tells
		for i := range x {
			x[i] = 0
		}
		least = min(least, time.Since(start))
	}
	return least
}
