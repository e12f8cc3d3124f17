package matrix

import "math"

// A CosineMap maps a row x of inputs to the row scale·cos(x·W + u), with a matrix W of weights and offsets u. Its
// memory layout suits the kernels. See engine.CosineMap.
type CosineMap struct {
	inputs  int
	scale   float64
	u       []float64
	w       []float64 // the panels of W, one after the other; each panel is stored row by row
	columns []int32   // 0 to inputs−1, the column indices of a dense row
}

// PanelWidth is the number of columns of the matrix W of weights in a panel. Kernels process one panel at a time.
// The width is a multiple of the number of columns that fit in their registers. The last panel may be narrower.
const PanelWidth = 128

// NewCosineMap returns a CosineMap with the offsets u. All its weights are zero. The length of u is the number of
// outputs of the map.
func NewCosineMap(inputs int, u []float64, scale float64) *CosineMap {
	if inputs < 0 || inputs > math.MaxInt32 {
		panic("engine: number of inputs not between 0 and 2³¹−1")
	}
	m := &CosineMap{
		inputs:  inputs,
		scale:   scale,
		u:       u,
		w:       make([]float64, inputs*len(u)),
		columns: make([]int32, inputs),
	}
	for j := range m.columns {
		m.columns[j] = int32(j)
	}
	return m
}

// SetWeights copies w to row j of the matrix W of weights. These are the weights of input j in all outputs of the
// map.
func (m *CosineMap) SetWeights(j int, w []float64) {
	CheckLength(len(m.u), len(w))
	for p := range m.Panels() {
		u, panel := m.Panel(p)
		copy(panel[j*len(u):(j+1)*len(u)], w[p*PanelWidth:])
	}
}

// Dims returns d and D.
func (m *CosineMap) Dims() (inputs, components int) {
	return m.inputs, len(m.u)
}

// Scale returns the factor of the cosines.
func (m *CosineMap) Scale() float64 { return m.scale }

// Columns returns the column indices of a dense row.
func (m *CosineMap) Columns() []int32 { return m.columns }

// Panels returns the number of panels.
func (m *CosineMap) Panels() int {
	return (len(m.u) + PanelWidth - 1) / PanelWidth
}

// Panel returns the offsets u and the columns of the weights that belong to panel p. w is a matrix with one row for
// each input and len(u) columns.
func (m *CosineMap) Panel(p int) (u, w []float64) {
	lo := p * PanelWidth
	hi := min(lo+PanelWidth, len(m.u))
	return m.u[lo:hi], m.w[lo*m.inputs : hi*m.inputs]
}

// CheckCosines panics unless the shapes of x and z fit the map m, which maps each row of x to a row of z. It
// returns the shape of z.
func CheckCosines(m *CosineMap, x, z *Matrix) (rows, components int) {
	Check(x)
	CheckShape(x, x.Rows, m.inputs)
	CheckShape(z, x.Rows, len(m.u))
	return x.Rows, len(m.u)
}

// CheckSparseCosines panics unless the sparse rows and z fit the map m, which maps each sparse row to a row of z.
// It returns the shape of z.
func CheckSparseCosines(
	m *CosineMap,
	rowPtr []int,
	colIdx []int32,
	val []float64,
	z *Matrix,
) (rows, components int) {
	if len(rowPtr) == 0 {
		panic("engine: sparse rows without row pointers")
	}
	rows = len(rowPtr) - 1
	CheckShape(z, rows, len(m.u))
	lo := rowPtr[0]
	for _, hi := range rowPtr[1:] {
		if lo < 0 || hi < lo {
			panic("engine: row pointers decrease")
		}
		lo = hi
	}
	CheckLength(lo, min(len(colIdx), len(val)))
	for _, j := range colIdx[rowPtr[0]:lo] {
		if uint32(j) >= uint32(m.inputs) {
			panic("engine: column index of a sparse row out of range")
		}
	}
	return rows, len(m.u)
}
