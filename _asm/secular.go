package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// secular writes the functions for the secular equation of package eigen.
func (v isa) secular() {
	one := v.constant("unit", 0x3ff<<52)
	v.poles("poles", "from the first to the last", false, one)
	v.poles("polesDown", "from the last to the first", true, one)
	v.scaleQuotients()
}

// poles writes a function that adds up the terms of poles and their slopes. It has two accumulators for each sum.
func (v isa) poles(name, order string, down bool, one Mem) {
	v.function(
		name,
		"(n int, origin, tau float64, d, zz, delta *float64) (sum, slope, partials float64)",
		"sets delta_i = (d_i − origin) − tau and adds up zz_i/delta_i, zz_i/delta_i² and the partial sums of the",
		"first, "+order+" element.",
	)
	n := pointer("n")
	d, zz, delta := pointer("d"), pointer("zz"), pointer("delta")
	if down {
		size := GP64()
		MOVQ(n, size)
		SHLQ(U8(3), size)
		for _, p := range []reg.GPVirtual{d, zz, delta} {
			ADDQ(size, p)
		}
	}
	origin, tau, unit := v.broadcast("origin"), v.broadcast("tau"), v.vector()
	VMOVUPD(one, unit)
	sums := v.newDots(3)
	sums.loops(n, "", func(vectors int, w width) {
		if down {
			retreat(vectors*w.bytes(), d, zz, delta)
		}
		for i := range vectors {
			at := i * w.bytes()
			x, t, u := w.load(Mem{Base: d, Disp: at}), w.reg(), w.load(Mem{Base: zz, Disp: at})
			VSUBPD(w.as(origin), x, x)
			VSUBPD(w.as(tau), x, x)
			w.store(x, Mem{Base: delta, Disp: at})
			VDIVPD(x, w.as(unit), t)
			VMULPD(t, u, u)
			sum, slope, partials := w.as(sums.acc[0][i]), sums.acc[1][i], w.as(sums.acc[2][i])
			VADDPD(u, sum, sum)
			w.fma(t, u, slope)
			VADDPD(sum, partials, partials)
		}
		if !down {
			advance(vectors*w.bytes(), d, zz, delta)
		}
	})
	sums.results()
}

// retreat subtracts a number of bytes from each pointer.
func retreat(bytes int, pointers ...reg.GPVirtual) {
	for _, p := range pointers {
		SUBQ(U32(bytes), p)
	}
}

func (v isa) scaleQuotients() {
	v.function(
		"scaleQuotients",
		"(n int, pole float64, delta, d, y *float64)",
		"multiplies y_i by delta_i/(d_i − pole).",
	)
	n := pointer("n")
	delta, d, y := pointer("delta"), pointer("d"), pointer("y")
	pole := v.broadcast("pole")
	v.each(n, func(w width) {
		x, gap, z := w.load(Mem{Base: delta}), w.load(Mem{Base: d}), w.load(Mem{Base: y})
		VSUBPD(w.as(pole), gap, gap)
		VDIVPD(gap, x, x)
		VMULPD(x, z, z)
		w.store(z, Mem{Base: y})
		advance(w.bytes(), delta, d, y)
	})
	ret()
}
