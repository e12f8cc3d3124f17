package vec

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestOf(t *testing.T) {
	x := mat.NewDense(3, 4, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	for name, c := range map[string]struct {
		x      mat.Matrix
		want   []float64
		shared bool
	}{
		"all":       {x, x.RawMatrix().Data, true},
		"rows":      {x.Slice(1, 3, 0, 4), []float64{5, 6, 7, 8, 9, 10, 11, 12}, true},
		"columns":   {x.Slice(0, 2, 1, 3), []float64{2, 3, 6, 7}, false},
		"one row":   {x.Slice(2, 3, 1, 3), []float64{10, 11}, true},
		"turned":    {x.Slice(0, 2, 0, 2).T(), []float64{1, 5, 2, 6}, false},
		"a vector":  {mat.NewVecDense(2, []float64{3, 4}), []float64{3, 4}, false},
		"symmetric": {mat.NewSymDense(2, []float64{1, 2, 0, 3}), []float64{1, 2, 2, 3}, false},
		"none":      {&mat.Dense{}, nil, false},
	} {
		got := OfMatrix(c.x)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if dense, ok := c.x.(*mat.Dense); ok && len(got) > 0 && (&got[0] == &dense.RawMatrix().Data[0]) != c.shared {
			t.Errorf("%s: shares memory: %v", name, !c.shared)
		}
	}
}

func TestIsNil(t *testing.T) {
	for x, want := range map[mat.Matrix]bool{
		nil: true, (*mat.Dense)(nil): true, (*mat.VecDense)(nil): true, &mat.Dense{}: false, mat.NewDense(1, 1, nil): false,
	} {
		if IsNilMatrix(x) != want {
			t.Errorf("%T: %v", x, !want)
		}
	}
	if IsNilMatrix(mat.Transpose{Matrix: mat.NewDense(1, 1, nil)}) {
		t.Error("a transpose is nil")
	}
}
