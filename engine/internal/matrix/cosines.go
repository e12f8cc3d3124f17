package matrix

import "math"

// A CosineMap is the D functions scale·cos(xW + u) of d inputs, laid out for the kernels.
// See engine.CosineMap.
type CosineMap struct {
	inputs  int
	scale   float64
	u       []float64
	w       []float64 // panel by panel, each input-major
	columns []int32   // 0 to inputs−1: the column indices of a dense row
}

// PanelWidth is the number of components of a panel of W, which the kernels take at a time:
// a multiple of what any of them has in registers. The last panel may have fewer.
const PanelWidth = 128

// NewCosineMap is the map with these u, one for each component, and W zero.
func NewCosineMap(inputs int, u []float64, scale float64) *CosineMap {
	if inputs < 0 || inputs > math.MaxInt32 {
		panic("engine: number of inputs not between 0 and 2³¹−1")
	}
	m := &CosineMap{inputs: inputs, scale: scale, u: u, w: make([]float64, inputs*len(u)), columns: make([]int32, inputs)}
	for j := range m.columns {
		m.columns[j] = int32(j)
	}
	return m
}

// SetWeights copies the weights of input j, one for each component: row j of W.
func (m *CosineMap) SetWeights(j int, w []float64) {
	Vector(len(m.u), len(w))
	for p := range m.Panels() {
		u, panel := m.Panel(p)
		copy(panel[j*len(u):(j+1)*len(u)], w[p*PanelWidth:])
	}
}

// Dims are d and D.
func (m *CosineMap) Dims() (inputs, components int) { return m.inputs, len(m.u) }

// Scale is what cosines are multiplied by.
func (m *CosineMap) Scale() float64 { return m.scale }

// Columns are the column indices of a dense row.
func (m *CosineMap) Columns() []int32 { return m.columns }

// Panels is the number of panels.
func (m *CosineMap) Panels() int { return (len(m.u) + PanelWidth - 1) / PanelWidth }

// Panel is the components from p·PanelWidth on: their u, and their columns of W, d×len(u).
func (m *CosineMap) Panel(p int) (u, w []float64) {
	lo := p * PanelWidth
	hi := min(lo+PanelWidth, len(m.u))
	return m.u[lo:hi], m.w[lo*m.inputs : hi*m.inputs]
}

// Cosines checks the operands of Z = scale·cos(XW + u) and returns the shape n×D of Z.
func Cosines(m *CosineMap, x, z *Matrix) (rows, components int) {
	Check(x)
	Is(x, x.Rows, m.inputs)
	Is(z, x.Rows, len(m.u))
	return x.Rows, len(m.u)
}

// SparseCosines is Cosines for sparse rows.
func SparseCosines(m *CosineMap, rowPtr []int, colIdx []int32, val []float64, z *Matrix) (rows, components int) {
	if len(rowPtr) == 0 {
		panic("engine: sparse rows without row pointers")
	}
	rows = len(rowPtr) - 1
	Is(z, rows, len(m.u))
	lo := rowPtr[0]
	for _, hi := range rowPtr[1:] {
		if lo < 0 || hi < lo {
			panic("engine: row pointers that decrease")
		}
		lo = hi
	}
	Vector(lo, min(len(colIdx), len(val)))
	for _, j := range colIdx[rowPtr[0]:lo] {
		if uint32(j) >= uint32(m.inputs) {
			panic("engine: column index of a sparse row out of range")
		}
	}
	return rows, len(m.u)
}
