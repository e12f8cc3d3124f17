package main

import (
	"fmt"
	"strings"
)

// A row's sum has four accumulators, enough to hide the latency of the additions;
// it has as many where several rows are taken together, so that it does not depend
// on them.
const accumulators = 4

// numbered lists prefix0, prefix1, … for so many rows.
func numbered(prefix string, rows int) string {
	var names []string
	for r := range rows {
		names = append(names, fmt.Sprint(prefix, r))
	}
	return strings.Join(names, ", ")
}

// rows writes one reading of so many rows of A, which computes s = A·x if dot is
// set, and y += cᵀ·A if axpy is.
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
	vectors := func(n int) func() {
		return func() {
			if dot {
				p.load(n, x, xPtr, 0)
			}
			if axpy {
				p.load(n, y, yPtr, 0)
			}
			for r := range rows {
				p.load(n, a, ptrs[r], 0)
				for i := range n {
					if dot {
						p.fma(accumulators*r+i, a+i, x+i)
					}
					if axpy {
						p.fmaBy(y+i, a+i, c+r, 0)
					}
				}
			}
			if axpy {
				p.store(n, y, yPtr)
			}
			p.advance(n*lanes, all...)
		}
	}
	p.countdown(accumulators*lanes, "four", vectors(accumulators))
	p.countdown(lanes, "vector", vectors(1))
	for r := 0; dot && r < rows; r++ {
		p.reduce(accumulators * r)
	}
	p.countdown(1, "one", func() {
		if dot {
			p.op("FMOVD", "(R%d), F%d", xPtr, x)
		}
		if axpy {
			p.op("FMOVD", "(R%d), F%d", yPtr, y)
		}
		for r := range rows {
			p.op("FMOVD", "(R%d), F%d", ptrs[r], a)
			if dot {
				p.fmaOne(accumulators*r, a, x)
			}
			if axpy {
				p.fmaOne(y, a, c+r)
			}
		}
		if axpy {
			p.op("FMOVD", "F%d, (R%d)", y, yPtr)
		}
		p.advance(1, all...)
	})
	for r := 0; dot && r < rows; r++ {
		p.op("FMOVD", "F%d, %s", accumulators*r, p.arg(fmt.Sprint("s", r)))
	}
	p.ret()
}

// declare starts a function that takes so many rows.
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

// reduce leaves the sum of a row's accumulators, from v on, in the lowest element
// of v.
func (p *program) reduce(v int) {
	p.add(v, v, v+1)
	p.add(v+2, v+2, v+3)
	p.add(v, v, v+2)
	p.sum(v, v)
}
