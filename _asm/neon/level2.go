package main

import (
	"fmt"
	"strings"
)

// accumulators is the number of accumulators for the sum of a row, enough to hide the latency of additions. The bits
// of a sum do not depend on the number of rows that are processed together.
const accumulators = 4

// numbered returns prefix0, prefix1, … for the given number of rows.
func numbered(prefix string, rows int) string {
	var names []string
	for r := range rows {
		names = append(names, fmt.Sprint(prefix, r))
	}
	return strings.Join(names, ", ")
}

// rows writes a function that reads the given number of rows of A once. If dot is true, the function computes s =
// A·x. If axpy is true, it computes y += cᵀ·A.
func (p *program) rows(name string, rows int, dot, axpy bool) {
	const x, y, c, a = 16, 20, 24, 28 // vectors; the accumulators are V0 to V15
	const aPtr, xPtr, yPtr = 1, 6, 7
	p.declare(fmt.Sprint(name, rows), rows, dot, axpy)
	p.params(0, "n")
	ptrs := p.matrix(aPtr, rows, "a", "lda")
	all := ptrs
	if dot {
		p.params(xPtr, "x")
		p.zero(0, accumulators*rows)
		all = append(all, xPtr)
	}
	if axpy {
		p.params(yPtr, "y")
		all = append(all, yPtr)
		for r := range rows {
			p.op("FMOVD", "%s, F%d", p.arg(fmt.Sprint("c", r)), c+r)
		}
	}
	step := func(n int, w width) func() {
		return func() {
			if dot {
				w.takeMany(n, x, xPtr)
			}
			if axpy {
				w.takeMany(n, y, yPtr)
			}
			for r := range rows {
				w.takeMany(n, a, ptrs[r])
				for i := range n {
					if dot {
						w.fma(accumulators*r+i, a+i, x+i)
					}
					if axpy {
						w.fmaBy(y+i, a+i, c+r)
					}
				}
			}
			if axpy {
				w.putMany(n, y, yPtr)
			}
			p.advance(n*w.elements, all...)
		}
	}
	p.countdown(accumulators*lanes, "four", step(accumulators, width{p, lanes}))
	p.countdown(lanes, "vector", step(1, width{p, lanes}))
	for r := 0; dot && r < rows; r++ {
		p.reduce(accumulators * r)
	}
	p.countdown(1, "one", step(1, width{p, 1}))
	for r := 0; dot && r < rows; r++ {
		p.op("FMOVD", "F%d, %s", accumulators*r, p.arg(fmt.Sprint("s", r)))
	}
	p.ret()
}

// axpyRows writes a function that adds multiples of some rows of A to y, as many calls of axpy1 would. It keeps up to
// eight vectors of y in registers while it reads their part of all these rows.
func (p *program) axpyRows() {
	const y, a, c = 0, 8, 16 // vectors
	const count, cPtr, index, aPtr, lda, yPtr, first = 1, 2, 3, 4, 5, 6, 7
	const left, cNext, next, row = 7, 8, 9, 10
	p.function("axpyRows", "n int, count int, c *float64, index *int32, first int, a *float64, lda int, y *float64", "",
		"computes y += Σ cₑ·(row indexₑ − first of A) over e < count in turn, for count > 0.")
	p.params(0, "n", "count", "c", "index", "a", "lda", "y", "first")
	p.op("LSL", "$3, R%d", lda)
	p.op("MSUB", "R%d, R%d, R%d, R%d", lda, aPtr, first, aPtr) // the address of row 0, which need not exist
	step := func(n int, w width, label string) func() {
		return func() {
			w.takeMany(n, y, yPtr)
			p.op("MOVD", "R%d, R%d", count, left)
			p.op("MOVD", "R%d, R%d", cPtr, cNext)
			p.op("MOVD", "R%d, R%d", index, next)
			p.label(label + "Entry")
			p.op("MOVW.P", "4(R%d), R%d", next, row)
			p.op("MADD", "R%d, R%d, R%d, R%d", lda, aPtr, row, row)
			p.op("FMOVD.P", "8(R%d), F%d", cNext, c)
			w.takeMany(n, a, row)
			for i := range n {
				w.fmaBy(y+i, a+i, c)
			}
			p.op("SUBS", "$1, R%d", left)
			p.op("BNE", "%s", label+"Entry")
			w.putMany(n, y, yPtr)
			p.advance(n*w.elements, yPtr, aPtr)
		}
	}
	p.countdown(8*lanes, "eight", step(8, width{p, lanes}, "eight"))
	p.countdown(lanes, "vector", step(1, width{p, lanes}, "vector"))
	p.countdown(1, "one", step(1, width{p, 1}, "one"))
	p.ret()
}

// declare starts a function for the given number of rows.
func (p *program) declare(name string, rows int, dot, axpy bool) {
	params, results := "n int, ", ""
	var does, vectors []string
	if dot {
		does, vectors = append(does, "s = A·x"), append(vectors, "x")
		results = numbered("s", rows) + " float64"
	}
	if axpy {
		does, vectors = append(does, "y += cᵀ·A"), append(vectors, "y")
		params += numbered("c", rows) + " float64, "
	}
	if rows > 1 {
		params += "a *float64, lda int, "
	} else {
		params += "a, "
	}
	p.function(name, params+strings.Join(vectors, ", ")+" *float64", results,
		fmt.Sprintf("computes %s for A (%d×n).", strings.Join(does, " and "), rows))
}

// reduce adds up the accumulators of a row, which start at register v. The sum is in the lowest element of v.
func (p *program) reduce(v int) {
	p.add(v, v, v+1)
	p.add(v+2, v+2, v+3)
	p.add(v, v, v+2)
	p.sum(v, v)
}
