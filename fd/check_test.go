package fd_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
)

// TestCheckRow: a good row is returned whole, whatever its values; of another the
// entries before the first bad one, and what is wrong with that.
func TestCheckRow(t *testing.T) {
	val := []float64{math.NaN(), 1e300, 2, 3}
	for name, c := range map[string]struct {
		ptr  []int
		idx  []int32
		good int
		want string // in the error; "" for none
	}{
		"good":      {[]int{0, 4}, []int32{0, 1, 3, 4}, 4, ""},
		"empty":     {[]int{2, 2}, []int32{0, 1, 3, 4}, 0, ""},
		"repeated":  {[]int{0, 4}, []int32{0, 3, 3, 4}, 2, "column 3 after column 3, of 5"},
		"order":     {[]int{0, 4}, []int32{4, 3, 2, 1}, 1, "column 3 after column 4, of 5"},
		"negative":  {[]int{0, 4}, []int32{-1, 0, 1, 2}, 0, "column -1 after column -1, of 5"},
		"wide":      {[]int{0, 4}, []int32{0, 1, 2, 5}, 3, "column 5 after column 2, of 5"},
		"backwards": {[]int{2, 1}, []int32{0, 1, 3, 4}, 0, "entries 2 to 1 of 4"},
		"before":    {[]int{-1, 1}, []int32{0, 1, 3, 4}, 0, "entries -1 to 1 of 4"},
		"behind":    {[]int{0, 5}, []int32{0, 1, 2, 3, 4}, 0, "entries 0 to 5 of 4"},
		"indices":   {[]int{0, 4}, []int32{0, 1, 2}, 0, "entries 0 to 4 of 3"},
	} {
		// The row is the second; the first is not looked at.
		x := &engine.CSR{Rows: 2, Cols: 5, RowPtr: append([]int{-7}, c.ptr...), ColIdx: c.idx, Val: val}
		idx, v, err := fd.CheckRow(1, x)
		if c.want == "" && err != nil ||
			c.want != "" &&
				(err == nil || !strings.HasSuffix(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "sparse row 2 ")) {
			t.Errorf("%s: %v", name, err)
		}
		lo := max(0, c.ptr[0])
		if !slices.Equal(idx, c.idx[lo:lo+c.good]) || len(v) != c.good || c.good > 0 && &v[0] != &val[lo] {
			t.Errorf("%s: columns %v and %d values, want the first %d", name, idx, len(v), c.good)
		}
	}
}

// TestSquaredNorm: sums of small whole numbers are exact; errors name the column.
func TestSquaredNorm(t *testing.T) {
	if got, err := fd.SquaredNorm(0, 0, nil, []float64{1, -2, 3, -4, 5}); err != nil || !(got == 55) {
		t.Errorf("%v, %v, want 55", got, err)
	}
	if got, err := fd.SquaredNorm(0, 0, nil, []float64{1e200, 1}); err != nil || !math.IsInf(got, 1) {
		t.Errorf("%v, %v, want the sum to overflow", got, err)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		val := []float64{1e200, bad, math.NaN()}
		for want, idx := range map[int][]int32{11: nil, 17: {0, 7, 9}} {
			_, err := fd.SquaredNorm(3, 10, idx, val)
			var e *fd.NonFiniteError
			if !errors.As(err, &e) || e.Row != 3 || e.Col != want ||
				math.Float64bits(e.Value) != math.Float64bits(bad) {
				t.Errorf("columns %v: %v, want entry (3, %d)", idx, err, want)
			}
		}
	}
}
