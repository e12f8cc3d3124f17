package purego

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/fdridge/fdridge/engine/internal/matrix"
	"github.com/fdridge/fdridge/engine/purego/internal/kernel"
)

// Cosines computes Z = scale·cos(X·W + 1·uᵀ), see engine.CosineMap.
func (b *Backend) Cosines(m *matrix.CosineMap, x, z matrix.Matrix) (finite bool) {
	rows, _ := matrix.Cosines(m, &x, &z)
	return b.cosines(cosines{m: m, x: x, z: z}, rows)
}

// SparseCosines computes the same for sparse rows, to the same bits.
func (b *Backend) SparseCosines(m *matrix.CosineMap, rowPtr []int, colIdx []int32, val []float64, z matrix.Matrix) (finite bool) {
	rows, _ := matrix.SparseCosines(m, rowPtr, colIdx, val, &z)
	return b.cosines(cosines{m: m, rowPtr: rowPtr, colIdx: colIdx, val: val, z: z}, rows)
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
	bad atomic.Bool // a number was not finite
}

var cosineTeams pool[cosineTeam]

// Rows of a part at least, so that reading a panel costs little, parts for each thread at
// least, where there are as many rows, and inputs of a panel taken at a time, which come to
// 256 KiB. Fewer numbers than alone are not shared out: a goroutine takes some ten
// microseconds to wake.
const (
	alone        = 1 << 12
	cosineRows   = 64
	cosineParts  = 4
	cosineInputs = 256
)

func (b *Backend) cosines(c cosines, rows int) (finite bool) {
	panels := c.m.Panels()
	if rows == 0 || panels == 0 {
		return true
	}
	c.k = b.kernel
	c.groups = max(1, min(rows/cosineRows, (cosineParts*runtime.GOMAXPROCS(0)+panels-1)/panels))
	team := cosineTeams.get()
	team.cosines = c
	team.bad.Store(false)
	if parts := panels * c.groups; rows*c.components() < alone {
		s := scratches.get()
		for i := range parts {
			team.part(i, s)
		}
		scratches.put(s)
	} else {
		team.run(team, parts)
	}
	finite = !team.bad.Load()
	team.cosines = cosines{}
	cosineTeams.put(team)
	return finite
}

func (c *cosines) components() int {
	_, d := c.m.Dims()
	return d
}

func (t *cosineTeam) part(i int, s *scratch) {
	rows, panel := t.z.Rows, i/t.groups
	lo, hi := share(rows, i%t.groups, t.groups, 4), share(rows, i%t.groups+1, t.groups, 4)
	sums := grow(&s.a, 4*matrix.PanelWidth)
	var finite bool
	if t.rowPtr != nil {
		finite = t.sparse(lo, hi, panel, sums)
	} else {
		finite = t.dense(lo, hi, panel, sums)
	}
	if !finite {
		t.bad.Store(true)
	}
}

// at is element (i, panel·PanelWidth) of Z.
func (c *cosines) at(i, panel int) *float64 {
	return &c.z.Data[i*c.z.Stride+panel*matrix.PanelWidth]
}

// sparse does rows lo to hi. Only the cosines of sums are written to Z, which often is not in
// cache.
func (c *cosines) sparse(lo, hi, panel int, sums []float64) (finite bool) {
	u, w := c.m.Panel(panel)
	n := len(u)
	finite = true
	for i := lo; i < hi; i++ {
		first, end := c.rowPtr[i], c.rowPtr[i+1]
		c.k.Cosines.Chain(n, end-first, unsafe.SliceData(c.val[first:end]), unsafe.SliceData(c.colIdx[first:end]), unsafe.SliceData(w), &u[0], &sums[0])
		finite = c.k.Cos(n, c.m.Scale(), &sums[0], c.at(i, panel)) && finite
	}
	return finite
}

// dense takes the inputs in blocks, each going on from what the one before it left in Z.
func (c *cosines) dense(lo, hi, panel int, sums []float64) (finite bool) {
	u, w := c.m.Panel(panel)
	n := len(u)
	inputs, _ := c.m.Dims()
	finite = true
	for first := 0; first == 0 || first < inputs; first += cosineInputs {
		count := min(cosineInputs, inputs-first)
		block, last := w[first*n:(first+count)*n], first+count == inputs
		for i := lo; i < hi; {
			x, z := c.row(i, first, count), c.at(i, panel)
			from, ldf, to, ldt := &u[0], 0, z, c.z.Stride
			if first > 0 {
				from, ldf = z, c.z.Stride
			}
			if last {
				to, ldt = &sums[0], n
			}
			end := i + 1
			if i+4 <= hi {
				end = i + 4
				c.k.Cosines.Chain4(n, count, x, c.x.Stride, unsafe.SliceData(block), from, ldf, to, ldt)
			} else {
				c.k.Cosines.Chain(n, count, x, unsafe.SliceData(c.m.Columns()), unsafe.SliceData(block), from, to)
			}
			for r := 0; i < end; i++ {
				if last {
					finite = c.k.Cos(n, c.m.Scale(), &sums[r], c.at(i, panel)) && finite
				}
				r += n
			}
		}
	}
	return finite
}

// row is count elements of row i of X, from column first on.
func (c *cosines) row(i, first, count int) *float64 {
	if count == 0 {
		return nil
	}
	at := i*c.x.Stride + first
	return unsafe.SliceData(c.x.Data[at : at+count])
}
