package purego

import (
	"github.com/fdridge/fdridge/engine/internal/matrix"
)

// A leftMul holds the operands of LeftMul, which overwrites the first m rows of B with W·B. The columns of B are
// processed in panels. All rows of a panel are packed before the panel is overwritten.
type leftMul struct {
	product
	shares int // number of parts into which the columns are divided
}

type leftMulTeam struct {
	team
	leftMul
}

var leftMuls pool[leftMulTeam]

// LeftMul overwrites the first m rows of the matrix x with the product w·x, where w has m rows.
func (b *Backend) LeftMul(w, x matrix.Matrix, _ []float64) {
	m, n, k := matrix.CheckLeftMul(&w, &x)
	if m == 0 || n == 0 {
		return
	}
	t := leftMuls.get()
	t.leftMul = leftMul{
		shares: 1,
		product: product{
			be:    b,
			m:     m,
			n:     n,
			k:     k,
			a:     operand{Matrix: w},
			b:     operand{Matrix: x},
			c:     x,
			alpha: 1,
		},
	}
	if m*n*k >= minParallel {
		t.shares = free()
	}
	t.run(&t.leftMul, t.shares)
	t.leftMul = leftMul{}
	leftMuls.put(t)
}

// LeftMulWork returns 0.
func (b *Backend) LeftMulWork(m, n, k int) int { return 0 }

func (p *leftMul) doPart(i int, s *scratch) {
	nr := p.be.kernel.NR()
	j := partStart(p.n, i, p.shares, nr)
	end := partStart(p.n, i+1, p.shares, nr)
	if j >= end {
		return
	}
	a, depth := p.packAll(s)
	width := max(nr, (1<<17)/p.k/nr*nr) // 1 MiB when packed
	for ; j < end; j += width {
		p.panel(s, a, depth, j, min(width, end-j))
	}
}

// packAll packs the whole matrix W in blocks of at most depth columns. It returns the packed matrix and depth.
func (p *leftMul) packAll(s *scratch) (a []float64, depth int) {
	be := p.be
	depth = evenStep(p.k, be.kc)
	rows := roundUp(p.m, be.kernel.Unit)
	a = grow(&s.a, rows*p.k)
	p.packBlocks(a, be.kernel.MR(), false, p.a.Matrix, depth, 0, p.m)
	return a, depth
}

// packBlocks packs columns j to j+n−1 of a matrix with k rows in blocks of at most depth rows. See [Backend.pack] for
// the width of a panel and for isRowMajor.
func (p *leftMul) packBlocks(dst []float64, width int, isRowMajor bool, x matrix.Matrix, depth, j, n int) {
	padded := roundUp(n, p.be.kernel.Unit)
	for l := 0; l < p.k; l += depth {
		p.be.pack(dst[l*padded:], width, isRowMajor, x.Data, x.Stride, l, j, min(depth, p.k-l), n)
	}
}

// panel computes columns j to j+nb−1 of the result. The argument a holds the packed matrix W in blocks of depth
// columns.
func (p *leftMul) panel(s *scratch, a []float64, depth, j, nb int) {
	be := p.be
	rows, cols := roundUp(p.m, be.kernel.Unit), roundUp(nb, be.kernel.Unit)
	b := grow(&s.b, cols*p.k)
	p.packBlocks(b, be.kernel.NR(), true, p.b.Matrix, depth, j, nb)
	for l := 0; l < p.k; l += depth {
		kb := min(depth, p.k-l)
		for i := 0; i < p.m; i += be.mc {
			p.tiles(
				s,
				a[l*rows+i*kb:],
				b[l*cols:],
				0,
				i,
				j,
				min(be.mc, p.m-i),
				nb,
				kb,
				l > 0,
			)
		}
	}
}
