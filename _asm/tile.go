package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A micro-kernel computes a tile of C, with lanes rows and u·lanes columns, as a sum of k outer products. All of the
// tile is in registers. Both A and B may be packed, or only one of them.

// tile writes the micro-kernel for packed A and B.
func (v isa) tile(u int) {
	v.function(fmt.Sprintf("tile%d", u), "(k int, alpha float64, a, b, c *float64, ldc int, add bool)",
		fmt.Sprintf("computes C = alpha·AᵀB, plus C if add is set, for packed A (k×%d), B (k×%d)", v.lanes, u*v.lanes),
		fmt.Sprintf("and the %d×%d matrix C.", v.lanes, u*v.lanes))
	b := pointer("b")
	v.packedA(u,
		func(i, q int) Mem { return Mem{Base: b, Disp: (i*u + q) * v.bytes()} },
		func(n int) { ADDQ(U32(n*u*v.bytes()), b) })
}

// tileRowsB writes the micro-kernel for packed A and a B that is not packed, with rows of leading dimension ldb. It
// is 2 % slower than tile, because it computes the addresses of rows.
func (v isa) tileRowsB(u int) {
	v.function(
		fmt.Sprintf("tileRowsB%d", u),
		"(k int, alpha float64, a, b *float64, ldb int, c *float64, ldc int, add bool)",
		fmt.Sprintf("computes C = alpha·AᵀB, plus C if add is set, for packed A (k×%d), B (k×%d)", v.lanes, u*v.lanes),
		fmt.Sprintf("and the %d×%d matrix C.", v.lanes, u*v.lanes),
	)
	b := rowsOf("b", "ldb", 4)
	v.packedA(u,
		func(i, q int) Mem { return b.at(i, q*v.bytes()) },
		func(n int) {
			if n == 1 {
				ADDQ(b.ld, b.base)
			} else {
				LEAQ(Mem{Base: b.base, Index: b.ld, Scale: uint8(n)}, b.base)
			}
		})
}

// packedA writes a micro-kernel for packed A. Its main loop makes four of the k steps at a time. b(i, q) is the address
// of vector q of B in step i. next(n) advances B by n steps.
func (v isa) packedA(u int, b func(i, q int) Mem, next func(n int)) {
	rows := v.lanes
	k := pointer("k")
	a := pointer("a")
	v.intoTile(u, func(step func(a, b func(int) Mem)) {
		steps := func(n int) func() {
			return func() {
				for i := range n {
					if 8*i*rows%64 == 0 {
						PREFETCHT0(Mem{Base: a, Disp: 8*i*rows + 1024})
					}
					step(
						func(r int) Mem { return Mem{Base: a, Disp: 8 * (i*rows + r)} },
						func(q int) Mem { return b(i, q) })
				}
				ADDQ(U32(8*n*rows), a)
				next(n)
			}
		}
		countdown(k, 4, "four", steps(4))
		countdown(k, 1, "one", steps(1))
	})
}

// tileRowsA writes the micro-kernel for packed B and an A that is not packed, with rows of leading dimension lda.
func (v isa) tileRowsA(u int) {
	width := u * v.bytes()
	v.function(
		fmt.Sprintf("tileRowsA%d", u),
		"(k int, alpha float64, a *float64, lda int, b, c *float64, ldc int, add bool)",
		fmt.Sprintf("computes C = alpha·A·B, plus C if add is set, for A (%d×k), packed B (k×%d)", v.lanes, u*v.lanes),
		fmt.Sprintf("and the %d×%d matrix C.", v.lanes, u*v.lanes),
	)
	k := pointer("k")
	a := v.rowsOf("a", "lda")
	b := pointer("b")
	v.intoTile(u, func(step func(a, b func(int) Mem)) {
		steps := func(n int) func() {
			return func() {
				for i := range n {
					step(
						func(r int) Mem { return a.at(r, 8*i) },
						func(q int) Mem { return Mem{Base: b, Disp: i*width + q*v.bytes()} })
				}
				a.advance(8 * n)
				ADDQ(U32(n*width), b)
			}
		}
		countdown(k, 4, "four", steps(4))
		countdown(k, 1, "one", steps(1))
	})
}

// intoTile writes the common part of the micro-kernels. Its argument loop must call step for each of the k steps,
// with the addresses of the elements of A and of the vectors of B.
func (v isa) intoTile(u int, loop func(step func(a, b func(int) Mem))) {
	rows, width := v.lanes, u*v.bytes()
	c := pointer("c")
	ldc := pointer("ldc")
	SHLQ(U8(3), ldc)

	Comment("Prefetch C, which is needed at the end.")
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
	loop(func(a, b func(int) Mem) {
		bs := v.vectors(u)
		for q := range bs {
			VMOVUPD(b(q), bs[q])
		}
		for r := range rows {
			x := v.vector()
			VBROADCASTSD(a(r), x)
			for q := range bs {
				VFMADD231PD(bs[q], x, acc[r][q])
			}
		}
	})

	alpha := v.vector()
	VBROADCASTSD(NewParamAddr("alpha", 8), alpha)
	add := Load(Param("add"), GP8()).(reg.GPVirtual)
	TESTB(add, add)
	JZ(LabelRef("store"))
	v.update(c, ldc, acc, func(m Mem, x reg.VecVirtual) { VFMADD213PD(m, alpha, x) })
	ret()
	Label("store")
	c = pointer("c")
	v.update(c, ldc, acc, func(_ Mem, x reg.VecVirtual) { VMULPD(alpha, x, x) })
	ret()
}

// update calls finish(m, x) for each vector x of the tile and its position m in C, and stores x in C.
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
