package randsketch

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/engine"
)

// gaussian computes SA for an S (m×n) with entries from N(0, 1/m). It draws the columns of S for panelRows rows
// of A at a time.
type gaussian struct {
	base
	be engine.Backend
	// columns of √m·S as rows (panelRows×m): for the rows of A in the buffer, and after them for the rows of the
	// current call
	s []float64
	panel
	call
	draw, scatter func(s *stream, lo, hi int) // method values, bound once to avoid allocation
}

func newGaussian(b base, be engine.Backend) *gaussian {
	g := &gaussian{base: b, be: be}
	g.s = make([]float64, panelRows*b.m)
	g.waiting = make([]float64, panelRows*b.width())
	g.draw, g.scatter = g.drawColumns, g.scatterRows
	return g
}

func (g *gaussian) reset(seed uint64) {
	g.seed, g.held = seed, 0
	clear(g.sum)
}

// drawCost is the approximate cost of drawing a random number, in units of one addition.
const drawCost = 16

func (g *gaussian) drawColumns(s *stream, lo, hi int) {
	for i := lo; i < hi; i++ {
		s.seek(g.seed, forGaussian, g.firstRow+int64(i))
		row := g.held + i
		s.normal(g.s[row*g.m : (row+1)*g.m])
	}
}

func (g *gaussian) column(i int64, out []float64) {
	s := newStream()
	s.seek(g.seed, forGaussian, i)
	s.normal(out)
	floats.Scale(1/math.Sqrt(float64(g.m)), out)
}

func (g *gaussian) rows(
	firstRow int64,
	n int,
	x []float64,
	ldx int,
	y []float64,
) {
	w := g.width()
	for done := 0; done < n; {
		k := min(n-done, panelRows-g.held)
		g.firstRow = firstRow + int64(done)
		g.team.do(k, k*g.m*drawCost, g.draw)
		for i := done; i < done+k; i++ {
			row := g.waiting[g.held*w : (g.held+1)*w]
			copy(row[:g.d], x[i*ldx:])
			copy(row[g.d:], y[i*g.t:])
			g.held++
		}
		if g.held == panelRows {
			g.multiply(g.sum)
			g.held = 0
		}
		done += k
	}
}

// multiply adds √m·S times the buffered rows to out.
func (g *gaussian) multiply(out []float64) {
	w := g.width()
	g.be.Gemm(
		true,
		false,
		1,
		engine.View(g.held, g.m, g.s),
		engine.View(g.held, w, g.waiting),
		1,
		engine.View(g.m, w, out),
	)
}

func (g *gaussian) sparse(firstRow int64, x *engine.CSR, y []float64) {
	g.csr, g.y = x, y
	for g.lo = 0; g.lo < x.Rows; g.lo = g.hi {
		g.hi = min(x.Rows, g.lo+panelRows-g.held)
		g.firstRow = firstRow + int64(g.lo)
		g.team.do(g.hi-g.lo, (g.hi-g.lo)*g.m*drawCost, g.draw)
		nnz := x.RowPtr[g.hi] - x.RowPtr[g.lo]
		g.team.do(g.m, (nnz+(g.hi-g.lo)*g.t)*g.m, g.scatter)
	}
	g.csr, g.y = nil, nil
}

// scatterRows adds the product of S and the current sparse rows to SA, but only in rows lo to hi−1 of SA. It
// finishes one row of SA before the next, so that this row stays in the cache.
func (g *gaussian) scatterRows(_ *stream, lo, hi int) {
	for r := lo; r < hi; r++ {
		row := g.row(r)
		for i := g.lo; i < g.hi; i++ {
			c := g.s[(g.held+i-g.lo)*g.m+r]
			idx, val := g.csr.Row(i)
			for k, j := range idx {
				row[j] += c * val[k]
			}
			for k, v := range g.y[i*g.t : (i+1)*g.t] {
				row[g.d+k] += c * v
			}
		}
	}
}

func (g *gaussian) read(out []float64) {
	copy(out, g.sum)
	g.multiply(out)
	floats.Scale(1/math.Sqrt(float64(g.m)), out)
}
