package dataset_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
)

// largest is the most rows of a block and the most entries of a dense one.
func largest(t *testing.T, src dataset.Source) (rows, entries int) {
	t.Helper()
	for b, err := range src.Blocks(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		rows, entries = max(rows, b.N), max(entries, len(b.X))
	}
	return rows, entries
}

// TestBlocksAreBounded: data in memory, however many rows, come in blocks, and
// what a transform makes of them is no larger than a block of its own width.
func TestBlocksAreBounded(t *testing.T) {
	const n, dim = 20000, 64
	src, err := dataset.FromDense(n, 1, 0, make([]float64, n), nil)
	if err != nil {
		t.Fatal(err)
	}
	tuning, err := engine.DefaultTuning()
	if err != nil {
		t.Fatal(err)
	}
	if rows, _ := largest(t, src); rows > tuning.GradientRows(1) {
		t.Errorf("a block of %d rows, want at most %d", rows, tuning.GradientRows(1))
	}
	if rows, _ := largest(t, fourier(t, src, dim)); rows > tuning.GradientRows(dim) {
		t.Errorf("a block of %d rows of features, want at most %d", rows, tuning.GradientRows(dim))
	}
	if got := mustRead(t, fourier(t, src, 2)); len(got.x) != n {
		t.Errorf("%d rows, want %d", len(got.x), n)
	}
}

// TestFromMatrix: the rows of the source equal the rows of the matrices, for each kind of gonum matrix. Wrong shapes
// are errors.
func TestFromMatrix(t *testing.T) {
	x := mat.NewDense(3, 4, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	y := mat.NewVecDense(3, []float64{-1, -2, -3})
	for name, c := range map[string]struct{ x, y mat.Matrix }{
		"dense":   {x, y},
		"a part":  {x.Slice(0, 3, 1, 3), y},
		"turned":  {x.T(), mat.NewDense(4, 2, []float64{1, 2, 3, 4, 5, 6, 7, 8})},
		"without": {x, nil},
		"nothing": {x, (*mat.Dense)(nil)},
	} {
		src, err := dataset.FromMatrix(c.x, c.y)
		if err != nil {
			t.Fatal(name, err)
		}
		n, d := c.x.Dims()
		got := mustRead(t, src)
		if rows, cols, _ := src.Dims(); int(rows) != n || cols != d || len(got.x) != n {
			t.Errorf("%s: %d rows of %d columns, want %d×%d", name, rows, cols, n, d)
		}
		for i := range n {
			if !slices.Equal(got.x[i], mat.Row(nil, i, c.x)) {
				t.Errorf("%s: row %d is %v, want %v", name, i, got.x[i], mat.Row(nil, i, c.x))
			}
			if _, _, targets := src.Dims(); targets > 0 && !slices.Equal(got.y[i], mat.Row(nil, i, c.y)) {
				t.Errorf("%s: the targets of row %d are %v, want %v", name, i, got.y[i], mat.Row(nil, i, c.y))
			}
		}
	}
	for name, c := range map[string]struct{ x, y mat.Matrix }{
		"no features": {nil, y}, "a nil one": {(*mat.Dense)(nil), y}, "other rows": {x, x.T()},
		"an empty one": {&mat.Dense{}, nil},
	} {
		if _, err := dataset.FromMatrix(c.x, c.y); !errors.Is(err, dataset.ErrShape) {
			t.Errorf("%s: %v, must be ErrShape", name, err)
		}
	}
	var e *dataset.InputError
	if _, err := dataset.FromMatrix(x, mat.NewVecDense(3, []float64{1, math.NaN(), 2})); !errors.As(err, &e) ||
		!e.NonFinite ||
		e.Line != 2 {
		t.Errorf("a target that is NaN: %v", err)
	}
}

// TestFromCSRRefuses: no malformed matrix gets in, and none makes it panic.
func TestFromCSRRefuses(t *testing.T) {
	good := func() *engine.CSR {
		return &engine.CSR{Rows: 2, Cols: 3, RowPtr: []int{0, 2, 3}, ColIdx: []int32{0, 2, 1}, Val: []float64{1, 2, 3}}
	}
	if _, err := dataset.FromCSR(good(), 0, nil); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*engine.CSR){
		"decreasing pointers": func(c *engine.CSR) { c.RowPtr = []int{0, 2, 1} },
		"negative pointer":    func(c *engine.CSR) { c.RowPtr = []int{-1, 2, 3} },
		"pointer beyond":      func(c *engine.CSR) { c.RowPtr = []int{0, 2, 4} },
		"index beyond":        func(c *engine.CSR) { c.ColIdx[2] = 3 },
		"negative index":      func(c *engine.CSR) { c.ColIdx[2] = -1 },
		"repeated index":      func(c *engine.CSR) { c.ColIdx[1] = 0 },
		"unsorted indices":    func(c *engine.CSR) { c.ColIdx[0], c.ColIdx[1] = 2, 0 },
		"short values":        func(c *engine.CSR) { c.Val = c.Val[:2] },
		"negative rows":       func(c *engine.CSR) { c.Rows, c.RowPtr = -1, nil },
	} {
		c := good()
		spoil(c)
		if _, err := dataset.FromCSR(c, 0, nil); !errors.Is(err, dataset.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := good()
	c.Val[2] = math.Inf(1)
	var e *dataset.InputError
	if _, err := dataset.FromCSR(c, 0, nil); !errors.As(err, &e) || !e.NonFinite || e.Line != 2 || e.Column != 2 {
		t.Errorf("an infinity in row 2, column 2: %v", err)
	}
}

// TestFromDenseOverflow: a product that wraps around to nothing is not a match.
func TestFromDenseOverflow(t *testing.T) {
	if _, err := dataset.FromDense((math.MaxInt/4+1)*2, 4, 0, nil, nil); !errors.Is(err, dataset.ErrShape) {
		t.Errorf("a quarter of 2⁶⁴ rows (2³² where int has 32 bits) of 4 features in no memory: %v", err)
	}
}
