package main

import "fmt"

// several is the largest number of vectors that are combined at a time. The 32 registers then hold
//
//   - 4 sums for each of 2 rows and each of 3 vectors
//   - 2 registers for each vector, and 2 for a row
const several = 3

// A function for several vectors loads each vector of a row of A only once. So it needs fewer loads per multiply-add
// than a function for one vector, and reads A less often.

// dots writes a function that computes S = A·Xᵀ for four rows and u vectors. A sum has the same bits as in dot4.
// If the sums of four rows do not fit into the registers, it processes two rows at a time.
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

// dotsOf computes the given number of rows of S, from row firstRow on.
func (p *program) dotsOf(firstRow, rows, u int) {
	const x, a = 24, 30 // vectors; the accumulators are V0 to V23
	const aPtr, xPtr, sPtr, lds = 1, 6, 10, 11
	p.params(0, "n")
	as := p.matrix(aPtr, rows, "a", "lda")
	p.params(sPtr, "s", "lds")
	p.op("LSL", "$3, R%d", lds)
	for range firstRow {
		for _, r := range as {
			p.op("ADD", "R%d, R%d", aPtr+rows, r)
		}
		p.op("ADD", "R%d, R%d", lds, sPtr)
	}
	xs := p.matrix(xPtr, u, "x", "ldx")
	sum := func(r, q int) int { return accumulators * (r*u + q) }
	p.zero(0, accumulators*rows*u)
	step := func(n int, w width) func() {
		return func() {
			for i := 0; i < n; i += 2 {
				here := min(2, n-i)
				for q := range xs {
					w.takeFrom(here, x+2*q, xs[q], 8*lanes*i)
				}
				for r := range as {
					w.takeFrom(here, a, as[r], 8*lanes*i)
					for q := range xs {
						for l := range here {
							w.fma(sum(r, q)+i+l, a+l, x+2*q+l)
						}
					}
				}
			}
			p.advance(n*w.elements, as...)
			p.advance(n*w.elements, xs...)
		}
	}
	label := func(name string) string { return fmt.Sprint(name, firstRow) }
	p.countdown(accumulators*lanes, label("four"), step(accumulators, width{p, lanes}))
	p.countdown(lanes, label("vector"), step(1, width{p, lanes}))
	for i := range rows * u {
		p.reduce(accumulators * i)
	}
	p.countdown(1, label("one"), step(1, width{p, 1}))
	for r := range rows {
		for q := range u {
			p.op("FMOVD", "F%d, %d(R%d)", sum(r, q), 8*q, sPtr)
		}
		p.op("ADD", "R%d, R%d", lds, sPtr)
	}
}

// axpys writes a function that computes Y += Cᵀ·A for four rows of A and u vectors, with the same bits as axpy4.
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
	step := func(n int, w width) func() {
		return func() {
			for q := range ys {
				w.takeMany(n, y+most*q, ys[q])
			}
			for r := range as {
				w.takeMany(n, a, as[r])
				for q := range ys {
					for i := range n {
						w.fmaBy(y+most*q+i, a+i, c+r*u+q)
					}
				}
			}
			for q := range ys {
				w.putMany(n, y+most*q, ys[q])
			}
			p.advance(n*w.elements, as...)
			p.advance(n*w.elements, ys...)
		}
	}
	p.countdown(most*lanes, "four", step(most, width{p, lanes}))
	p.countdown(lanes, "vector", step(1, width{p, lanes}))
	p.countdown(1, "one", step(1, width{p, 1}))
	p.ret()
}
