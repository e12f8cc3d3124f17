package ridge

import (
	"math"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
)

// roundsAlike returns a number x such that sums of so many equal squares x² round mostly in the same direction. off is
// the relative error of this sum.
func roundsAlike(times int) (x, off float64) {
	for k := range 4000 {
		v := 1 + math.Mod(float64(k)*0.61803398875, 1)
		sum := 0.0
		for range times {
			sum += float64(v * v)
		}
		if e := math.Abs(math.FMA(float64(times)*v, -v, sum)) / sum; e > off {
			x, off = v, e
		}
	}
	return x, off
}

// TestWholeRounds: K as a pass computes it is within its bound where the sums of its rows are
// all rounded the same way.
func TestWholeRounds(t *testing.T) {
	const times = 1024 // sparse rows are added up one after the other
	v, off := roundsAlike(times)
	a := &engine.CSR{Rows: times + 1, Cols: 2, RowPtr: []int{0}}
	y := make([]float64, times+1)
	for i := range a.Rows {
		j, x := int32(0), v
		if i == times {
			j, x = 1, 1
		}
		a.ColIdx, a.Val, a.RowPtr = append(a.ColIdx, j), append(a.Val, x), append(a.RowPtr, i+1)
		y[i] = 1
	}
	src, err := dataset.FromCSR(a, 1, y)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := Summarize(t.Context(), src, SummaryConfig{Size: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := sum.WithGram(t.Context(), src, SolveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	largest, bound := whole.spec.Sigma2[0], whole.spec.Bound.RoundOff
	e := math.Abs(math.FMA(times*v, -v, largest))
	t.Logf(
		"%d squares of %v are off by %.0f eps, K by %.0f, bound %.0f",
		times,
		v,
		off/0x1p-52,
		e/largest/0x1p-52,
		bound/largest/0x1p-52,
	)
	if !(e <= bound) || whole.spec.Bound.Shrinkage != 0 {
		t.Errorf("K is off by %g, the bound is %g", e, bound)
	}
}
