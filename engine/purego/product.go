package purego

import (
	"math"
	"runtime"
	"sync/atomic"

	"github.com/fdridge/fdridge/engine/internal/matrix"
	"github.com/fdridge/fdridge/engine/purego/internal/kernel"
)

// A product holds the operands of C = alpha·op(A)·op(B) + beta·C, where op(A) is A or Aᵀ. It may be restricted to
// the lower triangle of C. The algorithm follows BLIS: K. Goto, R. van de Geijn, "Anatomy of High-Performance
// Matrix Multiplication", ACM TOMS 34 (2008); F. Van Zee, R. van de Geijn, "BLIS: A Framework for Rapidly
// Instantiating BLAS Functionality", ACM TOMS 41 (2015).
//
// An element of C is a sum of k terms. They are added in blocks, which are the same for every element of C.
// Therefore the bits of C do not depend on how it is divided into parts.
type product struct {
	be          *Backend
	m, n, k     int // op(A) is m×k, op(B) k×n
	a, b        operand
	c           matrix.Matrix
	alpha, beta float64
	triangle
}

// An operand is op(A): Aᵀ if trans is true, otherwise A.
type operand struct {
	matrix.Matrix
	trans bool
}

// A triangle selects the elements of a product C that are computed. If lower is true, these are the elements of the
// lower triangle in row firstRow and below. Otherwise they are all elements of C.
type triangle struct {
	lower    bool
	firstRow int // 0 if lower is false
}

// A productTeam divides C into rows×cols parts, which several goroutines compute. A part multiplies packed blocks
// of B, which are copies in the order in which kernels read them. If packs is zero, each part packs the blocks of B
// that it needs. Otherwise all parts share each packed block of B. Packing a shared block is then divided into
// packs further parts of the work.
type productTeam struct {
	team
	product
	rows, cols, packs int
	block             block
	packed            *scratch     // the shared block, packed
	unpacked          atomic.Int64 // number of parts of the block that are not packed yet
}

// A block is the part of op(B) with rows l to l+kb−1 and columns j to j+nb−1.
type block struct{ l, kb, j, nb int }

var products pool[productTeam]

// minParallel is the number of multiply-adds above which waking another goroutine saves time.
const minParallel = 1 << 19

func multiply(p *product) {
	if p.m == p.firstRow || p.n == 0 {
		return
	}
	if p.alpha == 0 || p.k == 0 {
		p.scale(p.firstRow, p.m, 0, p.n)
		return
	}
	t := products.get()
	t.product = *p
	t.divide(free())
	if t.packs == 0 {
		t.run(t, t.rows*t.cols)
	} else {
		t.packed = scratches.get()
		t.blocks(0, t.n, t.be.nc, func(b block) {
			t.block = b
			t.unpacked.Store(int64(t.packs))
			grow(&t.packed.b, b.kb*roundUp(b.nb, t.be.kernel.Unit))
			t.run(t, t.packs+t.rows)
		})
		scratches.put(t.packed)
	}
	t.product, t.packed = product{}, nil
	products.put(t)
}

// divide decides into how many parts C is divided. By default, there is at most one part for each thread, because
// each part packs its own blocks of A and B. For a large product, the parts share packed blocks of B. There are
// then up to eight parts for each thread, so that other threads can compute the parts of a delayed thread.
func (t *productTeam) divide(threads int) {
	height, unit := t.m-t.firstRow, t.be.kernel.NR()
	work, bands, blocks := height*t.n*t.k, (height+unit-1)/unit, (t.k/t.be.kc+1)*(t.n/t.be.nc+1)
	if t.lower {
		work = height * (t.m + t.firstRow) / 2 * t.k
	}
	t.rows, t.cols, t.packs = 1, 1, 0
	switch {
	case threads == 1 || work < minParallel:
	case work/blocks >= 32*minParallel && bands >= 2*threads:
		t.rows, t.packs = min(8*threads, bands), threads
	case t.lower:
		t.rows = min(threads, bands)
	default:
		packed := func(rows int) int { return threads/rows*t.m + rows*t.n }
		for r := 2; r <= threads; r++ {
			if threads%r == 0 && packed(r) < packed(t.rows) {
				t.rows = r
			}
		}
		t.cols = threads / t.rows
	}
}

// rowsOf returns the rows of C in part i: rows lo to hi−1.
func (t *productTeam) rowsOf(i int) (lo, hi int) {
	if t.lower { // bands of the same area, those with long rows first
		first := func(i int) int { return triangleStart(t.firstRow, t.m, i, t.rows, t.be.kernel.MR()) }
		return first(t.rows - 1 - i), first(t.rows - i)
	}
	return partStart(t.m, i, t.rows, t.be.kernel.MR()), partStart(t.m, i+1, t.rows, t.be.kernel.MR())
}

// doPart does part i of the work: it computes a part of C, or packs a part of the shared block of B. The parts that
// pack have the smallest numbers, so goroutines take them first. A goroutine that computes waits until the whole
// block is packed. Each part of the block that is not packed yet is then being packed by another goroutine.
func (t *productTeam) doPart(i int, s *scratch) {
	nr := t.be.kernel.NR()
	switch {
	case t.packs == 0:
		lo, hi := t.rowsOf(i / t.cols)
		j, end := 0, hi
		if !t.lower {
			j, end = partStart(t.n, i%t.cols, t.cols, nr), partStart(t.n, i%t.cols+1, t.cols, nr)
		}
		columns := t.be.nc
		if t.readsRows() {
			columns = t.nearColumns()
		}
		t.blocks(j, end, columns, func(b block) {
			t.multiplyRows(s, t.packB(grow(&s.b, b.kb*roundUp(b.nb, t.be.kernel.Unit)), b), lo, hi, b)
		})
	case i < t.packs:
		b := t.block
		j, end := partStart(b.nb, i, t.packs, nr), partStart(b.nb, i+1, t.packs, nr)
		t.packB(t.packed.b[j*b.kb:], block{b.l, b.kb, b.j + j, end - j})
		t.unpacked.Add(-1)
	default:
		for t.unpacked.Load() > 0 {
			runtime.Gosched()
		}
		lo, hi := t.rowsOf(i - t.packs)
		t.multiplyRows(s, t.packed.b, lo, hi, t.block)
	}
}

// blocks calls do for each block of op(B) in columns j0 to j1−1. A block has at most the given number of columns.
func (p *product) blocks(j0, j1, columns int, do func(b block)) {
	depth := evenStep(p.k, p.be.kc)
	for j := j0; j < j1; j += columns {
		for l := 0; l < p.k; l += depth {
			do(block{l, min(depth, p.k-l), j, min(columns, j1-j)})
		}
	}
}

// fewPanels is the largest number of panels of B at which kernels read the rows of A directly. If B has more
// panels, kernels read packed panels of A, which use the caches better. Packing A is then a small share of the
// time.
const fewPanels = 42

// readsRows reports whether kernels read rows of A directly, instead of packed panels of A.
func (p *product) readsRows() bool {
	return !p.a.trans && p.n <= fewPanels*p.be.kernel.NR()
}

// nearColumns returns how many columns of a packed block of B fit in half of the second-level cache. The result is
// a multiple of the width of a tile.
func (p *product) nearColumns() int {
	nr := p.be.kernel.NR()
	return max(1, p.be.mc/nr) * nr
}

func (p *product) packB(dst []float64, b block) []float64 {
	return p.be.pack(dst, p.be.kernel.NR(), !p.b.trans, p.b.Data, p.b.Stride, b.l, b.j, b.kb, b.nb)
}

// multiplyRows adds the product of op(A) and the block b of op(B) to rows i0 to i1−1 of C. The block is packed in
// the argument packed. If readsRows is true, kernels read rows of A directly. Otherwise multiplyRows first packs
// blocks of A.
func (p *product) multiplyRows(s *scratch, packed []float64, i0, i1 int, b block) {
	be := p.be
	if b.l == 0 && p.beta != 0 {
		p.scale(i0, i1, b.j, b.j+b.nb)
	}
	if p.readsRows() {
		step := p.nearColumns()
		for y := 0; y < b.nb; y += step {
			p.tilesOfRows(s, packed[y*b.kb:], i0, i1, block{b.l, b.kb, b.j + y, min(step, b.nb-y)})
		}
		return
	}
	height := evenStep(i1-i0, be.mc)
	for i := i0; i < i1; i += height {
		mb := min(height, i1-i)
		if p.lower && i+mb <= b.j {
			continue
		}
		x := be.pack(
			grow(&s.a, b.kb*roundUp(mb, be.kernel.Unit)),
			be.kernel.MR(),
			p.a.trans,
			p.a.Data,
			p.a.Stride,
			b.l,
			i,
			b.kb,
			mb,
		)
		p.tiles(s, x, packed, 0, i, b.j, mb, b.nb, b.kb, p.beta != 0 || b.l > 0)
	}
}

// partStart returns the first item of part i, for n items that are divided into parts of about the same size. Each
// part begins at a multiple of unit.
func partStart(n, i, parts, unit int) int {
	if i == parts {
		return n
	}
	return min(n, roundUp(i*n/parts, unit))
}

// triangleStart returns the first row of part i, for rows firstRow to m−1 of a lower triangle. They are divided
// into parts of about the same area. Each part begins at a multiple of unit, except that the first begins at
// firstRow.
func triangleStart(firstRow, m, i, parts, unit int) int {
	switch i {
	case 0:
		return firstRow
	case parts:
		return m
	}
	above, all := float64(firstRow)*float64(firstRow), float64(m)*float64(m)
	row := math.Sqrt(above + (all-above)*float64(i)/float64(parts))
	return min(m, max(firstRow, roundUp(int(row), unit)))
}

// evenStep returns the size of the parts if n items are divided evenly into parts of at most limit items. The size
// is rounded up to a multiple of 8.
func evenStep(n, limit int) int {
	parts := (n + limit - 1) / limit
	return max(1, roundUp((n+parts-1)/max(parts, 1), 8))
}

// scale multiplies the elements of C in rows i0 to i1−1 and columns j0 to j1−1 by beta. If beta is 0, it sets them
// to 0 without reading them.
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

// tiles multiplies mb rows of op(A), packed in a, by kb×nb numbers of op(B) in b. The result belongs to the block
// of C that begins at row i and column j. If add is true, tiles adds the result to this block, otherwise it
// overwrites the block. If ldb is 0, b is packed. Otherwise the rows of b begin ldb numbers apart. A panel of b
// stays in the first-level cache while the panels of a are read.
func (p *product) tiles(s *scratch, a, b []float64, ldb, i, j, mb, nb, kb int, add bool) {
	k := p.be.kernel
	mr, nr := k.MR(), k.NR()
	for y := 0; y < nb; y += nr {
		w := min(nr, nb-y)
		units := (w + k.Unit - 1) / k.Unit
		padded := units * k.Unit
		panel, apart := b, padded // the distance of two rows of the panel
		switch {
		case ldb == 0:
			panel = b[y*kb:]
		case w == padded:
			panel, apart = b[y:], ldb
		default:
			panel = p.be.pack(grow(&s.b, kb*padded), nr, true, b, ldb, 0, y, kb, w)
		}
		tile := func(units int, a, c []float64, ldc int) {
			if apart == units*k.Unit {
				k.Tile[units-1](kb, p.alpha, &a[0], &panel[0], &c[0], ldc, add)
			} else {
				k.TileRowsB[units-1](kb, p.alpha, &a[0], &panel[0], apart, &c[0], ldc, add)
			}
		}
		var next ahead
		if ldb == 0 && y+nr < nb {
			next = newAhead(b[(y+nr)*kb:], kb*roundUp(min(nr, nb-y-nr), k.Unit), (mb+mr-1)/mr)
		}
		for x := 0; x < mb; x += mr {
			h := min(mr, mb-x)
			row, col := i+x, j+y
			if p.lower && row+h <= col {
				continue
			}
			next.fetch(k)
			used := p.unitsUsed(units, row+h-col)
			p.store(s, row, col, h, w, add, func(c []float64, ldc int) { tile(used, a[x*kb:], c, ldc) })
		}
	}
}

// unitsUsed returns how many of the units of a tile must be computed. A tile consists of the given number of units,
// each some columns wide. On the diagonal of a triangle, only the given number of columns is needed.
func (p *product) unitsUsed(units, columns int) int {
	if !p.lower {
		return units
	}
	unit := p.be.kernel.Unit
	return min(units, (columns+unit-1)/unit)
}

// store calls tile, which computes the h×w block of C that begins at (row, col). If the block is a whole tile of
// the kernel, tile writes directly to C. Otherwise it writes to a copy, from which store copies the block to C.
func (p *product) store(s *scratch, row, col, h, w int, add bool, tile func(c []float64, ldc int)) {
	k := p.be.kernel
	if h == k.MR() && w%k.Unit == 0 && !(p.lower && row < col+w-1) {
		tile(p.c.Data[row*p.c.Stride+col:], p.c.Stride)
		return
	}
	t := s.tile[:k.MR()*k.NR()]
	if add {
		p.exchange(t, row, col, h, w, func(c, t []float64) { copy(t, c) })
	}
	tile(t, k.NR())
	p.exchange(t, row, col, h, w, func(c, t []float64) { copy(c, t) })
}

// tilesOfRows adds the product of rows of A and the block b of op(B) to rows i0 to i1−1 of C. The block is packed
// in the argument packed. tilesOfRows computes as many rows of C at a time as a tile has. For these rows of C, it
// reads the same rows of A, which stay in the first-level cache, and all panels of b, which come from the
// second-level cache.
//
// A tile on the diagonal of a lower triangle needs only some columns of its panel. The kernel for such tiles reads
// packed rows of A.
func (p *product) tilesOfRows(s *scratch, packed []float64, i0, i1 int, b block) {
	k := p.be.kernel
	mr, nr := k.MR(), k.NR()
	add := p.beta != 0 || b.l > 0
	work := grow(&s.a, 2*mr*b.kb)
	for row := i0; row < i1; row += mr {
		h := min(mr, i1-row)
		a, lda := p.a.Data[row*p.a.Stride+b.l:], p.a.Stride
		if h < mr {
			for r := range h {
				copy(work[r*b.kb:(r+1)*b.kb], a[r*lda:])
			}
			a, lda = work, b.kb
		}
		for y := 0; y < b.nb; y += nr {
			col, w := b.j+y, min(nr, b.nb-y)
			if p.lower && row+h <= col {
				break
			}
			units, panel := (w+k.Unit-1)/k.Unit, &packed[y*b.kb]
			used := p.unitsUsed(units, row+h-col)
			if used == units {
				p.store(s, row, col, h, w, add, func(c []float64, ldc int) {
					k.TileRowsA[units-1](b.kb, p.alpha, &a[0], lda, panel, &c[0], ldc, add)
				})
				continue
			}
			x := &work[mr*b.kb]
			k.PackT(b.kb, &a[0], lda, x, mr)
			p.store(s, row, col, h, w, add, func(c []float64, ldc int) {
				k.TileRowsB[used-1](b.kb, p.alpha, x, panel, units*k.Unit, &c[0], ldc, add)
			})
		}
	}
}

// An ahead is the part of the next panel of B that is not yet fetched from the third-level cache. Before each tile
// of the current panel, a share of the next panel is fetched. So the first tile of the next panel need not wait for
// memory.
type ahead struct {
	panel []float64
	share int // cache lines for each tile
}

// lineNumbers is the number of float64 in a cache line of 64 bytes.
const lineNumbers = 8

// newAhead returns the ahead for the next panel, which is b[:size]. While the current panel is read, the given
// number of tiles is computed. The share for each tile is the panel divided by this number, in whole cache lines.
func newAhead(b []float64, size, tiles int) ahead {
	lines := (size + lineNumbers - 1) / lineNumbers
	return ahead{b[:size], (lines + tiles - 1) / tiles}
}

// fetch fetches the next share of the panel.
func (a *ahead) fetch(k *kernel.Kernel) {
	if len(a.panel) == 0 {
		return
	}
	n := min(a.share*lineNumbers, len(a.panel))
	k.Prefetch((n+lineNumbers-1)/lineNumbers, &a.panel[0])
	a.panel = a.panel[n:]
}

// exchange calls move for each row of an h×w block of C and the same row of the tile t. The block begins at (row,
// col).
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
