package purego

import (
	"runtime"

	"github.com/fdridge/fdridge/engine/internal/matrix"
)

// A gradient holds the operands of one call of Gradient, which computes R = A·Xᵀ − B and G += Rᵀ·A. A is
// n×d, and t is the number of right-hand sides. The division of the rows into parts depends only on n, d and t.
type gradient struct {
	be         *Backend
	n, d, t    int
	a, x, b, r matrix.Matrix
	sumTree
}

// A sumTree adds the sums that were computed for the parts of the rows. It adds them pairwise in a binary tree. The
// order of the additions does not depend on which goroutine computes which sum. A task computes one subtree.
type sumTree struct {
	parts int       // a power of two
	tasks int       // a power of two, at most parts
	depth int       // number of sums that a task stores at the same time
	size  int       // number of elements of a sum
	sums  []float64 // memory of all tasks
}

type gradientTeam struct {
	team
	job          tiledGradient // for few right-hand sides, only the field gradient is used
	sums, packed []float64     // memory of the job
}

var gradients pool[gradientTeam]

// partRows is the largest number of rows in a part, unless this would give more than maxParts parts. Then there are
// maxParts parts with more rows. Parts give work to several threads, and limit the number of terms of each sum.
// With at least severalTargets right-hand sides, a part may have twice as many rows. The sums then do not fit in
// the cache, so adding the sums of many parts takes long.
const (
	partRows       = 32
	maxParts       = 16
	severalTargets = 4
)

// gradientStrip is the number of columns that are processed together. Four rows of A in such a strip stay in the
// first-level cache while they are added to all rows of G.
const gradientStrip = 512

// Gradient computes R = A·Xᵀ − B and G += Rᵀ·A. It uses a row of A for both while the row is in the cache, so
// that A is read from memory once. For many right-hand sides Gradient divides the products into tiles, see
// [tiledGradient].
func (b *Backend) Gradient(a, x, rhs, g, r matrix.Matrix) {
	matrix.CheckGradient(&a, &x, &rhs, &g, &r)
	n := a.Rows
	d := a.Cols
	t := x.Rows
	if n == 0 || t == 0 {
		return
	}
	v := gradient{
		be:      b,
		n:       n,
		d:       d,
		t:       t,
		a:       a,
		x:       x,
		b:       rhs,
		r:       r,
		sumTree: sumTree{parts: 1, size: t * d},
	}
	if b.usesTiles(t) && d > 0 {
		v.computeTiled(g)
		return
	}
	rows := partRows
	if t >= severalTargets {
		rows *= 2
	}
	v.divide(rows)
	if v.parts == 1 {
		v.computeRows(0, n, g)
		return
	}
	v.plan()
	team := gradients.get()
	v.sums = grow(&team.sums, v.tasks*v.depth*v.size)
	team.job.gradient = v
	team.run(&team.job.gradient, v.tasks)
	for step := 1; step < v.tasks; step *= 2 {
		for i := 0; i < v.tasks; i += 2 * step {
			v.add(v.task(i), v.task(i+step))
		}
	}
	for q := range t {
		b.kernel.Axpy1(d, 1, &v.sums[q*d], &g.Data[q*g.Stride])
	}
	team.job = tiledGradient{}
	gradients.put(team)
}

// divide doubles the number of parts until a part has at most the given number of rows, or until there are maxParts
// parts. A small gradient keeps one part.
func (v *gradient) divide(rows int) {
	for v.n*v.d*v.t >= matrix.SharedWork && v.parts < maxParts && v.parts*rows < v.n {
		v.parts *= 2
	}
}

// plan chooses the number of tasks for t right-hand sides. It is the larger of the number of threads and
// maxParts/t, rounded up to a power of two, but at most the number of parts. More tasks balance the work better.
// But each task needs memory for sums of t rows.
func (v *gradient) plan() {
	v.tasks = 1
	for v.tasks < min(v.parts, max(runtime.GOMAXPROCS(0), maxParts/v.t)) {
		v.tasks *= 2
	}
	v.depth = 1
	for parts := v.tasks; parts < v.parts; parts *= 2 {
		v.depth++
	}
}

// task returns the memory of task i. The task writes its sum to the beginning of this memory.
func (v *sumTree) task(i int) []float64 {
	size := v.depth * v.size
	return v.sums[i*size : (i+1)*size]
}

func (v *gradient) doPart(i int, s *scratch) {
	v.subtree(i, s, v.overwrite)
}

// A leafSum computes the sum for rows lo to hi, hi excluded, and writes it to g.
type leafSum = func(s *scratch, lo, hi int, g []float64)

func (v *gradient) overwrite(_ *scratch, lo, hi int, g []float64) {
	clear(g[:v.size])
	v.computeRows(lo, hi, matrix.Strided(v.t, v.d, g, v.d))
}

// subtree computes the sum of task i. It calls leaf for each part of the rows that belongs to this task.
func (v *gradient) subtree(i int, s *scratch, leaf leafSum) {
	parts := v.parts / v.tasks
	v.tree(s, i*parts, parts, v.task(i), leaf)
}

// tree writes the sum over count parts, beginning with firstPart, to the start of g. The rest of g is a workspace
// with one sum for each level of the tree.
func (v *gradient) tree(s *scratch, firstPart, count int, g []float64, leaf leafSum) {
	if count == 1 {
		leaf(
			s,
			partStart(v.n, firstPart, v.parts, 4),
			partStart(v.n, firstPart+1, v.parts, 4),
			g,
		)
		return
	}
	half := count / 2
	v.tree(s, firstPart, half, g, leaf)
	v.tree(s, firstPart+half, half, g[v.size:], leaf)
	v.add(g, g[v.size:])
}

func (v *gradient) add(g, h []float64) {
	v.be.kernel.Axpy1(v.size, 1, &h[0], &g[0])
}

// computeRows computes rows lo to hi of R, hi excluded, and adds the product Rᵀ·A of these rows to g.
func (v *gradient) computeRows(lo, hi int, g matrix.Matrix) {
	k, d := v.be.kernel, v.d
	if d == 0 {
		for i := lo; i < hi; i++ {
			for q := range v.t {
				v.residual(i, q, 0)
			}
		}
		return
	}
	i := lo
	for ; i+4 <= hi; i += 4 {
		v.fourRows(i, g)
	}
	for ; i < hi; i++ {
		a := &v.a.Data[i*v.a.Stride]
		for q := range v.t {
			k.Axpy1(
				d,
				v.residual(i, q, k.Dot1(d, a, &v.x.Data[q*v.x.Stride])),
				a,
				&g.Data[q*g.Stride],
			)
		}
	}
}

// fourRows computes rows i to i+3 of R and adds the product Rᵀ·A of these rows to g.
func (v *gradient) fourRows(i int, g matrix.Matrix) {
	k := v.be.kernel
	a := v.a.Data[i*v.a.Stride:]
	r := v.r.Data[i*v.r.Stride:]
	if v.t == 1 {
		v.fourRowsOnce(i, g)
		return
	}
	k.DotsMany(
		v.d,
		v.t,
		&a[0],
		v.a.Stride,
		&v.x.Data[0],
		v.x.Stride,
		&r[0],
		v.r.Stride,
	)
	for s := i; v.b.Data != nil && s < i+4; s++ {
		for q := range v.t {
			v.residual(s, q, v.r.Data[s*v.r.Stride+q])
		}
	}
	for l := 0; l < v.d; l += gradientStrip {
		k.AxpysMany(
			min(gradientStrip, v.d-l),
			v.t,
			&r[0],
			v.r.Stride,
			&a[l],
			v.a.Stride,
			&g.Data[l],
			g.Stride,
		)
	}
}

// fourRowsOnce does the work of fourRows for one right-hand side, with the same bits. It calls Dot4 and Axpy4,
// which are faster than Dots and Axpys for a single vector.
func (v *gradient) fourRowsOnce(i int, g matrix.Matrix) {
	k := v.be.kernel
	a := v.a.Data[i*v.a.Stride:]
	r0, r1, r2, r3 := k.Dot4(v.d, &a[0], v.a.Stride, &v.x.Data[0])
	r0 = v.residual(i, 0, r0)
	r1 = v.residual(i+1, 0, r1)
	r2 = v.residual(i+2, 0, r2)
	r3 = v.residual(i+3, 0, r3)
	k.Axpy4(v.d, r0, r1, r2, r3, &a[0], v.a.Stride, &g.Data[0])
}

// residual computes an element of the residuals R = A·Xᵀ − B from ax, the element (i, q) of A·Xᵀ. It writes the
// element to R and returns it.
func (v *gradient) residual(i, q int, ax float64) float64 {
	if v.b.Data != nil {
		ax -= v.b.Data[i*v.b.Stride+q]
	}
	v.r.Data[i*v.r.Stride+q] = ax
	return ax
}
