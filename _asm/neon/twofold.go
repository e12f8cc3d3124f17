package main

import (
	"fmt"
	"math"
)

// A width is the number of elements that an instruction processes: a whole vector, or one element. With one element,
// the other element of the register is zero.
type width struct {
	*program
	elements int
}

// take loads a vector, or one element, from the pointer R.
func (w width) take(v, r int) {
	if w.elements == 1 {
		w.op("FMOVD", "(R%d), F%d", r, v)
	} else {
		w.op("FMOVQ", "(R%d), F%d", r, v)
	}
}

func (w width) put(v, r int) {
	if w.elements == 1 {
		w.op("FMOVD", "F%d, (R%d)", v, r)
	} else {
		w.op("FMOVQ", "F%d, (R%d)", v, r)
	}
}

// takeFrom loads n vectors, or one element, into consecutive registers from v on. They begin disp bytes after the
// pointer R.
func (w width) takeFrom(n, v, r, disp int) {
	if w.elements == 1 {
		w.take(v, r)
	} else {
		w.load(n, v, r, disp)
	}
}

func (w width) takeMany(n, v, r int) { w.takeFrom(n, v, r, 0) }

func (w width) putMany(n, v, r int) {
	if w.elements == 1 {
		w.put(v, r)
	} else {
		w.store(n, v, r)
	}
}

// fma adds x·y to d.
func (w width) fma(d, x, y int) {
	if w.elements == 1 {
		w.fmaOne(d, x, y)
	} else {
		w.program.fma(d, x, y)
	}
}

// fmaBy adds x times the lowest element of y to d.
func (w width) fmaBy(d, x, y int) {
	if w.elements == 1 {
		w.fmaOne(d, x, y)
	} else {
		w.program.fmaBy(d, x, y, 0)
	}
}

// each calls body for all R0 elements, first for whole vectors, then for single elements, and advances the pointers.
func (p *program) each(pointers []int, body func(w width)) {
	for _, w := range []width{{p, lanes}, {p, 1}} {
		p.countdown(w.elements, map[int]string{lanes: "vector", 1: "one"}[w.elements], func() {
			body(w)
			p.advance(w.elements, pointers...)
		})
	}
}

func (p *program) sub(d, x, y int) {
	p.word(0x4ee0d400, d, x, y, 0, "FSUB V%d.2D, V%d.2D, V%d.2D", d, x, y)
}

func (p *program) mul(d, x, y int) {
	p.word(0x6e60dc00, d, x, y, 0, "FMUL V%d.2D, V%d.2D, V%d.2D", d, x, y)
}

func (p *program) max(d, x, y int) {
	p.word(0x4e60f400, d, x, y, 0, "FMAX V%d.2D, V%d.2D, V%d.2D", d, x, y)
}

func (p *program) abs(d, x int) { p.word(0x4ee0f800, d, x, 0, 0, "FABS V%d.2D, V%d.2D", d, x) }

// most sets the lowest element of d to the largest element of x.
func (p *program) most(d, x int) { p.word(0x7e70f800, d, x, 0, 0, "FMAXP D%d, V%d.2D", d, x) }

func (p *program) move(d, x int) { p.op("VMOV", "V%d.B16, V%d.B16", x, d) }

// all loads the number that is disp bytes after the pointer R into both elements of v.
func (p *program) all(v, r, disp int) {
	p.op("FMOVD", "%d(R%d), F%d", disp, r, v)
	p.op("VDUP", "V%d.D[0], V%d.D2", v, v)
}

// constant sets both elements of v to the given bits. It overwrites register R.
func (p *program) constant(v, r int, bits uint64) {
	p.op("MOVD", "$%#x, R%d", bits, r)
	p.op("VDUP", "R%d, V%d.D2", r, v)
}

// parameter sets both elements of v to the value of a parameter.
func (p *program) parameter(v int, name string) {
	p.op("FMOVD", "%s, F%d", p.arg(name), v)
	p.op("VDUP", "V%d.D[0], V%d.D2", v, v)
}

func (p *program) twofold() {
	p.maxima()
	p.colMax()
	p.dotsTwofold()
	p.open()
	p.axpysTwofold()
	p.closeSums()
	p.addSums()
}

func (p *program) maxima() {
	const most, a, c = 0, 4, 5
	p.function(
		"maxima",
		"n int, a *float64, lda int, m, c *float64",
		"",
		"writes the largest magnitude in each row of A (4×n) to m, and sets c_j = max(c_j, |a_ij|) for all rows i.",
	)
	p.params(0, "n")
	as := p.matrix(1, 4, "a", "lda")
	p.params(10, "m", "c")
	p.zero(most, 4)
	p.each(append(as, 11), func(w width) {
		w.take(c, 11)
		for r := range 4 {
			w.take(a, as[r])
			p.abs(a, a)
			p.max(most+r, most+r, a)
			p.max(c, c, a)
		}
		w.put(c, 11)
	})
	for r := range 4 {
		p.most(most+r, most+r)
		p.op("FMOVD", "F%d, %d(R10)", most+r, 8*r)
	}
	p.ret()
}

func (p *program) colMax() {
	const c, a, f = 0, 1, 4
	p.function(
		"colMax",
		"n int, f, a *float64, lda int, c *float64",
		"",
		"computes c_j = max(c_j, f_i·|a_ij|) for A (4×n).",
	)
	p.params(0, "n")
	as := p.matrix(1, 4, "a", "lda")
	p.params(10, "f", "c")
	for r := range as {
		p.all(f+r, 10, 8*r)
	}
	p.each(append(as, 11), func(w width) {
		w.take(c, 11)
		for r := range 4 {
			w.take(a, as[r])
			p.abs(a, a)
			p.mul(a, a, f+r)
			p.max(c, c, a)
		}
		w.put(c, 11)
	})
	p.ret()
}

// extract adds a·x to sum, and the round-off of this addition to low. It overwrites scratch.
func (p *program) extract(a, x, sum, low, scratch int) {
	p.move(scratch, sum)
	p.fma(sum, a, x)
	p.sub(scratch, scratch, sum)
	p.fma(scratch, a, x)
	p.add(low, low, scratch)
}

func (p *program) dotsTwofold() {
	const sum, low, x, a, before = 0, 4, 8, 9, 13
	p.function("dotsTwofold", "n int, base, a *float64, lda int, x, s *float64", "",
		"computes A·x = s + l for A (4×n). It writes s to s[0:4] and l to s[4:8].")
	p.params(0, "n")
	as := p.matrix(1, 4, "a", "lda")
	p.params(10, "base", "x", "s")
	p.zero(low, 4)
	for r := range as {
		p.all(sum+r, 10, 8*r)
	}
	step := func(w width) {
		w.take(x, 11)
		for r := range 4 {
			w.take(a+r, as[r])
			p.extract(a+r, x, sum+r, low+r, before+r)
		}
	}
	pointers := append(as, 11)
	p.countdown(lanes, "vector", func() {
		step(width{p, lanes})
		p.advance(lanes, pointers...)
	})
	// At most one element is left. It is added to a new sum.
	for r := range 4 {
		p.all(before+r, 10, 8*r)
		p.sub(sum+r, sum+r, before+r)
		for k, v := range []int{sum + r, low + r} {
			p.sum(v, v)
			p.op("FMOVD", "F%d, %d(R12)", v, 8*(4*k+r))
		}
		p.op("FMOVD", "%d(R10), F%d", 8*r, sum+r)
	}
	p.zero(low, 4)
	p.countdown(1, "one", func() {
		step(width{p, 1})
		p.advance(1, pointers...)
	})
	for r := range 4 {
		p.op("FMOVD", "%d(R10), F%d", 8*r, before)
		p.sub(sum+r, sum+r, before)
		for k, v := range []int{sum + r, low + r} {
			at := fmt.Sprintf("%d(R12)", 8*(4*k+r))
			p.op("FMOVD", "%s, F%d", at, a)
			p.add(v, v, a)
			p.op("FMOVD", "F%d, %s", v, at)
		}
	}
	p.ret()
}

// Registers with the constants of base.
const exponent, six = 30, 31

func (p *program) baseConstants() {
	p.constant(exponent, 20, 0x7ff<<52)
	p.constant(six, 20, math.Float64bits(6))
}

// base sets register b to kernel.Base(sigma·c), the start of a sum.
func (p *program) base(b, sigma, c int) {
	p.mul(b, sigma, c)
	p.op("VAND", "V%d.B16, V%d.B16, V%d.B16", exponent, b, b)
	p.mul(b, b, six)
}

func (p *program) open() {
	const sigma, c, none = 0, 1, 2
	p.function(
		"open",
		"n int, sigma float64, c, h, l *float64",
		"",
		"starts n sums h + l: h_j = Base(sigma·c_j), l_j = 0.",
	)
	p.params(0, "n")
	p.parameter(sigma, "sigma")
	p.params(1, "c", "h", "l")
	p.baseConstants()
	p.zero(none, 1)
	p.each([]int{1, 2, 3}, func(w width) {
		w.take(c, 1)
		p.base(c, sigma, c)
		w.put(c, 2)
		w.put(none, 3)
	})
	p.ret()
}

func (p *program) axpysTwofold() {
	const h, l, a, before, c = 0, 1, 2, 6, 16
	p.function("axpysTwofold", "n int, c, a *float64, lda int, h, l *float64", "",
		"adds cᵀ·A for A (4×n) to the sums h + l. The vector c is c[0:4] + c[4:8].")
	p.params(0, "n")
	as := p.matrix(1, 4, "a", "lda")
	p.params(10, "c")
	p.params(11, "h", "l")
	for i := range 8 {
		p.all(c+i, 10, 8*i)
	}
	p.each(append(as, 11, 12), func(w width) {
		w.take(h, 11)
		w.take(l, 12)
		for r := range 4 {
			w.take(a+r, as[r])
			p.extract(a+r, c+r, h, l, before+r)
			p.fma(l, a+r, c+4+r)
		}
		w.put(h, 11)
		w.put(l, 12)
	})
	p.ret()
}

// twoSum computes s and e with a + b = s + e exactly. It overwrites z.
func (p *program) twoSum(s, e, a, b, z int) {
	p.add(s, a, b)
	p.sub(z, s, a)
	p.sub(e, s, z)
	p.sub(e, a, e)
	p.sub(z, b, z)
	p.add(e, e, z)
}

// lost is the register that holds twofold.Lost.
const lost = 29

// accumulate adds h + l to the sums at the pointers hi and lo. e bounds the error of h + l and is added to the bounds
// at the pointer bound. accumulate overwrites vectors 8 to 15.
func (w width) accumulate(h, l, e, hi, lo, bound int) {
	const gh, gl, ge, s, missing, z, size, x = 8, 9, 10, 11, 12, 13, 14, 15
	w.take(gh, hi)
	w.take(gl, lo)
	w.take(ge, bound)
	w.twoSum(s, missing, gh, h, z)
	w.abs(size, l)
	w.abs(x, missing)
	w.add(size, size, x)
	w.abs(x, gl)
	w.add(size, size, x)
	w.program.fma(e, size, lost)
	w.add(ge, ge, e)
	w.add(l, l, missing)
	w.add(gl, gl, l)
	w.twoSum(gh, z, s, gl, x)
	w.put(gh, hi)
	w.put(z, lo)
	w.put(ge, bound)
}

func (p *program) closeSums() {
	const sigma, eps, c, h, l, start = 0, 1, 2, 3, 4, 5
	p.function("closeSums", "n int, sigma, eps float64, c, h, l, gh, gl, ge *float64", "",
		"subtracts the bases from n sums h + l, adds the sums to gh + gl, and their error bounds eps·c_j to ge.")
	p.params(0, "n")
	p.parameter(sigma, "sigma")
	p.parameter(eps, "eps")
	p.params(1, "c", "h", "l", "gh", "gl", "ge")
	p.baseConstants()
	p.constant(lost, 20, math.Float64bits(0x1p-51))
	p.each([]int{1, 2, 3, 4, 5, 6}, func(w width) {
		w.take(c, 1)
		w.take(h, 2)
		w.take(l, 3)
		p.base(start, sigma, c)
		p.sub(h, h, start)
		p.mul(c, c, eps)
		w.accumulate(h, l, c, 4, 5, 6)
	})
	p.ret()
}

func (p *program) addSums() {
	const h, l, e = 0, 1, 2
	p.function(
		"addSums",
		"n int, h, l, e, gh, gl, ge *float64",
		"",
		"adds n sums h + l to gh + gl, and their error bounds e to ge.",
	)
	p.params(0, "n")
	p.params(1, "h", "l", "e", "gh", "gl", "ge")
	p.constant(lost, 20, math.Float64bits(0x1p-51))
	p.each([]int{1, 2, 3, 4, 5, 6}, func(w width) {
		w.take(h, 1)
		w.take(l, 2)
		w.take(e, 3)
		w.accumulate(h, l, e, 4, 5, 6)
	})
	p.ret()
}
