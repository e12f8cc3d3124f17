package purego

import (
	"math"
	"runtime"

	"github.com/fdridge/fdridge/engine/internal/matrix"
)

// A product is C = alpha·op(A)·op(B) + beta·C or, when lower is set, its lower
// triangle. It follows BLIS: K. Goto, R. van de Geijn, "Anatomy of
// High-Performance Matrix Multiplication", ACM TOMS 34 (2008); F. Van Zee, R. van
// de Geijn, "BLIS: A Framework for Rapidly Instantiating BLAS Functionality", ACM
// TOMS 41 (2015).
//
// Every element of C is the sum over blocks of k, the same for any tile that it
// falls in, so that the result doesn't depend on how C is divided.
type product struct {
	be          *Backend
	m, n, k     int // op(A) is m×k, op(B) k×n
	a, b        operand
	c           matrix.Matrix
	alpha, beta float64
	triangle
}

// An operand is op(A): Aᵀ where trans is set, else A.
type operand struct {
	matrix.Matrix
	trans bool
}

// A triangle is what of C is computed: where lower is set, rows first to m of the lower
// triangle, else all of it.
type triangle struct {
	lower bool
	first int // 0 where lower is not set
}

// A dividedProduct is a product in parts: C divided into so many rows and columns of
// blocks.
type dividedProduct struct {
	product
	rows, cols int
}

type productTeam struct {
	team
	dividedProduct
}

var products pool[productTeam]

// minParallel is the number of multiply-adds below which waking another goroutine
// costs more than it saves.
const minParallel = 1 << 19

// multiply computes p.
func multiply(p *product) {
	if p.m == p.first || p.n == 0 {
		return
	}
	if p.alpha == 0 || p.k == 0 {
		p.scale(p.first, p.m, 0, p.n)
		return
	}
	t := products.get()
	t.dividedProduct = p.divide(runtime.GOMAXPROCS(0))
	t.run(&t.dividedProduct, t.rows*t.cols)
	t.dividedProduct = dividedProduct{}
	products.put(t)
}

// divide chooses the parts of C: as few as keep every thread busy, for each part
// packs its own A and B.
func (p *product) divide(threads int) dividedProduct {
	rows := 1
	work := (p.m - p.first) * p.n * p.k
	if threads == 1 || work < minParallel {
		return dividedProduct{*p, 1, 1}
	}
	parts := threads
	if work > 256*minParallel {
		parts *= 4 // a thread held up elsewhere then costs less
	}
	if p.lower {
		return dividedProduct{*p, min(parts, (p.m-p.first+p.be.kernel.NR()-1)/p.be.kernel.NR()), 1}
	}
	packed := func(rows int) int { return parts/rows*p.m + rows*p.n }
	for r := 2; r <= parts; r++ {
		if parts%r == 0 && packed(r) < packed(rows) {
			rows = r
		}
	}
	return dividedProduct{*p, rows, parts / rows}
}

// part computes one part of C. The rows of a triangle are divided so that all
// parts have the same area, the long ones first.
func (p *dividedProduct) part(i int, s *scratch) {
	if p.lower {
		i = p.rows - 1 - i
		lo, hi := p.shareOfTriangle(i), p.shareOfTriangle(i+1)
		p.block(s, lo, hi, 0, hi)
		return
	}
	r, c := i/p.cols, i%p.cols
	p.block(s,
		share(p.m, r, p.rows, p.be.kernel.MR()), share(p.m, r+1, p.rows, p.be.kernel.MR()),
		share(p.n, c, p.cols, p.be.kernel.NR()), share(p.n, c+1, p.cols, p.be.kernel.NR()))
}

// block computes rows i0 to i1 and columns j0 to j1 of C.
func (p *product) block(s *scratch, i0, i1, j0, j1 int) {
	if i0 >= i1 || j0 >= j1 {
		return
	}
	be := p.be
	add := p.beta != 0
	if add {
		p.scale(i0, i1, j0, j1)
	}
	depth := evenly(p.k, be.kc)
	height := evenly(i1-i0, be.mc)
	for j := j0; j < j1; j += be.nc {
		nb := min(be.nc, j1-j)
		for l := 0; l < p.k; l += depth {
			kb := min(depth, p.k-l)
			packed := be.pack(grow(&s.b, kb*roundUp(nb, be.kernel.Unit)), be.kernel.NR(), !p.b.trans, p.b.Data, p.b.Stride, l, j, kb, nb)
			for i := i0; i < i1; i += height {
				mb := min(height, i1-i)
				if p.lower && i+mb <= j {
					continue
				}
				x := be.pack(grow(&s.a, kb*roundUp(mb, be.kernel.Unit)), be.kernel.MR(), p.a.trans, p.a.Data, p.a.Stride, l, i, kb, mb)
				p.tiles(s, x, packed, 0, i, j, mb, nb, kb, add || l > 0)
			}
		}
	}
}

// share is where part i of parts begins when n is divided evenly, in multiples of
// unit.
func share(n, i, parts, unit int) int {
	if i == parts {
		return n
	}
	return min(n, roundUp(i*n/parts, unit))
}

// shareOfTriangle is the row where part i of a triangle begins, all having the same
// area.
func (p *dividedProduct) shareOfTriangle(i int) int {
	return shareOfTriangle(p.first, p.m, i, p.rows, p.be.kernel.MR())
}

// shareOfTriangle is the row, a multiple of unit, where part i of so many of the rows first to
// m of a triangle begins, all having the same area.
func shareOfTriangle(first, m, i, parts, unit int) int {
	switch i {
	case 0:
		return first
	case parts:
		return m
	}
	above, all := float64(first)*float64(first), float64(m)*float64(m)
	row := math.Sqrt(above + (all-above)*float64(i)/float64(parts))
	return min(m, max(first, roundUp(int(row), unit)))
}

// evenly is the step, at most most, that divides n into equal parts.
func evenly(n, most int) int {
	parts := (n + most - 1) / most
	return max(1, roundUp((n+parts-1)/max(parts, 1), 8))
}

// scale multiplies a block of C by beta, only writing where that is 0.
func (p *product) scale(i0, i1, j0, j1 int) {
	if p.beta == 1 {
		return
	}
	for i := i0; i < i1; i++ {
		end := j1
		if p.lower {
			end = min(end, i+1)
		}
		if j0 < end {
			scaleRow(p.beta, p.c.Data[i*p.c.Stride+j0:i*p.c.Stride+end])
		}
	}
}

// tiles multiplies the packed a (mb rows) and b (nb columns) into the block of C at
// (i, j). The rows of b are where they lie, ldb apart, or packed where ldb is 0. A panel
// of b stays in the first-level cache while those of a go by.
func (p *product) tiles(s *scratch, a, b []float64, ldb, i, j, mb, nb, kb int, add bool) {
	k := p.be.kernel
	mr, nr := k.MR(), k.NR()
	for y := 0; y < nb; y += nr {
		w := min(nr, nb-y)
		units := (w + k.Unit - 1) / k.Unit
		padded := units * k.Unit
		var panel []float64
		apart := 0
		switch {
		case ldb == 0:
			panel = b[y*kb:]
		case w == padded:
			panel, apart = b[y:], ldb
		default:
			panel = p.be.pack(grow(&s.b, kb*padded), nr, true, b, ldb, 0, y, kb, w)
		}
		tile := func(a []float64, c []float64, ldc int) {
			if apart > 0 {
				k.TileRowsB[units-1](kb, p.alpha, &a[0], &panel[0], apart, &c[0], ldc, add)
			} else {
				k.Tile[units-1](kb, p.alpha, &a[0], &panel[0], &c[0], ldc, add)
			}
		}
		for x := 0; x < mb; x += mr {
			h := min(mr, mb-x)
			row, col := i+x, j+y
			if p.lower && row+h <= col {
				continue
			}
			if h == mr && w == padded && !(p.lower && row < col+w-1) {
				tile(a[x*kb:], p.c.Data[row*p.c.Stride+col:], p.c.Stride)
				continue
			}
			t := s.tile[:mr*nr]
			if add {
				p.exchange(t, row, col, h, w, func(c, t []float64) { copy(t, c) })
			}
			tile(a[x*kb:], t, nr)
			p.exchange(t, row, col, h, w, func(c, t []float64) { copy(c, t) })
		}
	}
}

// exchange copies between C and a whole tile the part of the tile that lies in C.
func (p *product) exchange(t []float64, row, col, h, w int, move func(c, t []float64)) {
	nr := p.be.kernel.NR()
	for r := range h {
		width := w
		if p.lower {
			width = min(w, row+r-col+1)
		}
		if width > 0 {
			at := (row+r)*p.c.Stride + col
			move(p.c.Data[at:at+width], t[r*nr:r*nr+width])
		}
	}
}
