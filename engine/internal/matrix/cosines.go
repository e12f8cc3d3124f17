package matrix

import "math"

// A CosineMap is the vector of D functions scale·cos(xW + u) of d inputs, in the layout that the kernels
// need. See engine.CosineMap.
type CosineMap struct {
	inputs  int
	scale   float64
	u       []float64
	w       []float64 // the panels of W, one after the other; each panel is stored row by row
	columns []int32   // 0 to inputs−1, the column indices of a dense row
}

// PanelWidth is the number of columns of W in a panel. Kernels process a panel at a time, and the width is a multiple
// of the number of columns in their registers. The last panel may be narrower.
const PanelWidth = 128

// NewCosineMap returns a map with W = 0 and the given u, whose length is the number of functions.
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

// SetWeights copies w, the weights of input j in all functions, to row j of W.
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

// Panel returns the elements of u and the columns of W that belong to panel p. w is a d×len(u) matrix.
func (m *CosineMap) Panel(p int) (u, w []float64) {
	lo := p * PanelWidth
	hi := min(lo+PanelWidth, len(m.u))
	return m.u[lo:hi], m.w[lo*m.inputs : hi*m.inputs]
}

// CheckCosines checks the operands of Z = scale·cos(XW + u) and returns the shape n×D of Z.
func CheckCosines(m *CosineMap, x, z *Matrix) (rows, components int) {
	Check(x)
	CheckShape(x, x.Rows, m.inputs)
	CheckShape(z, x.Rows, len(m.u))
	return x.Rows, len(m.u)
}

// CheckSparseCosines checks the operands of Z = scale·cos(XW + u) for sparse rows X and returns the shape n×D of Z.
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
