package dataset_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
)

// TestHoldout: rows are held out by the documented hash of their number, and each row is in one of
// the two parts.
func TestHoldout(t *testing.T) {
	// By Python: of 0 to 19 those with ((z ^ z >> 31) >> 11) * 2**-53 < 0.2.
	h := dataset.Holdout{Share: 0.2}
	var held []int64
	for i := range int64(20) {
		if h.Held(i) {
			held = append(held, i)
		}
	}
	if want := []int64{2, 4, 6}; !slices.Equal(held, want) {
		t.Errorf("held out are %v, want %v", held, want)
	}
	const n = 5000
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i)
	}
	src, err := dataset.FromTable(n, 1, 0, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	fitted, out, err := h.Split(src)
	if err != nil {
		t.Fatal(err)
	}
	a := slices.Concat(mustRead(t, fitted).x...)
	b := slices.Concat(mustRead(t, out).x...)
	na, _, _ := fitted.Dims()
	nb, _, _ := out.Dims()
	if na != int64(len(a)) || nb != int64(len(b)) || !(math.Abs(float64(nb)/n-0.2) < 0.02) {
		t.Errorf("%d and %d rows, %d and %d are said to be", len(a), len(b), na, nb)
	}
	for _, v := range b {
		if !h.Held(int64(v)) {
			t.Errorf("row %v is held out", v)
		}
	}
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	if !slices.Equal(all, x) {
		t.Error("the two parts are not all rows")
	}
	part, err := dataset.Rows(src, 1000, 2000)
	if err != nil {
		t.Fatal(err)
	}
	_, out, err = dataset.Holdout{Share: 0.2, First: 1000}.Split(part)
	if err != nil {
		t.Fatal(err)
	}
	inPart := slices.Concat(mustRead(t, out).x...)
	if want := slices.DeleteFunc(slices.Clone(b), func(v float64) bool { return v < 1000 || v >= 2000 }); !slices.Equal(inPart, want) {
		t.Error("of some rows others are held out than of all")
	}
	for _, bad := range []float64{-0.1, 1, 2, math.NaN(), math.Inf(1)} {
		if _, _, err := (dataset.Holdout{Share: bad}).Split(src); !errors.Is(err, dataset.ErrInput) {
			t.Errorf("a share of %v: %v", bad, err)
		}
	}
}
