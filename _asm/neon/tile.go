package main

import "fmt"

// A micro-kernel computes a tile of C, with 4 rows and 4, 8 or 12 columns, as a sum of k outer products. All of the
// tile is in registers. Both A and B may be packed, or only one of them. Vectors 0 to 23 hold C, and the others hold B
// and A.
const tileB, tileA = 24, 30

// tile writes the micro-kernel for packed A. If apart is true, B is not packed, but has rows with leading dimension
// ldb.
func (p *program) tile(u int, apart bool) {
	const aPtr, bPtr, ldb, cPtr = 1, 2, 3, 4
	cols := u * unit
	name, params := "tile", "k int, alpha float64, a, b, c *float64, ldc int, add bool"
	if apart {
		name, params = "tileRowsB", "k int, alpha float64, a, b *float64, ldb int, c *float64, ldc int, add bool"
	}
	p.function(fmt.Sprint(name, u), params, "",
		fmt.Sprintf("computes C = alpha·AᵀB, plus C if add is set, for packed A (k×%d), B (k×%d)", unit, cols),
		fmt.Sprintf("and the %d×%d matrix C.", unit, cols))
	p.params(0, "k")
	p.params(aPtr, "a", "b")
	if apart {
		p.params(ldb, "ldb")
		p.op("LSL", "$3, R%d", ldb)
	}
	p.intoTile(u, cPtr, func(multiply func(r, a, i int)) {
		steps := func(steps int) func() {
			return func() {
				for i := range steps {
					p.load(unit/lanes, tileA, aPtr, 8*unit*i)
					if apart {
						p.load(cols/lanes, tileB, bPtr, 0)
						p.op("ADD", "R%d, R%d", ldb, bPtr)
					} else {
						p.load(cols/lanes, tileB, bPtr, 8*cols*i)
					}
					for r := range unit {
						multiply(r, tileA+r/lanes, r%lanes)
					}
				}
				p.advance(steps*unit, aPtr)
				if !apart {
					p.advance(steps*cols, bPtr)
				}
			}
		}
		p.countdown(4, "four", steps(4))
		p.countdown(1, "one", steps(1))
	})
}

// tileRowsA writes the micro-kernel for packed B and an A that is not packed, with rows of leading dimension lda.
func (p *program) tileRowsA(u int) {
	const aPtr, bPtr, cPtr = 1, 6, 7
	cols := u * unit
	p.function(
		fmt.Sprint("tileRowsA", u),
		"k int, alpha float64, a *float64, lda int, b, c *float64, ldc int, add bool",
		"",
		fmt.Sprintf("computes C = alpha·A·B, plus C if add is set, for A (%d×k), packed B (k×%d)", unit, cols),
		fmt.Sprintf("and the %d×%d matrix C.", unit, cols),
	)
	p.params(0, "k")
	rows := p.matrix(aPtr, unit, "a", "lda")
	p.params(bPtr, "b")
	p.intoTile(u, cPtr, func(multiply func(r, a, i int)) {
		steps := func(steps int) func() {
			return func() {
				for i := range steps {
					p.load(cols/lanes, tileB, bPtr, 8*cols*i)
					for r := range unit {
						a := tileA + r%2
						p.op("FMOVD", "%d(R%d), F%d", 8*i, rows[r], a)
						multiply(r, a, 0)
					}
				}
				p.advance(steps, rows...)
				p.advance(steps*cols, bPtr)
			}
		}
		p.countdown(4, "four", steps(4))
		p.countdown(1, "one", steps(1))
	})
}

// intoTile writes the common part of the micro-kernels. Its argument loop must call multiply for each element of A.
// multiply multiplies a row of B by element i of vector a, and adds the product to row r of C.
func (p *program) intoTile(u, cPtr int, loop func(multiply func(r, a, i int))) {
	const alpha = tileA
	cols := u * unit
	n := cols / lanes // vectors in a row
	p.matrix(cPtr, unit, "c", "ldc")
	for r := range unit { // prefetch C, which is needed at the end
		p.op("PRFM", "(R%d), PSTL1KEEP", cPtr+r)
		p.op("PRFM", "%d(R%d), PSTL1KEEP", 8*(cols-1), cPtr+r)
	}
	p.zero(0, unit*n)
	loop(func(r, a, i int) {
		for q := range n {
			p.fmaBy(r*n+q, tileB+q, a, i)
		}
	})

	p.op("FMOVD", "%s, F%d", p.arg("alpha"), alpha)
	p.op("MOVBU", "%s, R0", p.arg("add"))
	p.op("CBZ", "R0, store")
	for r := range unit {
		p.load(n, tileB, cPtr+r, 0)
		for q := range n {
			p.fmaBy(tileB+q, r*n+q, alpha, 0)
		}
		p.store(n, tileB, cPtr+r)
	}
	p.ret()
	p.label("store")
	for r := range unit {
		for q := range n {
			p.mulBy(r*n+q, r*n+q, alpha, 0)
		}
		p.store(n, r*n, cPtr+r)
	}
	p.ret()
}
