package purego

import (
	"runtime"

	"github.com/fdridge/fdridge/engine/internal/accuracy"
	"github.com/fdridge/fdridge/engine/internal/matrix"
)

// A gradient is R = A·Xᵀ − B and G += Rᵀ·A for rows that are divided among parts by
// their shape alone.
type gradient struct {
	be         *Backend
	n, d, t    int
	a, x, b, r matrix.Matrix
	sumTree
}

// A sumTree is where the sums of the parts are added: in pairs, these in pairs again, and
// so on, a binary tree, which is the same whoever computes what of it. A task is a
// subtree.
type sumTree struct {
	parts int       // a power of two
	tasks int       // also a power of two
	depth int       // sums that a task needs at a time
	size  int       // elements of a sum
	sums  []float64 // those of all tasks
}

type gradientTeam struct {
	team
	job          tiledGradient // or its gradient alone, for few right-hand sides
	sums, packed []float64     // memory for those of the job
}

var gradients pool[gradientTeam]

// Most rows of a part and most parts: enough to share out, few enough that adding them
// costs little, and no long chain of additions. From severalTargets right-hand sides on
// a part has twice the rows, for t×d matrices are added and soon leave the cache.
const (
	partRows       = 32
	mostParts      = 16
	severalTargets = 4
)

// gradientStrip is the number of columns taken at a time, so that four rows stay in
// the first-level cache while they are added to one vector of G after the other.
const gradientStrip = 512

// Gradient computes R = A·Xᵀ − B and G += Rᵀ·A, each row of A being used for both
// while it is in cache: A is read once from memory. From wideTargets right-hand
// sides on it is done in tiles.
func (b *Backend) Gradient(a, x, rhs, g, r matrix.Matrix) {
	matrix.Gradient(&a, &x, &rhs, &g, &r)
	n, d, t := a.Rows, a.Cols, x.Rows
	if n == 0 || t == 0 {
		return
	}
	v := gradient{be: b, n: n, d: d, t: t, a: a, x: x, b: rhs, r: r, sumTree: sumTree{parts: 1, size: t * d}}
	if b.inTiles(t) && d > 0 {
		v.doInTiles(g)
		return
	}
	rows := partRows
	if t >= severalTargets {
		rows *= 2
	}
	v.divide(rows)
	if v.parts == 1 {
		v.rows(0, n, g)
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

// divide makes parts of at most so many rows, unless that takes more than mostParts.
func (v *gradient) divide(rows int) {
	for v.n*v.d*v.t >= accuracy.SharedWork && v.parts < mostParts && v.parts*rows < v.n {
		v.parts *= 2
	}
}

// plan divides the tree into tasks. More tasks are easier to share evenly, but each needs
// sums of its own, which leave the cache. So there is one task for each thread, and more
// only while the sums of all tasks have no more than mostParts vectors.
func (v *gradient) plan() {
	v.tasks = 1
	for v.tasks < min(v.parts, max(runtime.GOMAXPROCS(0), mostParts/v.t)) {
		v.tasks *= 2
	}
	v.depth = 1
	for parts := v.tasks; parts < v.parts; parts *= 2 {
		v.depth++
	}
}

// task is the memory of task i, which begins with its sum.
func (v *sumTree) task(i int) []float64 {
	size := v.depth * v.size
	return v.sums[i*size : (i+1)*size]
}

// part does task i.
func (v *gradient) part(i int, s *scratch) { v.subtree(i, s, v.overwrite) }

// A leafSum overwrites g with the sum of rows lo to hi.
type leafSum = func(s *scratch, lo, hi int, g []float64)

func (v *gradient) overwrite(_ *scratch, lo, hi int, g []float64) {
	clear(g[:v.size])
	v.rows(lo, hi, matrix.Strided(v.t, v.d, g, v.d))
}

// subtree computes the sum of task i.
func (v *gradient) subtree(i int, s *scratch, of leafSum) {
	parts := v.parts / v.tasks
	v.tree(s, i*parts, parts, v.task(i), of)
}

// tree computes the sum of so many parts, from first on, at the start of g. Behind it
// is room for one more at each level.
func (v *gradient) tree(s *scratch, first, parts int, g []float64, of leafSum) {
	if parts == 1 {
		of(s, share(v.n, first, v.parts, 4), share(v.n, first+1, v.parts, 4), g)
		return
	}
	half := parts / 2
	v.tree(s, first, half, g, of)
	v.tree(s, first+half, half, g[v.size:], of)
	v.add(g, g[v.size:])
}

// add adds the sum h to g.
func (v *gradient) add(g, h []float64) {
	v.be.kernel.Axpy1(v.size, 1, &h[0], &g[0])
}

// rows does rows lo to hi, four at a time.
func (v *gradient) rows(lo, hi int, g matrix.Matrix) {
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
			k.Axpy1(d, v.residual(i, q, k.Dot1(d, a, &v.x.Data[q*v.x.Stride])), a, &g.Data[q*g.Stride])
		}
	}
}

// fourRows does rows i to i+4.
func (v *gradient) fourRows(i int, g matrix.Matrix) {
	k, a, r := v.be.kernel, v.a.Data[i*v.a.Stride:], v.r.Data[i*v.r.Stride:]
	k.DotsMany(v.d, v.t, &a[0], v.a.Stride, &v.x.Data[0], v.x.Stride, &r[0], v.r.Stride)
	for s := i; v.b.Data != nil && s < i+4; s++ {
		for q := range v.t {
			v.residual(s, q, v.r.Data[s*v.r.Stride+q])
		}
	}
	for l := 0; l < v.d; l += gradientStrip {
		k.AxpysMany(min(gradientStrip, v.d-l), v.t, &r[0], v.r.Stride, &a[l], v.a.Stride, &g.Data[l], g.Stride)
	}
}

// residual writes aᵢ·x_q − b_iq to R and returns it.
func (v *gradient) residual(i, q int, ax float64) float64 {
	if v.b.Data != nil {
		ax -= v.b.Data[i*v.b.Stride+q]
	}
	v.r.Data[i*v.r.Stride+q] = ax
	return ax
}
