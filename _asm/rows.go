package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rowLoops writes the loops over rows that are centred. Products and sums are rounded each by
// itself: every instruction set has the same bits.
func (v isa) rowLoops() {
	v.centre()
	v.spread()
	v.norms("norms4", "computes s_i = Σ x_ij² for the rows of X (4×n), in four sums each: (s₀ + s₂) + (s₁ + s₃).", false)
	v.norms("squares4", "computes s_i = Σ x_ij² for the rows of X (4×n), in four sums each: (s₀ + s₁) + (s₂ + s₃).", true)
}

func (v isa) centre() {
	v.function("centre", "(n int, x, origin, mean, z *float64)", "computes z_j = (x_j − origin_j) − mean_j.")
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	x, origin := Load(Param("x"), GP64()).(reg.GPVirtual), Load(Param("origin"), GP64()).(reg.GPVirtual)
	mean, z := Load(Param("mean"), GP64()).(reg.GPVirtual), Load(Param("z"), GP64()).(reg.GPVirtual)
	step := func(vectors int, w width) {
		for i := range vectors {
			at := i * w.bytes()
			a, o, m := w.load(Mem{Base: x, Disp: at}), w.load(Mem{Base: origin, Disp: at}), w.load(Mem{Base: mean, Disp: at})
			VSUBPD(o, a, a)
			VSUBPD(m, a, a)
			w.store(a, Mem{Base: z, Disp: at})
		}
		for _, p := range []reg.GPVirtual{x, origin, mean, z} {
			ADDQ(U32(vectors*w.bytes()), p)
		}
	}
	countdown(n, 4*v.lanes, "four", func() { step(4, width{v, false}) })
	countdown(n, v.lanes, "vector", func() { step(1, width{v, false}) })
	countdown(n, 1, "one", func() { step(1, width{v, true}) })
	VZEROUPPER()
	RET()
}

func (v isa) spread() {
	v.function("spread4", "(n int, x *float64, ldx int, origin, sum, squares *float64)",
		"adds z_ij = x_ij − origin_j to sum_j, and z_ij² to squares_j, for the rows of X (4×n), one after the other.")
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	x := rowsOf("x", "ldx", 4)
	origin := Load(Param("origin"), GP64()).(reg.GPVirtual)
	sum, squares := Load(Param("sum"), GP64()).(reg.GPVirtual), Load(Param("squares"), GP64()).(reg.GPVirtual)
	v.each(n, func(w width) {
		o, s, q := w.load(Mem{Base: origin}), w.load(Mem{Base: sum}), w.load(Mem{Base: squares})
		for r := range 4 {
			z := w.load(x.at(r, 0))
			VSUBPD(o, z, z)
			VADDPD(z, s, s)
			VMULPD(z, z, z)
			VADDPD(z, q, q)
		}
		w.store(s, Mem{Base: sum})
		w.store(q, Mem{Base: squares})
		for _, p := range []reg.GPVirtual{x.base, origin, sum, squares} {
			ADDQ(U8(w.bytes()), p)
		}
	})
	VZEROUPPER()
	RET()
}

// norms keeps four sums of each row, in one register of four elements: more would be other sums.
func (v isa) norms(name, doc string, neighbours bool) {
	v.function(name, "(n int, x *float64, ldx int) (s0, s1, s2, s3 float64)", doc)
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	x := rowsOf("x", "ldx", 4)
	sums := make([]reg.VecVirtual, 4)
	for r := range sums {
		sums[r] = YMM()
		zero(sums[r])
	}
	countdown(n, 4, "vector", func() {
		for r := range sums {
			z := YMM()
			VMOVUPD(x.at(r, 0), z)
			VMULPD(z, z, z)
			VADDPD(z, sums[r], sums[r])
		}
		ADDQ(U8(32), x.base)
	})
	high := make([]reg.VecVirtual, 4)
	for r := range sums {
		high[r] = XMM()
		VEXTRACTF128(U8(1), sums[r], high[r])
	}
	countdown(n, 1, "one", func() {
		for r := range sums {
			z := XMM()
			VMOVSD(x.at(r, 0), z)
			VMULSD(z, z, z)
			VADDSD(z, sums[r].AsX(), sums[r].AsX())
		}
		ADDQ(U8(8), x.base)
	})
	for r := range sums {
		low := sums[r].AsX()
		if neighbours {
			VHADDPD(high[r], low, low)
		} else {
			VADDPD(high[r], low, low)
		}
		VHADDPD(low, low, low)
		Store(low, ReturnIndex(r))
	}
	VZEROUPPER()
	RET()
}
