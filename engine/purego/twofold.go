package purego

import (
	"math"

	"github.com/fdridge/fdridge/engine/internal/matrix"
	"github.com/fdridge/fdridge/engine/purego/internal/kernel"
)

// GradientTwofold computes R = A·Xᵀ − B + 1·cᵀ and G += (W·R)ᵀ·A with twice the precision of float64. The
// operands are explained in engine.Backend. The division of the rows into parts depends only on the shapes. Each
// part processes at most 32 rows at a time.
func (b *Backend) GradientTwofold(
	a, x, rhs matrix.Matrix,
	c, w []float64,
	g, r matrix.Twofold,
) {
	matrix.CheckGradientTwofold(&a, &x, &rhs, c, w, &g, &r)
	n := a.Rows
	d := a.Cols
	t := x.Rows
	if n == 0 || t == 0 {
		return
	}
	team := twofolds.get()
	v := twofoldGradient{
		k:     b.kernel,
		a:     a,
		x:     x,
		b:     rhs,
		shift: c,
		w:     w,
		r:     r,
		parts: twofoldParts(n, d, t),
		area:  b.mc * b.kc,
	}
	if x.Data != nil {
		v.absX = matrix.View(t, d, grow(&team.absX, t*d))
		for q := range t {
			abs := v.absX.Row(q)
			for j, x := range x.Row(q) {
				abs[j] = math.Abs(x)
			}
		}
	}
	if g.Hi.Data != nil {
		v.sums = grow(&team.sums, 3*v.parts*t*d)
	}
	team.twofoldGradient = v
	team.run(&team.twofoldGradient, v.parts)
	if g.Hi.Data != nil {
		for step := 1; step < v.parts; step *= 2 {
			for i := 0; i < v.parts; i += 2 * step {
				v.add(v.partSums(i+step), v.partSums(i))
			}
		}
		v.add(v.partSums(0), g)
	}
	team.twofoldGradient = twofoldGradient{}
	twofolds.put(team)
}

type twofoldTeam struct {
	team
	twofoldGradient
	absX, sums []float64
}

var twofolds pool[twofoldTeam]

// A twofoldGradient holds the operands and workspaces of GradientTwofold.
type twofoldGradient struct {
	k       *kernel.Kernel
	a, x, b matrix.Matrix
	shift   []float64 // c
	w       []float64
	r       matrix.Twofold
	absX    matrix.Matrix // |X|
	parts   int           // a power of two
	area    int           // number of elements of A that fit in the second-level cache
	sums    []float64     // sums of each part; nil if G is not computed
}

// twofoldRows is the largest number of rows in a part, if maxParts parts are enough. With n rows, d columns and t
// right-hand sides, there is only one part if n·d·t < 2¹⁴. twofoldColumns is the number of columns that are
// processed together.
const (
	twofoldRows    = 128
	twofoldColumns = 512
)

// twofoldParts returns the number of parts of n rows.
func twofoldParts(n, d, t int) int {
	parts := 1
	for n*d*t >= 1<<14 && parts < maxParts && parts*twofoldRows < n {
		parts *= 2
	}
	return parts
}

func (v *twofoldGradient) partSums(i int) matrix.Twofold {
	t, d := v.x.Rows, v.a.Cols
	at := func(k int) matrix.Matrix {
		lo := (3*i + k) * t * d
		return matrix.View(t, d, v.sums[lo:lo+t*d])
	}
	return matrix.Twofold{
		Hi:  at(0),
		Lo:  at(1),
		Err: at(2),
	}
}

func (v *twofoldGradient) add(h, g matrix.Twofold) {
	d := g.Hi.Cols
	for q := range g.Hi.Rows {
		if d > 0 {
			v.k.Twofold.Add(
				d,
				&h.Hi.Row(q)[0],
				&h.Lo.Row(q)[0],
				&h.Err.Row(q)[0],
				&g.Hi.Row(q)[0],
				&g.Lo.Row(q)[0],
				&g.Err.Row(q)[0],
			)
		}
	}
}

func (v *twofoldGradient) doPart(i int, s *scratch) {
	var g matrix.Twofold
	if v.sums != nil {
		g = v.partSums(i)
		clear(g.Hi.Data)
		clear(g.Lo.Data)
		for j := range g.Err.Data {
			g.Err.Data[j] = tiny * float64(v.a.Rows)
		}
	}
	rows := 32
	// Each strip of rows of A is read twice, for R and for G. Then the sums of the strip are added to G. For one
	// right-hand side, strips are short enough to stay in the second-level cache. This gives more strips, but
	// adding their sums takes less time than reading A twice from memory.
	if v.x.Rows == 1 {
		rows = min(rows, max(4, v.area/max(1, v.a.Cols)&^3))
	}
	lo := partStart(v.a.Rows, i, v.parts, 4)
	hi := partStart(v.a.Rows, i+1, v.parts, 4)
	for ; lo < hi; lo += rows {
		strip := newStrip(v, s, lo, min(lo+rows, hi))
		strip.computeScales()
		for group := range strip.groups() {
			strip.residuals(group)
		}
		if v.sums != nil {
			strip.gradient(g)
		}
	}
}
