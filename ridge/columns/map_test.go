package columns_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/columns"
)

// TestMapErrors: a Map that makes no sense is refused, and a Map that was not learned changes nothing.
func TestMapErrors(t *testing.T) {
	for name, c := range map[string]struct {
		penalty, rounding []float64
		unpenalized       []int
	}{
		"penalties":      {penalty: []float64{1, 2}},
		"rounding":       {rounding: []float64{1, 2}},
		"no such column": {unpenalized: []int{3}},
		"negative":       {unpenalized: []int{-1}},
		"all":            {penalty: []float64{0, 1, 0}, unpenalized: []int{1}},
		"penalty < 0":    {penalty: []float64{1, -1, 1}},
		"infinite":       {penalty: []float64{1, math.Inf(1), 1}},
	} {
		_, err := columns.New(3, c.penalty, c.unpenalized, c.rounding)
		if !errors.Is(err, ridge.ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
	}

	m, err := columns.New(3, nil, []int{1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	src, err := dataset.FromDense(1, 3, 1, []float64{1, 2, 3}, []float64{4})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Apply(src); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("Apply before Learn: %v", err)
	}
	if err := m.Restore(nil, 0); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("Restore before Learn: %v", err)
	}
	if _, err := m.Penalize([]float64{1, 2, 3}); !errors.Is(err, ridge.ErrInput) {
		t.Errorf("a penalty for a column without: %v", err)
	}
}

// TestMapPlaces: columns without penalty leave the rows, and the other columns keep their order.
func TestMapPlaces(t *testing.T) {
	m, err := columns.New(5, []float64{4, 0, 1, 9, 1}, []int{3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if free := m.Unpenalized(); !slices.Equal(free, []int{1, 3}) || m.Dim() != 3 || !m.DependsOnRows() {
		t.Errorf("unpenalised %v, %d columns are left", free, m.Dim())
	}
	if p := m.Penalty(); !slices.Equal(p, []float64{4, 1, 1}) {
		t.Errorf("penalties %v", p)
	}
	var places []int
	for j := range 6 {
		places = append(places, m.Place(j))
	}
	if !slices.Equal(places, []int{0, -1, 1, -1, 2, -1}) {
		t.Errorf("places %v", places)
	}
}

// TestMapRestores: the rows of a learned Map with other penalties have solutions of the original problem. The normal
// equations of this problem are Aᵀ(Ax − b) + γPx = 0.
func TestMapRestores(t *testing.T) {
	const n, d, gamma = 40, 4, 0.5
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range x {
		x[i] = math.Sin(float64(3*i*i + 1))
	}
	for i := range y {
		y[i] = math.Cos(float64(5 * i))
	}
	src, err := dataset.FromDense(n, d, 1, x, y)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	first, err := columns.New(d, nil, []int{2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := first.Learn(ctx, src, columns.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err = m.Penalize([]float64{4, 0.25, 9})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := m.Apply(src)
	if err != nil {
		t.Fatal(err)
	}
	factors, err := ridge.Factorize(ctx, rows, []float64{gamma}, ridge.ExactOptions{RowErrors: m.Errors()})
	if err != nil {
		t.Fatal(err)
	}
	fits, err := factors.Solve(ctx, []float64{gamma})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Restore(fits, 0); err != nil {
		t.Fatal(err)
	}
	if p := fits[0].Penalty; !slices.Equal(p, []float64{4, 0.25, 0, 9}) {
		t.Fatalf("penalties %v", p)
	}
	coef := fits[0].Targets[0].Coef
	for k := range d {
		g := gamma * fits[0].Penalty[k] * coef[k]
		for i := range n {
			r := -y[i]
			for j := range d {
				r += x[i*d+j] * coef[j]
			}
			g += x[i*d+k] * r
		}
		if !(math.Abs(g) <= 1e-12) {
			t.Errorf("the gradient of column %d is %g", k, g)
		}
	}
}
