package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A width is the number of elements that an instruction processes: a whole vector, or one element. With one element,
// the other elements of the register are zero.
type width struct {
	v   isa
	one bool
}

func (w width) reg() reg.VecVirtual {
	if w.one {
		return XMM()
	}
	return w.v.vector()
}

func (w width) bytes() int {
	if w.one {
		return 8
	}
	return w.v.bytes()
}

func (w width) load(m Mem) reg.VecVirtual {
	r := w.reg()
	if w.one {
		VMOVSD(m, r)
	} else {
		VMOVUPD(m, r)
	}
	return r
}

func (w width) store(r reg.VecVirtual, m Mem) {
	if w.one {
		VMOVSD(r, m)
	} else {
		VMOVUPD(r, m)
	}
}

func (w width) copyOf(x reg.VecVirtual) reg.VecVirtual {
	r := w.reg()
	VMOVAPD(x, r)
	return r
}

func (w width) zero() reg.VecVirtual {
	r := w.reg()
	zero(r)
	return r
}

// fma adds x·y to sum.
func (w width) fma(x Op, y, sum reg.VecVirtual) {
	if w.one {
		VFMADD231SD(x, y.AsX(), sum.AsX())
	} else {
		VFMADD231PD(x, y, sum)
	}
}

// each calls body for all n elements: first for whole vectors, then for single elements.
func (v isa) each(n reg.GPVirtual, body func(w width)) {
	countdown(n, v.lanes, "vector", func() { body(width{v, false}) })
	countdown(n, 1, "one", func() { body(width{v, true}) })
}

// loops calls body for all n elements: first for maxVectors vectors at a time, then for one vector, then for one
// element. The loops have the labels many, vector and one, followed by suffix.
func (v isa) loops(
	n reg.GPVirtual,
	maxVectors int,
	many, suffix string,
	body func(vectors int, w width, label string),
) {
	for _, l := range []struct {
		label   string
		vectors int
		w       width
	}{{many, maxVectors, width{v, false}}, {"vector", 1, width{v, false}}, {"one", 1, width{v, true}}} {
		step := 1
		if !l.w.one {
			step = l.vectors * v.lanes
		}
		countdown(n, step, l.label+suffix, func() { body(l.vectors, l.w, l.label+suffix) })
	}
}

// constant returns memory that holds a vector with the given bits in all elements.
func (v isa) constant(name string, bits uint64) Mem {
	m := GLOBL(name+v.suffix, 8|16) // RODATA|NOPTR
	for i := range v.lanes {
		DATA(8*i, U64(bits))
	}
	return m
}

// twofoldConstants has the constants for sums of two numbers.
type twofoldConstants struct{ magnitude, exponent, six, lost Mem }

func (v isa) twofold() {
	c := twofoldConstants{
		v.constant("magnitude", 1<<63-1), v.constant("exponent", 0x7ff<<52),
		v.constant("six", math.Float64bits(6)), v.constant("lost", math.Float64bits(0x1p-51)),
	}
	v.maxima(c)
	v.colMax(c)
	v.dotsTwofold()
	v.open(c)
	v.axpysTwofold()
	v.closeSums(c)
	v.addSums(c)
}

// across combines all elements of a vector pair by pair, down to one result in the lowest element.
func (v isa) across(x reg.VecVirtual, combine func(a, b, to reg.VecVirtual)) {
	if v.lanes == 8 {
		half := YMM()
		VEXTRACTF64X4(U8(1), x, half)
		y := YMM()
		VMOVAPD(x.AsY(), y)
		combine(half, y, y)
		quarter := XMM()
		VEXTRACTF128(U8(1), y, quarter)
		combine(quarter, y.AsX().(reg.VecVirtual), x.AsX().(reg.VecVirtual))
	} else {
		quarter := XMM()
		VEXTRACTF128(U8(1), x, quarter)
		combine(quarter, x.AsX().(reg.VecVirtual), x.AsX().(reg.VecVirtual))
	}
	low := x.AsX().(reg.VecVirtual)
	high := XMM()
	VPERMILPD(U8(1), low, high)
	combine(high, low, low)
}

func (v isa) maxima(c twofoldConstants) {
	v.function(
		"maxima",
		"(n int, a *float64, lda int, m, c *float64)",
		"writes the largest magnitude in each row of A (4×n) to m, and sets c_j = max(c_j, |a_ij|) for all rows i.",
	)
	n := pointer("n")
	a := rowsOf("a", "lda", 4)
	out := pointer("c")
	most := v.vectors(4)
	zero(most...)
	step := func(w width, to []reg.VecVirtual) {
		column := w.load(Mem{Base: out})
		for r := range to {
			x := w.load(a.at(r, 0))
			VANDPD(c.magnitude, x, x)
			VMAXPD(to[r], x, to[r])
			VMAXPD(column, x, column)
		}
		w.store(column, Mem{Base: out})
		advance(w.bytes(), out, a.base)
	}
	countdown(n, v.lanes, "vector", func() { step(width{v, false}, most) })
	for r := range most {
		v.across(most[r], func(a, b, to reg.VecVirtual) { VMAXPD(a, b, to) })
		most[r] = most[r].AsX().(reg.VecVirtual)
	}
	countdown(n, 1, "one", func() { step(width{v, true}, most) })
	m := pointer("m")
	for r := range most {
		VMOVSD(most[r], Mem{Base: m, Disp: 8 * r})
	}
	ret()
}

func (v isa) colMax(c twofoldConstants) {
	v.function(
		"colMax",
		"(n int, f, a *float64, lda int, c *float64)",
		"computes c_j = max(c_j, f_i·|a_ij|) for A (4×n).",
	)
	n := pointer("n")
	a := rowsOf("a", "lda", 4)
	f := pointer("f")
	out := pointer("c")
	fs := v.vectors(4)
	for r := range fs {
		VBROADCASTSD(Mem{Base: f, Disp: 8 * r}, fs[r])
	}
	v.each(n, func(w width) {
		most := w.load(Mem{Base: out})
		for r := range fs {
			x := w.load(a.at(r, 0))
			VANDPD(c.magnitude, x, x)
			if w.one {
				VMULPD(fs[r].AsX(), x, x)
			} else {
				VMULPD(fs[r], x, x)
			}
			VMAXPD(most, x, most)
		}
		w.store(most, Mem{Base: out})
		advance(w.bytes(), out, a.base)
	})
	ret()
}

// extract adds a·x to sum, and the round-off of this addition to low.
func (w width) extract(a, x, sum, low reg.Register) {
	before := w.copyOf(sum.(reg.VecVirtual))
	VFMADD231PD(x, a, sum)
	VSUBPD(sum, before, before)
	VFMADD231PD(x, a, before)
	VADDPD(before, low, low)
}

func (v isa) dotsTwofold() {
	v.function("dotsTwofold", "(n int, base, a *float64, lda int, x, s *float64)",
		"computes A·x = s + l for A (4×n). It writes s to s[0:4] and l to s[4:8].")
	n := pointer("n")
	a := rowsOf("a", "lda", 4)
	x := pointer("x")
	base := pointer("base")
	s := pointer("s")
	step := func(w width, sum, low []reg.VecVirtual) {
		xv := w.load(Mem{Base: x})
		for r := range sum {
			w.extract(w.load(a.at(r, 0)), xv, sum[r], low[r])
		}
		advance(w.bytes(), x, a.base)
	}
	sum, low := v.vectors(4), v.vectors(4)
	zero(low...)
	for r := range sum {
		VBROADCASTSD(Mem{Base: base, Disp: 8 * r}, sum[r])
	}
	countdown(n, v.lanes, "vector", func() { step(width{v, false}, sum, low) })
	for r := range sum {
		start := v.vector()
		VBROADCASTSD(Mem{Base: base, Disp: 8 * r}, start)
		VSUBPD(start, sum[r], sum[r])
		for k, part := range []reg.VecVirtual{sum[r], low[r]} {
			v.across(part, func(a, b, to reg.VecVirtual) { VADDPD(a, b, to) })
			VMOVSD(part.AsX(), Mem{Base: s, Disp: 8 * (4*k + r)})
		}
	}
	one := width{v, true}
	sums, lows := make([]reg.VecVirtual, 4), make([]reg.VecVirtual, 4)
	for r := range sums {
		sums[r], lows[r] = one.load(Mem{Base: base, Disp: 8 * r}), one.zero()
	}
	countdown(n, 1, "one", func() { step(one, sums, lows) })
	for r := range sums {
		VSUBSD(Mem{Base: base, Disp: 8 * r}, sums[r], sums[r])
		for k, part := range []reg.VecVirtual{sums[r], lows[r]} {
			at := Mem{Base: s, Disp: 8 * (4*k + r)}
			VADDSD(at, part, part)
			VMOVSD(part, at)
		}
	}
	ret()
}

// base returns 3/2 of the power of two in (2·sigma·c, 4·sigma·c].
func (w width) base(sigma reg.Register, c reg.VecVirtual, k twofoldConstants) reg.VecVirtual {
	b := w.reg()
	VMULPD(sigma, c, b)
	VANDPD(k.exponent, b, b)
	VMULPD(k.six, b, b)
	return b
}

// as returns x as a register with this width.
func (w width) as(x reg.VecVirtual) reg.Register {
	if w.one {
		return x.AsX()
	}
	return x
}

// broadcast returns a vector with the value of a parameter in all elements.
func (v isa) broadcast(name string) reg.VecVirtual {
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	r := v.vector()
	VBROADCASTSD(p.Addr, r)
	return r
}

func (v isa) open(c twofoldConstants) {
	v.function(
		"open",
		"(n int, sigma float64, c, h, l *float64)",
		"starts n sums h + l: h_j = Base(sigma·c_j), l_j = 0.",
	)
	n := pointer("n")
	sigma := v.broadcast("sigma")
	cp, h, l := pointer("c"), pointer("h"), pointer("l")
	v.each(n, func(w width) {
		w.store(w.base(w.as(sigma), w.load(Mem{Base: cp}), c), Mem{Base: h})
		w.store(w.zero(), Mem{Base: l})
		advance(w.bytes(), cp, h, l)
	})
	ret()
}

func (v isa) axpysTwofold() {
	v.function("axpysTwofold", "(n int, c, a *float64, lda int, h, l *float64)",
		"adds cᵀ·A for A (4×n) to the sums h + l. The vector c is c[0:4] + c[4:8].")
	n := pointer("n")
	a := rowsOf("a", "lda", 4)
	c := pointer("c")
	h, l := pointer("h"), pointer("l")
	cs := v.vectors(8)
	for i := range cs {
		VBROADCASTSD(Mem{Base: c, Disp: 8 * i}, cs[i])
	}
	v.each(n, func(w width) {
		hv, lv := w.load(Mem{Base: h}), w.load(Mem{Base: l})
		for r := range 4 {
			av := w.load(a.at(r, 0))
			w.extract(av, w.as(cs[r]).(reg.VecVirtual), hv, lv)
			VFMADD231PD(w.as(cs[4+r]), av, lv)
		}
		w.store(hv, Mem{Base: h})
		w.store(lv, Mem{Base: l})
		advance(w.bytes(), h, l, a.base)
	})
	ret()
}

// twoSum returns a + b = s + e without error.
func (w width) twoSum(a, b reg.VecVirtual) (s, e reg.VecVirtual) {
	s, z, t := w.reg(), w.reg(), w.reg()
	VADDPD(b, a, s)
	VSUBPD(a, s, z)
	VSUBPD(z, s, t)
	VSUBPD(t, a, t)
	VSUBPD(z, b, z)
	VADDPD(z, t, t)
	return s, t
}

// sums holds pointers to the high parts, the low parts and the error bounds of sums.
type sums [3]reg.GPVirtual

func loadSums(hi, lo, bound string) sums {
	return sums{pointer(hi), pointer(lo), pointer(bound)}
}

// add adds h + l to the sums g. e bounds the error of h + l.
func (w width) add(h, l, e reg.VecVirtual, g sums, c twofoldConstants) {
	s, missing := w.twoSum(w.load(Mem{Base: g[0]}), h)
	gl := w.load(Mem{Base: g[1]})
	size, x := w.reg(), w.reg()
	VANDPD(c.magnitude, l, size)
	VANDPD(c.magnitude, missing, x)
	VADDPD(x, size, size)
	VANDPD(c.magnitude, gl, x)
	VADDPD(x, size, size)
	VFMADD231PD(c.lost, size, e)
	w.addTo(e, g[2])
	VADDPD(missing, l, l)
	VADDPD(l, gl, gl)
	hi, lo := w.twoSum(s, gl)
	w.store(hi, Mem{Base: g[0]})
	w.store(lo, Mem{Base: g[1]})
	advance(w.bytes(), g[:]...)
}

func (w width) addTo(x reg.VecVirtual, p reg.GPVirtual) {
	y := w.load(Mem{Base: p})
	VADDPD(x, y, y)
	w.store(y, Mem{Base: p})
}

func (v isa) closeSums(c twofoldConstants) {
	v.function("closeSums", "(n int, sigma, eps float64, c, h, l, gh, gl, ge *float64)",
		"subtracts the bases from n sums h + l, adds the sums to gh + gl, and their error bounds eps·c_j to ge.")
	n := pointer("n")
	sigma, eps := v.broadcast("sigma"), v.broadcast("eps")
	cp, hp, lp := pointer("c"), pointer("h"), pointer("l")
	g := loadSums("gh", "gl", "ge")
	v.each(n, func(w width) {
		cv, h := w.load(Mem{Base: cp}), w.load(Mem{Base: hp})
		VSUBPD(w.base(w.as(sigma), cv, c), h, h)
		VMULPD(w.as(eps), cv, cv)
		w.add(h, w.load(Mem{Base: lp}), cv, g, c)
		advance(w.bytes(), cp, hp, lp)
	})
	ret()
}

func (v isa) addSums(c twofoldConstants) {
	v.function(
		"addSums",
		"(n int, h, l, e, gh, gl, ge *float64)",
		"adds n sums h + l to gh + gl, and their error bounds e to ge.",
	)
	n := pointer("n")
	h, g := loadSums("h", "l", "e"), loadSums("gh", "gl", "ge")
	v.each(n, func(w width) {
		w.add(w.load(Mem{Base: h[0]}), w.load(Mem{Base: h[1]}), w.load(Mem{Base: h[2]}), g, c)
		advance(w.bytes(), h[:]...)
	})
	ret()
}
