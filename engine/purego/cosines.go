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
	rows, _ := matrix.CheckCosines(m, &x, &z)
	return b.cosines(cosines{m: m, x: x, z: z}, rows)
}

// SparseCosines computes the features of sparse rows. Their bits are the same as the bits that Cosines computes for
// dense rows.
func (b *Backend) SparseCosines(
	m *matrix.CosineMap,
	rowPtr []int,
	colIdx []int32,
	val []float64,
	z matrix.Matrix,
) (finite bool) {
	rows, _ := matrix.CheckSparseCosines(m, rowPtr, colIdx, val, &z)
	return b.cosines(cosines{
		m:      m,
		rowPtr: rowPtr,
		colIdx: colIdx,
		val:    val,
		z:      z,
	}, rows)
}

// cosines holds the operands of Cosines or SparseCosines. Only SparseCosines sets rowPtr, colIdx and val. Each part
// of the work computes a group of rows for one panel of the weights, which stays in the cache. The bits of the
// result do not depend on this division.
type cosines struct {
	k      *kernel.Kernel
	m      *matrix.CosineMap
	x      matrix.Matrix
	rowPtr []int
	colIdx []int32
	val    []float64
	z      matrix.Matrix
	groups int // number of groups of rows
}

type cosineTeam struct {
	team
	cosines
	bad atomic.Bool // an element of Z is not finite
}

var cosineTeams pool[cosineTeam]

const (
	minSharedCosines = 1 << 12 // smallest number of elements of Z that goroutines share; waking one takes about 10 µs
	cosineRows       = 64      // smallest number of rows in a part of the work
	cosineParts      = 4       // largest number of parts for each thread
	cosineInputs     = 256     // number of inputs multiplied at a time; their weights in a panel take 256 KiB
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
	parts := panels * c.groups
	if rows*c.components() < minSharedCosines {
		s := scratches.get()
		for i := range parts {
			team.doPart(i, s)
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

func (t *cosineTeam) doPart(i int, s *scratch) {
	rows := t.z.Rows
	panel := i / t.groups
	lo := partStart(rows, i%t.groups, t.groups, 4)
	hi := partStart(rows, i%t.groups+1, t.groups, 4)
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

// at returns the address of the first element of row i in the given panel of the result Z.
func (c *cosines) at(i, panel int) *float64 {
	return &c.z.Data[i*c.z.Stride+panel*matrix.PanelWidth]
}

// sparse computes rows lo to hi, hi excluded, of one panel of the result. It stores the arguments of the cosines in
// the workspace sums, because the result often does not fit in the cache.
func (c *cosines) sparse(lo, hi, panel int, sums []float64) (finite bool) {
	u, w := c.m.Panel(panel)
	n := len(u)
	finite = true
	for i := lo; i < hi; i++ {
		first := c.rowPtr[i]
		end := c.rowPtr[i+1]
		c.k.Cosines.Chain(
			n,
			end-first,
			unsafe.SliceData(c.val[first:end]),
			unsafe.SliceData(c.colIdx[first:end]),
			unsafe.SliceData(w),
			&u[0],
			&sums[0],
		)
		finite = c.k.Cos(n, c.m.Scale(), &sums[0], c.at(i, panel)) &&
			finite
	}
	return finite
}

// dense computes rows lo to hi, hi excluded, of one panel of the result. It multiplies cosineInputs inputs at a
// time and keeps partial sums in the result Z. The workspace sums holds the final sums of a few rows.
func (c *cosines) dense(lo, hi, panel int, sums []float64) (finite bool) {
	u, w := c.m.Panel(panel)
	n := len(u)
	inputs, _ := c.m.Dims()
	finite = true
	for first := 0; first == 0 || first < inputs; first += cosineInputs {
		count := min(cosineInputs, inputs-first)
		block := w[first*n : (first+count)*n]
		last := first+count == inputs
		for i := lo; i < hi; {
			x := c.row(i, first, count)
			z := c.at(i, panel)
			from := &u[0]
			ldf := 0
			to := z
			ldt := c.z.Stride
			if first > 0 {
				from, ldf = z, c.z.Stride
			}
			if last {
				to = &sums[0]
				ldt = n
			}
			end := i + 1
			if i+4 <= hi {
				end = i + 4
				c.k.Cosines.Chain4(
					n,
					count,
					x,
					c.x.Stride,
					unsafe.SliceData(block),
					from,
					ldf,
					to,
					ldt,
				)
			} else {
				c.k.Cosines.Chain(
					n,
					count,
					x,
					unsafe.SliceData(c.m.Columns()),
					unsafe.SliceData(block),
					from,
					to,
				)
			}
			for r := 0; i < end; i++ {
				if last {
					finite = c.k.Cos(n, c.m.Scale(), &sums[r], c.at(i, panel)) &&
						finite
				}
				r += n
			}
		}
	}
	return finite
}

// row returns the address of element (i, column) of X, which is the first of count elements. It returns nil if
// count is 0, because this element may then not exist.
func (c *cosines) row(i, column, count int) *float64 {
	if count == 0 {
		return nil
	}
	at := i*c.x.Stride + column
	return unsafe.SliceData(c.x.Data[at : at+count])
}
