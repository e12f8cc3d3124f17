package main

import "fmt"

// rowLoops writes the functions that centre rows. They round a product before they add it, so that all instruction
// sets give the same bits.
func (p *program) rowLoops() {
	p.centre()
	p.spread()
	p.norms(
		"norms4",
		false,
		"computes s_i = Σ x_ij² for the rows of X (4×n), each from four partial sums, added as (s₀ + s₂) +",
		"(s₁ + s₃).",
	)
	p.norms(
		"squares4",
		true,
		"computes s_i = Σ x_ij² for the rows of X (4×n), each from four partial sums, added as (s₀ + s₁) +",
		"(s₂ + s₃).",
	)
}

func (p *program) centre() {
	const x, other = 0, 1
	p.function("centre", "n int, x, origin, mean, z *float64", "", "computes z_j = (x_j − origin_j) − mean_j.")
	p.params(0, "n", "x", "origin", "mean", "z")
	p.each([]int{1, 2, 3, 4}, func(w width) {
		w.take(x, 1)
		for _, r := range []int{2, 3} {
			w.take(other, r)
			p.sub(x, x, other)
		}
		w.put(x, 4)
	})
	p.ret()
}

func (p *program) spread() {
	const origin, sum, squares, z = 0, 1, 2, 4
	p.function("spread4", "n int, x *float64, ldx int, origin, sum, squares *float64", "",
		"adds z_ij = x_ij − origin_j to sum_j, and z_ij² to squares_j, for the rows of X (4×n) in order.")
	p.params(0, "n")
	xs := p.matrix(1, 4, "x", "ldx")
	p.params(10, "origin", "sum", "squares")
	p.each(append(xs, 10, 11, 12), func(w width) {
		w.take(origin, 10)
		w.take(sum, 11)
		w.take(squares, 12)
		for r := range xs {
			w.take(z+r, xs[r])
			p.sub(z+r, z+r, origin)
			p.add(sum, sum, z+r)
			p.mul(z+r, z+r, z+r)
			p.add(squares, squares, z+r)
		}
		w.put(sum, 11)
		w.put(squares, 12)
	})
	p.ret()
}

func (p *program) norms(name string, neighbours bool, doc ...string) {
	const low, high, z = 0, 4, 8 // for each row: sums 0 and 1, and sums 2 and 3
	p.function(name, "n int, x *float64, ldx int", "s0, s1, s2, s3 float64", doc...)
	p.params(0, "n")
	xs := p.matrix(1, 4, "x", "ldx")
	p.zero(low, 8)
	p.countdown(2*lanes, "vector", func() {
		for r := range xs {
			p.load(2, z, xs[r], 0)
			p.mul(z, z, z)
			p.mul(z+1, z+1, z+1)
			p.add(low+r, low+r, z)
			p.add(high+r, high+r, z+1)
		}
		p.advance(2*lanes, xs...)
	})
	p.countdown(1, "one", func() {
		for r := range xs {
			p.op("FMOVD", "(R%d), F%d", xs[r], z) // the other element is zero
			p.mul(z, z, z)
			p.add(low+r, low+r, z)
		}
		p.advance(1, xs...)
	})
	for r := range xs {
		if neighbours {
			p.sum(low+r, low+r)
			p.sum(high+r, high+r)
			p.add(low+r, low+r, high+r)
		} else {
			p.add(low+r, low+r, high+r)
			p.sum(low+r, low+r)
		}
		p.op("FMOVD", "F%d, %s", low+r, p.arg(fmt.Sprint("s", r)))
	}
	p.ret()
}
