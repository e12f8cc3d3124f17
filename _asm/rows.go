package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rowLoops writes the functions that centre rows. They round a product before they add it, so that all instruction
// sets give the same bits.
func (v isa) rowLoops() {
	v.centre()
	v.spread()
	v.norms(
		"norms4",
		"computes s_i = Σ x_ij² for the rows of X (4×n), each from four partial sums, added as (s₀ + s₂) "+
			"+ (s₁ + s₃).",
		false,
	)
	v.norms(
		"squares4",
		"computes s_i = Σ x_ij² for the rows of X (4×n), each from four partial sums, added as (s₀ + s₁) "+
			"+ (s₂ + s₃).",
		true,
	)
}

func (v isa) centre() {
	v.function("centre", "(n int, x, origin, mean, z *float64)", "computes z_j = (x_j − origin_j) − mean_j.")
	n := pointer("n")
	x, origin := pointer("x"), pointer("origin")
	mean, z := pointer("mean"), pointer("z")
	v.loops(n, 4, "four", "", func(vectors int, w width, _ string) {
		for i := range vectors {
			at := i * w.bytes()
			a, o, m := w.load(Mem{Base: x, Disp: at}), w.load(Mem{Base: origin, Disp: at}), w.load(Mem{Base: mean, Disp: at})
			VSUBPD(o, a, a)
			VSUBPD(m, a, a)
			w.store(a, Mem{Base: z, Disp: at})
		}
		advance(vectors*w.bytes(), x, origin, mean, z)
	})
	ret()
}

func (v isa) spread() {
	v.function("spread4", "(n int, x *float64, ldx int, origin, sum, squares *float64)",
		"adds z_ij = x_ij − origin_j to sum_j, and z_ij² to squares_j, for the rows of X (4×n) in order.")
	n := pointer("n")
	x := rowsOf("x", "ldx", 4)
	origin := pointer("origin")
	sum, squares := pointer("sum"), pointer("squares")
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
		advance(w.bytes(), x.base, origin, sum, squares)
	})
	ret()
}

// norms writes a function that computes the sum of the squares of each row. All instruction sets use four partial
// sums per row, so that they give the same bits. If neighbours is true, the partial sums are added as (s₀ + s₁) +
// (s₂ + s₃), otherwise as (s₀ + s₂) + (s₁ + s₃).
func (v isa) norms(name, doc string, neighbours bool) {
	v.function(name, "(n int, x *float64, ldx int) (s0, s1, s2, s3 float64)", doc)
	n := pointer("n")
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
	ret()
}
