package main

import "fmt"

// several is the most vectors taken at once: the sums of two rows and three
// vectors, two vectors of each of these and two of a row fill the 32 registers.
const several = 3

// A row of A, once loaded, serves all vectors. So products of four rows and
// several vectors take fewer loads to a multiply-add than those of four rows and
// one, and read A less often.

// dots writes S = A·Xᵀ for four rows and u vectors. A sum is made as in rows, to the
// same bits; where the registers don't hold the sums of four rows, two are taken
// at a time.
func (p *program) dots(u int) {
	p.function(fmt.Sprint("dot4x", u), "n int, a *float64, lda int, x *float64, ldx int, s *float64, lds int", "",
		fmt.Sprintf("computes S = A·Xᵀ for A (4×n), X (%d×n) and S (4×%d).", u, u))
	rows := 4
	if accumulators*rows*u > 24 {
		rows = 2
	}
	for first := 0; first < 4; first += rows {
		p.dotsOf(first, rows, u)
	}
	p.ret()
}

// dotsOf writes so many rows of S, from first on.
func (p *program) dotsOf(first, rows, u int) {
	const x, a = 24, 30 // vectors; the accumulators are V0 to V23
	const aPtr, xPtr, sPtr, lds = 1, 6, 10, 11
	p.params(0, "n")
	as := p.matrix(aPtr, rows, "a", "lda")
	p.params(sPtr, "s", "lds")
	p.op("LSL", "$3, R%d", lds)
	for range first {
		for _, r := range as {
			p.op("ADD", "R%d, R%d", aPtr+rows, r)
		}
		p.op("ADD", "R%d, R%d", lds, sPtr)
	}
	xs := p.matrix(xPtr, u, "x", "ldx")
	sum := func(r, q int) int { return accumulators * (r*u + q) }
	p.zero(0, accumulators*rows*u)
	vectors := func(n int) func() {
		return func() {
			for i := 0; i < n; i += 2 {
				w := min(2, n-i)
				for q := range xs {
					p.load(w, x+2*q, xs[q], 8*lanes*i)
				}
				for r := range as {
					p.load(w, a, as[r], 8*lanes*i)
					for q := range xs {
						for l := range w {
							p.fma(sum(r, q)+i+l, a+l, x+2*q+l)
						}
					}
				}
			}
			p.advance(n*lanes, as...)
			p.advance(n*lanes, xs...)
		}
	}
	label := func(name string) string { return fmt.Sprint(name, first) }
	p.countdown(accumulators*lanes, label("four"), vectors(accumulators))
	p.countdown(lanes, label("vector"), vectors(1))
	for i := range rows * u {
		p.reduce(accumulators * i)
	}
	p.countdown(1, label("one"), func() {
		for q := range xs {
			p.op("FMOVD", "(R%d), F%d", xs[q], x+2*q)
		}
		for r := range as {
			p.op("FMOVD", "(R%d), F%d", as[r], a)
			for q := range xs {
				p.fmaOne(sum(r, q), a, x+2*q)
			}
		}
		p.advance(1, as...)
		p.advance(1, xs...)
	})
	for r := range rows {
		for q := range u {
			p.op("FMOVD", "F%d, %d(R%d)", sum(r, q), 8*q, sPtr)
		}
		p.op("ADD", "R%d, R%d", lds, sPtr)
	}
}

// axpys writes Y += Cᵀ·A for four rows and u vectors, to the same bits as rows.
func (p *program) axpys(u int) {
	const c, y, a = 0, 12, 24 // vectors
	const aPtr, yPtr, cPtr, ldc = 1, 6, 10, 11
	p.function(fmt.Sprint("axpy4x", u), "n int, c *float64, ldc int, a *float64, lda int, y *float64, ldy int", "",
		fmt.Sprintf("computes Y += Cᵀ·A for C (4×%d), A (4×n) and Y (%d×n).", u, u))
	p.params(0, "n")
	p.params(cPtr, "c", "ldc")
	p.op("LSL", "$3, R%d", ldc)
	for r := range 4 {
		for q := range u {
			p.op("FMOVD", "%d(R%d), F%d", 8*q, cPtr, c+r*u+q)
		}
		p.op("ADD", "R%d, R%d", ldc, cPtr)
	}
	as, ys := p.matrix(aPtr, 4, "a", "lda"), p.matrix(yPtr, u, "y", "ldy")
	const most = 4 // vectors of a row at a time
	vectors := func(n int) func() {
		return func() {
			for q := range ys {
				p.load(n, y+most*q, ys[q], 0)
			}
			for r := range as {
				p.load(n, a, as[r], 0)
				for q := range ys {
					for i := range n {
						p.fmaBy(y+most*q+i, a+i, c+r*u+q, 0)
					}
				}
			}
			for q := range ys {
				p.store(n, y+most*q, ys[q])
			}
			p.advance(n*lanes, as...)
			p.advance(n*lanes, ys...)
		}
	}
	p.countdown(most*lanes, "four", vectors(most))
	p.countdown(lanes, "vector", vectors(1))
	p.countdown(1, "one", func() {
		for q := range ys {
			p.op("FMOVD", "(R%d), F%d", ys[q], y+q)
		}
		for r := range as {
			p.op("FMOVD", "(R%d), F%d", as[r], a)
			for q := range ys {
				p.fmaOne(y+q, a, c+r*u+q)
			}
		}
		for q := range ys {
			p.op("FMOVD", "F%d, (R%d)", y+q, ys[q])
		}
		p.advance(1, as...)
		p.advance(1, ys...)
	})
	p.ret()
}
