package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tile writes the micro-kernel for lanes rows and u·lanes columns: an outer
// product for each of k steps, all of C in registers.
func (v isa) tile(u int) {
	const unroll = 4
	rows, width := v.lanes, u*v.bytes()
	v.function(fmt.Sprintf("tile%d", u), "(k int, alpha float64, a, b, c *float64, ldc int, add bool)",
		fmt.Sprintf("computes C = alpha·AᵀB, plus C if add is set, for packed A (k×%d), B (k×%d)", rows, u*v.lanes),
		fmt.Sprintf("and the %d×%d matrix C.", rows, u*v.lanes))
	k := Load(Param("k"), GP64()).(reg.GPVirtual)
	a := Load(Param("a"), GP64()).(reg.GPVirtual)
	b := Load(Param("b"), GP64()).(reg.GPVirtual)
	c := Load(Param("c"), GP64()).(reg.GPVirtual)
	ldc := Load(Param("ldc"), GP64()).(reg.GPVirtual)
	SHLQ(U8(3), ldc)

	Comment("Ask for C, which is needed at the end.")
	row := GP64()
	MOVQ(c, row)
	for r := range rows {
		for j := 0; j < width; j += 64 {
			PREFETCHT0(Mem{Base: row, Disp: j})
		}
		PREFETCHT0(Mem{Base: row, Disp: width - 1})
		if r < rows-1 {
			ADDQ(ldc, row)
		}
	}

	acc := make([][]reg.VecVirtual, rows)
	for r := range acc {
		acc[r] = v.vectors(u)
		zero(acc[r]...)
	}
	step := func(i int) {
		bs := v.vectors(u)
		for q := range bs {
			VMOVUPD(Mem{Base: b, Disp: i*width + q*v.bytes()}, bs[q])
		}
		for r := range rows {
			x := v.vector()
			VBROADCASTSD(Mem{Base: a, Disp: 8 * (i*rows + r)}, x)
			for q := range bs {
				VFMADD231PD(bs[q], x, acc[r][q])
			}
		}
	}
	steps := func(n int) func() {
		return func() {
			for i := range n {
				if 8*i*rows%64 == 0 {
					PREFETCHT0(Mem{Base: a, Disp: 8*i*rows + 1024})
				}
				step(i)
			}
			ADDQ(U32(8*n*rows), a)
			ADDQ(U32(n*width), b)
		}
	}
	countdown(k, unroll, "four", steps(unroll))
	countdown(k, 1, "one", steps(1))

	alpha := v.vector()
	VBROADCASTSD(NewParamAddr("alpha", 8), alpha)
	add := Load(Param("add"), GP8()).(reg.GPVirtual)
	TESTB(add, add)
	JZ(LabelRef("store"))
	v.update(c, ldc, acc, func(m Mem, x reg.VecVirtual) { VFMADD213PD(m, alpha, x) })
	VZEROUPPER()
	RET()
	Label("store")
	c = Load(Param("c"), GP64()).(reg.GPVirtual)
	v.update(c, ldc, acc, func(_ Mem, x reg.VecVirtual) { VMULPD(alpha, x, x) })
	VZEROUPPER()
	RET()
}

// update finishes each vector of the tile and stores it.
func (v isa) update(c, ldc reg.GPVirtual, acc [][]reg.VecVirtual, finish func(Mem, reg.VecVirtual)) {
	for r := range acc {
		for q, x := range acc[r] {
			m := Mem{Base: c, Disp: q * v.bytes()}
			finish(m, x)
			VMOVUPD(x, m)
		}
		if r < len(acc)-1 {
			ADDQ(ldc, c)
		}
	}
}
