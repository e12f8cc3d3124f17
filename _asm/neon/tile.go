package main

import "fmt"

// tile writes the micro-kernel for unit rows and u·unit columns: an outer product
// for each of k steps, all of C in registers.
func (p *program) tile(u int) {
	const unroll, b, a = 4, 24, 30 // vectors
	const aPtr, bPtr, cPtr = 1, 2, 3
	cols := u * unit
	n := cols / lanes // vectors in a row
	p.function(fmt.Sprint("tile", u), "k int, alpha float64, a, b, c *float64, ldc int, add bool", "",
		fmt.Sprintf("computes C = alpha·AᵀB, plus C if add is set, for packed A (k×%d), B (k×%d)", unit, cols),
		fmt.Sprintf("and the %d×%d matrix C.", unit, cols))
	p.params(0, "k")
	p.params(aPtr, "a", "b")
	p.matrix(cPtr, unit, "c", "ldc")
	for r := range unit { // ask for C, which is needed at the end
		p.op("PRFM", "(R%d), PSTL1KEEP", cPtr+r)
		p.op("PRFM", "%d(R%d), PSTL1KEEP", 8*(cols-1), cPtr+r)
	}
	p.zero(0, unit*n)
	steps := func(steps int) func() {
		return func() {
			for i := range steps {
				p.load(unit/lanes, a, aPtr, 8*unit*i)
				p.load(n, b, bPtr, 8*cols*i)
				for r := range unit {
					for q := range n {
						p.fmaBy(r*n+q, b+q, a+r/lanes, r%lanes)
					}
				}
			}
			p.advance(steps*unit, aPtr)
			p.advance(steps*cols, bPtr)
		}
	}
	p.countdown(unroll, "four", steps(unroll))
	p.countdown(1, "one", steps(1))

	p.op("FMOVD", "%s, F%d", p.arg("alpha"), a)
	p.op("MOVBU", "%s, R0", p.arg("add"))
	p.op("CBZ", "R0, store")
	for r := range unit {
		p.load(n, b, cPtr+r, 0)
		for q := range n {
			p.fmaBy(b+q, r*n+q, a, 0)
		}
		p.store(n, b, cPtr+r)
	}
	p.ret()
	p.label("store")
	for r := range unit {
		for q := range n {
			p.mulBy(r*n+q, r*n+q, a, 0)
		}
		p.store(n, r*n, cPtr+r)
	}
	p.ret()
}
