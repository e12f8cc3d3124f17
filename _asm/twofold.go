package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A width is how many elements an instruction takes: a vector, or one. What isn't of
// the one element is zero then.
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

// each runs body for all n elements, vectors first.
func (v isa) each(n reg.GPVirtual, body func(w width)) {
	countdown(n, v.lanes, "vector", func() { body(width{v, false}) })
	countdown(n, 1, "one", func() { body(width{v, true}) })
}

// constant is memory with a vector of the same 64 bits.
func (v isa) constant(name string, bits uint64) Mem {
	m := GLOBL(name+v.suffix, 8|16) // RODATA|NOPTR
	for i := range v.lanes {
		DATA(8*i, U64(bits))
	}
	return m
}

// twofoldConstants are what the loops of sums of two numbers need.
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

// across combines the elements of a vector into its lowest.
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
	v.function("maxima", "(n int, a *float64, lda int, m, c *float64)", "writes the largest magnitude of each of four rows of A (4×n), and computes c_j = max(c_j, |a_ij|).")
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	a := rowsOf("a", "lda", 4)
	out := Load(Param("c"), GP64()).(reg.GPVirtual)
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
		ADDQ(U8(w.bytes()), out)
		ADDQ(U8(w.bytes()), a.base)
	}
	countdown(n, v.lanes, "vector", func() { step(width{v, false}, most) })
	for r := range most {
		v.across(most[r], func(a, b, to reg.VecVirtual) { VMAXPD(a, b, to) })
		most[r] = most[r].AsX().(reg.VecVirtual)
	}
	countdown(n, 1, "one", func() { step(width{v, true}, most) })
	m := Load(Param("m"), GP64()).(reg.GPVirtual)
	for r := range most {
		VMOVSD(most[r], Mem{Base: m, Disp: 8 * r})
	}
	VZEROUPPER()
	RET()
}

func (v isa) colMax(c twofoldConstants) {
	v.function("colMax", "(n int, f, a *float64, lda int, c *float64)", "computes c_j = max(c_j, f_i·|a_ij|) for A (4×n).")
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	a := rowsOf("a", "lda", 4)
	f := Load(Param("f"), GP64()).(reg.GPVirtual)
	out := Load(Param("c"), GP64()).(reg.GPVirtual)
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
		ADDQ(U8(w.bytes()), out)
		ADDQ(U8(w.bytes()), a.base)
	})
	VZEROUPPER()
	RET()
}

// extract adds a·x to sum and what rounding took from it to low.
func (w width) extract(a, x, sum, low reg.Register) {
	before := w.copyOf(sum.(reg.VecVirtual))
	VFMADD231PD(x, a, sum)
	VSUBPD(sum, before, before)
	VFMADD231PD(x, a, before)
	VADDPD(before, low, low)
}

func (v isa) dotsTwofold() {
	v.function("dotsTwofold", "(n int, base, a *float64, lda int, x, s *float64)",
		"computes s + l = A·x for A (4×n), s in s[0:4] and l in s[4:8].")
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	a := rowsOf("a", "lda", 4)
	x := Load(Param("x"), GP64()).(reg.GPVirtual)
	base := Load(Param("base"), GP64()).(reg.GPVirtual)
	s := Load(Param("s"), GP64()).(reg.GPVirtual)
	step := func(w width, sum, low []reg.VecVirtual) {
		xv := w.load(Mem{Base: x})
		for r := range sum {
			w.extract(w.load(a.at(r, 0)), xv, sum[r], low[r])
		}
		ADDQ(U8(w.bytes()), x)
		ADDQ(U8(w.bytes()), a.base)
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
	VZEROUPPER()
	RET()
}

// base is 3/2 of the power of two in (2·sigma·c, 4·sigma·c].
func (w width) base(sigma reg.Register, c reg.VecVirtual, k twofoldConstants) reg.VecVirtual {
	b := w.reg()
	VMULPD(sigma, c, b)
	VANDPD(k.exponent, b, b)
	VMULPD(k.six, b, b)
	return b
}

// as is a vector in the width.
func (w width) as(x reg.VecVirtual) reg.Register {
	if w.one {
		return x.AsX()
	}
	return x
}

// broadcast loads a parameter into all elements of a vector.
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
	v.function("open", "(n int, sigma float64, c, h, l *float64)", "begins n sums: h_j = Base(sigma·c_j), l_j = 0.")
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	sigma := v.broadcast("sigma")
	cp, h, l := Load(Param("c"), GP64()).(reg.GPVirtual), Load(Param("h"), GP64()).(reg.GPVirtual), Load(Param("l"), GP64()).(reg.GPVirtual)
	v.each(n, func(w width) {
		w.store(w.base(w.as(sigma), w.load(Mem{Base: cp}), c), Mem{Base: h})
		w.store(w.zero(), Mem{Base: l})
		for _, p := range []reg.GPVirtual{cp, h, l} {
			ADDQ(U8(w.bytes()), p)
		}
	})
	VZEROUPPER()
	RET()
}

func (v isa) axpysTwofold() {
	v.function("axpysTwofold", "(n int, c, a *float64, lda int, h, l *float64)",
		"computes h + l += cᵀ·A for A (4×n), the parts of c in c[0:4] and c[4:8].")
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	a := rowsOf("a", "lda", 4)
	c := Load(Param("c"), GP64()).(reg.GPVirtual)
	h, l := Load(Param("h"), GP64()).(reg.GPVirtual), Load(Param("l"), GP64()).(reg.GPVirtual)
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
		for _, p := range []reg.GPVirtual{h, l, a.base} {
			ADDQ(U8(w.bytes()), p)
		}
	})
	VZEROUPPER()
	RET()
}

// twoSum is a + b = s + e without error.
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

// sums are pointers to what belongs to a sum of two numbers.
type sums [3]reg.GPVirtual

func loadSums(hi, lo, bound string) sums {
	var s sums
	for i, name := range []string{hi, lo, bound} {
		s[i] = Load(Param(name), GP64()).(reg.GPVirtual)
	}
	return s
}

func (s sums) advance(w width) {
	for _, p := range s {
		ADDQ(U8(w.bytes()), p)
	}
}

// add adds h + l, known up to e, to the sums.
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
	g.advance(w)
}

func (w width) addTo(x reg.VecVirtual, p reg.GPVirtual) {
	y := w.load(Mem{Base: p})
	VADDPD(x, y, y)
	w.store(y, Mem{Base: p})
}

func (v isa) closeSums(c twofoldConstants) {
	v.function("closeSums", "(n int, sigma, eps float64, c, h, l, gh, gl, ge *float64)",
		"adds n sums, less their bases, to g, each with the bound eps·c_j of its error.")
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	sigma, eps := v.broadcast("sigma"), v.broadcast("eps")
	cp, hp, lp := Load(Param("c"), GP64()).(reg.GPVirtual), Load(Param("h"), GP64()).(reg.GPVirtual), Load(Param("l"), GP64()).(reg.GPVirtual)
	g := loadSums("gh", "gl", "ge")
	v.each(n, func(w width) {
		cv, h := w.load(Mem{Base: cp}), w.load(Mem{Base: hp})
		VSUBPD(w.base(w.as(sigma), cv, c), h, h)
		VMULPD(w.as(eps), cv, cv)
		w.add(h, w.load(Mem{Base: lp}), cv, g, c)
		for _, p := range []reg.GPVirtual{cp, hp, lp} {
			ADDQ(U8(w.bytes()), p)
		}
	})
	VZEROUPPER()
	RET()
}

func (v isa) addSums(c twofoldConstants) {
	v.function("addSums", "(n int, h, l, e, gh, gl, ge *float64)", "adds n sums to others.")
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	h, g := loadSums("h", "l", "e"), loadSums("gh", "gl", "ge")
	v.each(n, func(w width) {
		w.add(w.load(Mem{Base: h[0]}), w.load(Mem{Base: h[1]}), w.load(Mem{Base: h[2]}), g, c)
		h.advance(w)
	})
	VZEROUPPER()
	RET()
}
