package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A row of A, once loaded, serves all vectors. So products of four rows and
// several vectors take fewer loads to a multiply-add than those of four rows and
// one, and read A less often.

// dots writes S = A·Xᵀ for four rows and u vectors. A sum is made as in dot, to the
// same bits; where the registers don't hold the sums of four rows, two are taken
// at a time.
func (v isa) dots(u int) {
	v.function(fmt.Sprint("dot4x", u), "(n int, a *float64, lda int, x *float64, ldx int, s *float64, lds int)",
		fmt.Sprintf("computes S = A·Xᵀ for A (4×n), X (%d×n) and S (4×%d).", u, u))
	rows := 4
	if 2*rows*u+u+1 > v.registers() {
		rows = 2
	}
	for r := 0; r < 4; r += rows {
		v.dotsOf(r, rows, u)
	}
	VZEROUPPER()
	RET()
}

// dotsOf writes so many rows of S, from first on.
func (v isa) dotsOf(first, rows, u int) {
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	a, x := rowsOf("a", "lda", 4), rowsOf("x", "ldx", u)
	if first > 0 {
		LEAQ(a.at(first, 0), a.base)
	}
	d := v.newDots(rows * u)
	label := func(name string) string { return fmt.Sprint(name, first) }
	step := func(vectors int) func() {
		return func() {
			for i := range vectors {
				xs := v.vectors(u)
				for q := range xs {
					VMOVUPD(x.at(q, i*v.bytes()), xs[q])
				}
				for r := range rows {
					av := v.vector()
					VMOVUPD(a.at(r, i*v.bytes()), av)
					for q := range xs {
						VFMADD231PD(av, xs[q], d.acc[r*u+q][i])
					}
				}
			}
			ADDQ(U8(vectors*v.bytes()), x.base)
			ADDQ(U8(vectors*v.bytes()), a.base)
		}
	}
	countdown(n, 2*v.lanes, label("two"), step(2))
	countdown(n, v.lanes, label("vector"), step(1))
	d.reduce()
	countdown(n, 1, label("one"), func() {
		for r := range rows {
			av := XMM()
			VMOVSD(a.at(r, 0), av)
			for q := range u {
				VFMADD231SD(x.at(q, 0), av, d.acc[r*u+q][0].AsX())
			}
		}
		ADDQ(U8(8), x.base)
		ADDQ(U8(8), a.base)
	})
	s := rowsOf("s", "lds", 4)
	for r := range rows {
		for q := range u {
			sum := d.acc[r*u+q][0].AsX()
			VMOVSD(sum, s.at(first+r, 8*q))
		}
	}
}

// axpys writes Y += Cᵀ·A for four rows and u vectors, to the same bits as axpy.
func (v isa) axpys(u int) {
	v.function(fmt.Sprint("axpy4x", u), "(n int, c *float64, ldc int, a *float64, lda int, y *float64, ldy int)",
		fmt.Sprintf("computes Y += Cᵀ·A for C (4×%d), A (4×n) and Y (%d×n).", u, u))
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	c := rowsOf("c", "ldc", 4)
	cs := v.vectors(4 * u)
	for i := range cs {
		VBROADCASTSD(c.at(i/u, 8*(i%u)), cs[i])
	}
	a, y := rowsOf("a", "lda", 4), rowsOf("y", "ldy", u)
	step := func() {
		ys := v.vectors(u)
		for q := range ys {
			VMOVUPD(y.at(q, 0), ys[q])
		}
		for r := range 4 {
			av := v.vector()
			VMOVUPD(a.at(r, 0), av)
			for q := range ys {
				VFMADD231PD(av, cs[r*u+q], ys[q])
			}
		}
		for q := range ys {
			VMOVUPD(ys[q], y.at(q, 0))
		}
		ADDQ(U8(v.bytes()), y.base)
		ADDQ(U8(v.bytes()), a.base)
	}
	countdown(n, v.lanes, "vector", step)
	countdown(n, 1, "one", func() {
		ys := make([]reg.VecVirtual, u)
		for q := range ys {
			ys[q] = XMM()
			VMOVSD(y.at(q, 0), ys[q])
		}
		for r := range 4 {
			av := XMM()
			VMOVSD(a.at(r, 0), av)
			for q := range ys {
				VFMADD231SD(av, cs[r*u+q].AsX(), ys[q])
			}
		}
		for q := range ys {
			VMOVSD(ys[q], y.at(q, 0))
		}
		ADDQ(U8(8), y.base)
		ADDQ(U8(8), a.base)
	})
	VZEROUPPER()
	RET()
}
