package dataset

import (
	"math"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

// column is a dense block of one column.
func column(x, w []float64) Block {
	return Block{N: len(x), X: x, W: w, Y: make([]float64, len(x))}
}

// sparseColumn has an entry in each row.
func sparseColumn(x, w []float64) Block {
	s := &engine.CSR{Cols: 1, RowPtr: []int{0}}
	for _, v := range x {
		s.ColIdx, s.Val, s.Rows = append(s.ColIdx, 0), append(s.Val, v), s.Rows+1
		s.RowPtr = append(s.RowPtr, len(s.Val))
	}
	return Block{N: len(x), Sparse: s, W: w, Y: make([]float64, len(x))}
}

// TestMomentsByHand: means and Σw(x − mean)² of columns that round badly, computed by hand.
func TestMomentsByHand(t *testing.T) {
	const huge = 0x1p53
	for _, c := range []struct {
		what     string
		blocks   []Block
		mean, m2 float64
	}{
		{"a mean between two numbers", []Block{column([]float64{huge, huge + 2, huge, huge + 2}, nil)}, huge, 4},
		{"differences that are rounded", []Block{column([]float64{0x1p60, -0x1p60, 1, 1}, nil)}, 0.5, 0x1p121},
		{"a constant", []Block{column([]float64{0.1, 0.1, 0.1}, nil)}, 0.1, 0},
		{"a constant behind rows without weight", []Block{column([]float64{1e10, -3, 0.1, 0.1, 0.1}, []float64{0, 0, 1, 0.3, 0.7})}, 0.1, 0},
		{"a constant in two blocks", []Block{column([]float64{0.1, 0.1}, []float64{0.3, 1}), column([]float64{0.1, 7}, []float64{0.7, 0})}, 0.1, 0},
		{"a constant in sparse rows", []Block{sparseColumn([]float64{5, 0.1, 0.1, 0.1}, []float64{0, 0.3, 0.1, 0.7})}, 0.1, 0},
		{"a constant behind rows without weight that are out of range of it", []Block{column([]float64{-1.7e308, 1.7e308, 0.1, 0.1}, []float64{0, 0, 3, 1})}, 0.1, 0},
		{"a large constant far from a row without weight", []Block{column([]float64{-1.7e308, 1.7e308, -1.7e308}, []float64{1, 0, 0.5})}, -1.7e308, 0},
		{"a constant whose weights are rounded in another order", []Block{sparseColumn([]float64{0.1, 9}, []float64{0x1p53, 0}), sparseColumn([]float64{0.1, 0.1}, nil)}, 0.1, 0},
		{"two blocks", []Block{column([]float64{0, 2}, nil), column([]float64{7}, []float64{2})}, 4, 38},
		{"no weight, then some", []Block{column([]float64{9}, []float64{0}), column([]float64{1, 3}, nil)}, 2, 2},
	} {
		m := newMoments(1)
		for _, b := range c.blocks {
			m.add(b)
		}
		m.complete()
		if got := m.mean[0]; got != c.mean {
			t.Errorf("%s: the mean is %v, want %v", c.what, got, c.mean)
		}
		if got := m.m2[0]; !(math.Abs(got-c.m2) <= 1e-15*c.m2) {
			t.Errorf("%s: the squares are %v, want %v", c.what, got, c.m2)
		}
	}
}

// TestMomentsNotNegative: squares are not negative where rounding is all that there is of them.
func TestMomentsNotNegative(t *testing.T) {
	const x = 0.40063319733339786
	m := newMoments(1)
	m.add(column(
		[]float64{1.2458169214957109, x, x, x, x, x}, // the first next to no weight
		[]float64{
			4.2015557466537154e-57,
			0.11291762269695194,
			0.07139197778411444,
			0.8613736330861734,
			0.06605610188668376,
			0.03518541409206544,
		},
	))
	m.complete()
	if !(m.m2[0] >= 0) || !(m.m2[0] <= 1e-40) || !(math.Abs(m.mean[0]-x) <= 1e-16) {
		t.Errorf("the mean is %v, the squares are %v", m.mean[0], m.m2[0])
	}
}

// TestMomentsOfSparse: entries that are not stored are zeros, wherever they are.
func TestMomentsOfSparse(t *testing.T) {
	// Rows (1, 0), (0, 0), (3, 2) of weights 1, 2 and 1.
	b := Block{N: 3, W: []float64{1, 2, 1}, Y: make([]float64, 3), Sparse: &engine.CSR{
		Rows: 3, Cols: 2, RowPtr: []int{0, 1, 1, 3}, ColIdx: []int32{0, 0, 1}, Val: []float64{1, 3, 2},
	}}
	m := newMoments(2)
	m.add(b)
	m.complete()
	if want := []float64{1, 0.5}; !slices.Equal(m.mean, want) {
		t.Errorf("the means are %v, want %v", m.mean, want)
	}
	if want := []float64{6, 3}; !slices.Equal(m.m2, want) {
		t.Errorf("the squares are %v, want %v", m.m2, want)
	}
}

// TestScaleOfRoundOff: a column whose standard deviation is up to 10·2⁻⁵² of its mean is constant and
// keeps its scale; a wider one is divided by it, however narrow it is.
func TestScaleOfRoundOff(t *testing.T) {
	for _, c := range []struct {
		what  string
		x     []float64
		scale float64
	}{
		{"round-off", []float64{1, 1 + 0x1p-52, 1, 1 + 0x1p-52}, 1},
		{"just below", []float64{1 - 9*0x1p-52, 1 + 9*0x1p-52}, 1},
		{"just above", []float64{1 - 11*0x1p-52, 1 + 11*0x1p-52}, 11 * 0x1p-52},
		{"negative, just below", []float64{-1 + 9*0x1p-52, -1 - 9*0x1p-52}, 1},
		{"a constant", []float64{0.1, 0.1, 0.1}, 1},
		{"zeros", []float64{0, 0}, 1},
		{"tiny", []float64{-1e-100, 1e-100}, 1e-100},
		{"tiny and constant", []float64{1e-100, 1e-100}, 1},
	} {
		m := newMoments(1)
		m.add(column(c.x, nil))
		m.complete()
		s, err := m.scaling()
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Scale[0]; !(math.Abs(got-c.scale) <= 1e-15*c.scale) {
			t.Errorf("%s: the scale is %g, want %g", c.what, got, c.scale)
		}
	}
}
