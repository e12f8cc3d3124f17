package purego

import (
	"runtime"
	"unsafe"

	"github.com/fdridge/fdridge/engine/internal/matrix"
	"github.com/fdridge/fdridge/engine/purego/internal/kernel"
)

// Cosines computes Z = scale·cos(X·W + 1·uᵀ), see engine.CosineMap.
func (b *Backend) Cosines(m *matrix.CosineMap, x, z matrix.Matrix) {
	rows, _ := matrix.Cosines(m, &x, &z)
	b.cosines(cosines{m: m, x: x, z: z}, rows)
}

// SparseCosines computes the same for sparse rows, to the same bits.
func (b *Backend) SparseCosines(m *matrix.CosineMap, rowPtr []int, colIdx []int32, val []float64, z matrix.Matrix) {
	rows, _ := matrix.SparseCosines(m, rowPtr, colIdx, val, &z)
	b.cosines(cosines{m: m, rowPtr: rowPtr, colIdx: colIdx, val: val, z: z}, rows)
}

// cosines is one call of Cosines or, with row pointers, of SparseCosines. A part is some rows
// of one panel of components, which stays in cache meanwhile. Each number of Z is made by the
// same operations however the work is divided.
type cosines struct {
	k      *kernel.Kernel
	m      *matrix.CosineMap
	x      matrix.Matrix
	rowPtr []int
	colIdx []int32
	val    []float64
	z      matrix.Matrix
	groups int // of rows
}

type cosineTeam struct {
	team
	cosines
}

var cosineTeams pool[cosineTeam]

// Rows of a part at least, so that reading a panel costs little, parts for each thread at
// least, where there are as many rows, and inputs of a panel taken at a time: a quarter of a
// second-level cache of 512 KiB. Fewer numbers than alone are not shared out: a goroutine takes
// some ten microseconds to wake.
const (
	alone        = 1 << 12
	cosineRows   = 64
	cosineParts  = 4
	cosineInputs = 256
)

func (b *Backend) cosines(c cosines, rows int) {
	panels := c.m.Panels()
	if rows == 0 || panels == 0 {
		return
	}
	c.k = b.kernel
	c.groups = max(1, min(rows/cosineRows, (cosineParts*runtime.GOMAXPROCS(0)+panels-1)/panels))
	if _, components := c.m.Dims(); rows*components < alone {
		for i := range panels * c.groups {
			c.part(i, nil)
		}
		return
	}
	team := cosineTeams.get()
	team.cosines = c
	team.run(&team.cosines, panels*c.groups)
	team.cosines = cosines{}
	cosineTeams.put(team)
}

func (c *cosines) part(i int, _ *scratch) {
	rows, panel := c.z.Rows, i/c.groups
	lo, hi := share(rows, i%c.groups, c.groups, 4), share(rows, i%c.groups+1, c.groups, 4)
	if c.rowPtr != nil {
		c.sparse(lo, hi, panel)
	} else {
		c.dense(lo, hi, panel)
	}
}

// at is element (i, panel·PanelWidth) of Z.
func (c *cosines) at(i, panel int) *float64 {
	return &c.z.Data[i*c.z.Stride+panel*matrix.PanelWidth]
}

func (c *cosines) sparse(lo, hi, panel int) {
	u, w := c.m.Panel(panel)
	n := len(u)
	for i := lo; i < hi; i++ {
		first, end := c.rowPtr[i], c.rowPtr[i+1]
		z := c.at(i, panel)
		c.k.Cosines.Chain(n, end-first, unsafe.SliceData(c.val[first:end]), unsafe.SliceData(c.colIdx[first:end]), unsafe.SliceData(w), &u[0], z)
		c.k.Cos(n, c.m.Scale(), z)
	}
}

// dense takes the inputs in blocks, each going on from what the one
// before it left in Z.
func (c *cosines) dense(lo, hi, panel int) {
	u, w := c.m.Panel(panel)
	n := len(u)
	inputs, _ := c.m.Dims()
	for first := 0; first == 0 || first < inputs; first += cosineInputs {
		count := min(cosineInputs, inputs-first)
		block := w[first*n : (first+count)*n]
		last := first+count == inputs
		for i := lo; i < hi; {
			z, x := c.at(i, panel), c.row(i, first, count)
			from, ldf := &u[0], 0
			if first > 0 {
				from, ldf = z, c.z.Stride
			}
			together := 1
			if i+4 <= hi {
				together = 4
				c.k.Cosines.Chain4(n, count, x, c.x.Stride, unsafe.SliceData(block), from, ldf, z, c.z.Stride)
			} else {
				c.k.Cosines.Chain(n, count, x, unsafe.SliceData(c.m.Columns()), unsafe.SliceData(block), from, z)
			}
			for end := i + together; i < end; i++ {
				if last {
					c.k.Cos(n, c.m.Scale(), c.at(i, panel))
				}
			}
		}
	}
}

// row is count elements of row i of X, from column first on.
func (c *cosines) row(i, first, count int) *float64 {
	if count == 0 {
		return nil
	}
	at := i*c.x.Stride + first
	return unsafe.SliceData(c.x.Data[at : at+count])
}
