package purego

import "github.com/fdridge/fdridge/engine/internal/matrix"

// A tiledGradient computes R = A·Xᵀ − B and G += Rᵀ·A for many right-hand sides. The arithmetic then takes
// longer than reading A. Each chunk of rows of A is processed in tiles twice, first for R and then for G. The first
// time brings the chunk into the cache. Only X and R are packed, because they are small compared with A. The sums
// for G are stored tile by tile, so that they are read and written sequentially.
//
// An element of R is a sum over strips of columns of A. An element of G is a sum over chunks of rows of A.
type tiledGradient struct {
	gradient
	g             matrix.Matrix
	width, padded int       // number of columns of a packed panel of X, and of all panels
	packed        []float64 // the packed X, strip by strip
	stage         stage
}

// A stage is a step of the computation. All tasks complete a stage before the next one begins.
type stage int

const (
	packing stage = iota // pack X; each task packs some strips
	summing              // sum rows
	adding               // add the sums of all tasks to G; each task adds some strips
)

func (v *tiledGradient) doPart(i int, s *scratch) {
	switch v.stage {
	case packing:
		v.packStrips(i)
	case summing:
		v.subtree(i, s, v.chunks)
	case adding:
		v.addStrips(i)
	}
}

// wideTargets is the smallest number of right-hand sides at which tiles are faster than the kernels for vectors.
// widePartRows is the largest number of rows in a part if tiles are used, unless this would give more than maxParts
// parts. It is large, because the sums of each part must be added at the end.
const (
	wideTargets  = 8
	widePartRows = 128
)

const (
	// wideStrip is the number of columns of A in a strip. It is a multiple of the tile width of every kernel. A
	// panel of X with this number of columns stays in the first-level cache.
	wideStrip = 264
	// wideChunk is the number of rows of A in a chunk, which are processed together. With fewer rows, the sums for
	// Rᵀ·A would be loaded more often. With more rows, a chunk would not fit in the second-level cache.
	wideChunk = 32
)

// usesTiles reports whether Gradient uses tiles for t right-hand sides. The number t must be at least wideTargets.
// Rounding t up to a multiple of the kernel's unit must add at most half of t.
func (b *Backend) usesTiles(t int) bool {
	return t >= wideTargets && 2*roundUp(t, b.kernel.Unit) <= 3*t
}

// computeTiled computes R = A·Xᵀ − B and adds Rᵀ·A to the argument g. It uses tiles, which are fast for many
// right-hand sides.
func (v gradient) computeTiled(g matrix.Matrix) {
	k := v.be.kernel
	v.divide(widePartRows)
	v.plan()
	padded := roundUp(v.t, k.Unit)
	v.size = roundUp(v.d, k.Unit) * padded
	team := gradients.get()
	v.sums = grow(&team.sums, v.tasks*v.depth*v.size)
	team.job = tiledGradient{
		gradient: v,
		g:        g,
		width:    v.be.evenPanels(padded),
		padded:   padded,
		packed:   grow(&team.packed, v.d*padded),
	}
	for _, stage := range [...]stage{packing, summing, adding} {
		team.job.stage = stage
		team.run(&team.job, v.tasks)
	}
	team.job = tiledGradient{}
	gradients.put(team)
}

// evenPanels returns the width of the panels into which n columns are divided. There are as few panels as the
// widest tile allows, and all have about the same width.
func (b *Backend) evenPanels(n int) int {
	panels := (n + b.kernel.NR() - 1) / b.kernel.NR()
	return roundUp((n+panels-1)/panels, b.kernel.Unit)
}

func (v *tiledGradient) strips() int {
	return (v.d + wideStrip - 1) / wideStrip
}

// packStrips packs the strips of columns of X that belong to task i.
func (v *tiledGradient) packStrips(i int) {
	for s := i * v.strips() / v.tasks; s < (i+1)*v.strips()/v.tasks; s++ {
		j := s * wideStrip
		v.be.pack(
			v.packed[j*v.padded:],
			v.width,
			false,
			v.x.Data,
			v.x.Stride,
			j,
			0,
			min(wideStrip, v.d-j),
			v.t,
		)
	}
}

// addStrips adds the sums that all tasks have computed to G, but only for the strips of columns that belong to task
// i.
func (v *tiledGradient) addStrips(i int) {
	k := v.be.kernel
	begin := i * v.strips() / v.tasks * wideStrip
	end := min((i+1)*v.strips()/v.tasks*wideStrip, v.d)
	if begin >= end {
		return
	}
	lo := begin * v.padded
	hi := roundUp(end, k.Unit) * v.padded
	for step := 1; step < v.tasks; step *= 2 {
		for q := 0; q < v.tasks; q += 2 * step {
			k.Axpy1(hi-lo, 1, &v.task(q + step)[lo], &v.task(q)[lo])
		}
	}
	for j := begin; j < end; j += k.NR() {
		n := min(k.NR(), v.d-j)
		for q := range v.t {
			k.Axpy1(
				n,
				1,
				&v.sums[j*v.padded+q*roundUp(n, k.Unit)],
				&v.g.Data[q*v.g.Stride+j],
			)
		}
	}
}

// chunks computes rows lo to hi of R, hi excluded, and overwrites sums with the product Rᵀ·A of these rows.
func (v *tiledGradient) chunks(s *scratch, lo, hi int, sums []float64) {
	r := grow(&s.b, 2*wideChunk*v.padded)
	r, packed := r[:wideChunk*v.padded], r[wideChunk*v.padded:]
	for i := lo; i < hi; i += wideChunk {
		n := min(wideChunk, hi-i)
		for j := 0; j < v.d; j += wideStrip {
			v.be.timesRows(
				s,
				n,
				v.padded,
				min(wideStrip, v.d-j),
				v.a.Data[i*v.a.Stride+j:],
				v.a.Stride,
				v.packed[j*v.padded:],
				v.width,
				r,
				v.padded,
				j > 0,
			)
		}
		for row := range n {
			for q := range v.t {
				v.residual(i+row, q, r[row*v.padded+q])
			}
		}
		v.be.pack(packed, v.be.kernel.MR(), true, v.r.Data, v.r.Stride, i, 0, n, v.t)
		v.addChunk(s, i, n, packed, sums, i > lo)
	}
}

// addChunk multiplies n rows of R, which are packed in r, by rows i to i+n−1 of A. It overwrites sums with the
// product Rᵀ·A. If add is true, it adds the product to sums instead.
func (v *tiledGradient) addChunk(
	s *scratch,
	i, n int,
	r, sums []float64,
	add bool,
) {
	k := v.be.kernel
	for j := 0; j < v.d; j += k.NR() {
		cols := min(k.NR(), v.d-j)
		width := roundUp(cols, k.Unit)
		a := v.a.Data[i*v.a.Stride+j:]
		c := sums[j*v.padded:]
		units := width / k.Unit
		if width > cols || v.be.evicts(v.a.Stride) {
			a = v.be.pack(grow(&s.a, n*width), width, true, a, v.a.Stride, 0, 0, n, cols)
			for q := 0; q < v.padded; q += k.Unit {
				k.Tile[units-1](
					n,
					1,
					&r[q*n],
					&a[0],
					&c[q*width],
					width,
					add,
				)
			}
			continue
		}
		for q := 0; q < v.padded; q += k.Unit {
			k.TileRowsB[units-1](
				n,
				1,
				&r[q*n],
				&a[0],
				v.a.Stride,
				&c[q*width],
				width,
				add,
			)
		}
	}
}

// evicts reports whether rows with the given stride evict each other from the first-level cache, while tiles read a few
// columns of many rows. If the stride is a multiple of 4 KiB, all rows use the same set of a cache with 64 sets. For
// the kernels with wide tiles it returns false: they use each line so rarely that copying the columns takes longer.
func (b *Backend) evicts(stride int) bool {
	const period = 4096 / 8 // numbers
	return stride%period == 0 && b.kernel.Unit < lineNumbers
}

// timesRows computes C = A·B, or adds A·B to C if add is true. A is n×k and not packed. B is k×m and packed in
// panels of the given width. C must have room for n rows and m columns, both rounded up to multiples of the
// kernel's Unit. The rows of C after row n are unspecified.
func (b *Backend) timesRows(
	s *scratch,
	n, m, k int,
	a []float64,
	lda int,
	packed []float64,
	width int,
	c []float64,
	ldc int,
	add bool,
) {
	unit := b.kernel.Unit
	whole := n / unit * unit
	var rest []float64
	if whole < n {
		rest = grow(&s.a, unit*k)
		for i := range n - whole {
			copy(rest[i*k:(i+1)*k], a[(whole+i)*lda:])
		}
	}
	for j := 0; j < m; j += width {
		tile := b.kernel.TileRowsA[(min(width, m-j)-1)/unit]
		p := &packed[j*k]
		for i := 0; i < whole; i += unit {
			tile(k, 1, &a[i*lda], lda, p, &c[i*ldc+j], ldc, add)
		}
		if whole < n {
			tile(k, 1, &rest[0], k, p, &c[whole*ldc+j], ldc, add)
		}
	}
}
