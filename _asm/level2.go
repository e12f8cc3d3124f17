package main

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dots is the state of sums along rows: two accumulators for each, so that a
// row's sum does not depend on how many rows are taken together.
type dots struct {
	v   isa
	acc [][2]reg.VecVirtual
}

func (v isa) newDots(rows int) dots {
	d := dots{v, make([][2]reg.VecVirtual, rows)}
	for r := range d.acc {
		d.acc[r] = [2]reg.VecVirtual{v.vector(), v.vector()}
		zero(d.acc[r][0], d.acc[r][1])
	}
	return d
}

// reduce leaves each row's sum in the lowest element of its first accumulator.
func (d dots) reduce() {
	for r := range d.acc {
		VADDPD(d.acc[r][1], d.acc[r][0], d.acc[r][0])
	}
	for r := range d.acc {
		x := d.acc[r][0]
		if d.v.lanes == 8 {
			half := YMM()
			VEXTRACTF64X4(U8(1), x, half)
			VADDPD(half, x.AsY(), half)
			x = half
		}
		quarter := XMM()
		VEXTRACTF128(U8(1), x.AsY(), quarter)
		VADDPD(quarter, x.AsX(), x.AsX())
		VHADDPD(x.AsX(), x.AsX(), x.AsX())
		d.acc[r][0] = x
	}
}

// results returns the sums.
func (d dots) results() {
	for r := range d.acc {
		Store(d.acc[r][0].AsX(), ReturnIndex(r))
	}
	VZEROUPPER()
	RET()
}

// numbered lists prefix0, prefix1, … for so many rows.
func numbered(prefix string, rows int) string {
	var names []string
	for r := range rows {
		names = append(names, fmt.Sprint(prefix, r))
	}
	return strings.Join(names, ", ")
}

// dot writes s = A·x for so many rows.
func (v isa) dot(rows int) {
	signature := "(n int, a *float64, lda int, x *float64) (" + numbered("s", rows) + " float64)"
	if rows == 1 {
		signature = "(n int, a, x *float64) (s0 float64)"
	}
	v.function(fmt.Sprintf("dot%d", rows), signature, fmt.Sprintf("computes s = A·x for A (%d×n).", rows))
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	a := rowsOf("a", "lda", rows)
	x := Load(Param("x"), GP64()).(reg.GPVirtual)
	d := v.newDots(rows)
	step := func(vectors int) func() {
		return func() {
			for i := range vectors {
				xv := v.vector()
				VMOVUPD(Mem{Base: x, Disp: i * v.bytes()}, xv)
				for r := range rows {
					VFMADD231PD(a.at(r, i*v.bytes()), xv, d.acc[r][i])
				}
			}
			ADDQ(U8(vectors*v.bytes()), x)
			ADDQ(U8(vectors*v.bytes()), a.base)
		}
	}
	countdown(n, 2*v.lanes, "two", step(2))
	countdown(n, v.lanes, "vector", step(1))
	d.reduce()
	countdown(n, 1, "one", func() {
		xv := XMM()
		VMOVSD(Mem{Base: x}, xv)
		for r := range rows {
			VFMADD231SD(a.at(r, 0), xv, d.acc[r][0].AsX())
		}
		ADDQ(U8(8), x)
		ADDQ(U8(8), a.base)
	})
	d.results()
}

// coefficients loads c0, c1, …, each into all elements of a vector.
func (v isa) coefficients(rows int) []reg.VecVirtual {
	cs := v.vectors(rows)
	for r := range cs {
		c, err := Param(fmt.Sprint("c", r)).Resolve()
		if err != nil {
			panic(err)
		}
		VBROADCASTSD(c.Addr, cs[r])
	}
	return cs
}

// axpy writes y += cᵀ·A for so many rows.
func (v isa) axpy(rows int) {
	signature := "(n int, " + numbered("c", rows) + " float64, a *float64, lda int, y *float64)"
	if rows == 1 {
		signature = "(n int, c0 float64, a, y *float64)"
	}
	v.function(fmt.Sprintf("axpy%d", rows), signature, fmt.Sprintf("computes y += cᵀ·A for A (%d×n).", rows))
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	a := rowsOf("a", "lda", rows)
	y := Load(Param("y"), GP64()).(reg.GPVirtual)
	cs := v.coefficients(rows)
	step := func(vectors int) func() {
		return func() {
			ys := v.vectors(vectors)
			if rows == 4 && vectors == 4 {
				for i := 0; i < vectors*v.bytes(); i += 64 {
					PREFETCHT1(Mem{Base: a.base, Index: a.ld, Scale: 4, Disp: i})
				}
			}
			for i := range ys {
				VMOVUPD(Mem{Base: y, Disp: i * v.bytes()}, ys[i])
			}
			for r := range rows {
				for i := range ys {
					VFMADD231PD(a.at(r, i*v.bytes()), cs[r], ys[i])
				}
			}
			for i := range ys {
				VMOVUPD(ys[i], Mem{Base: y, Disp: i * v.bytes()})
			}
			ADDQ(U32(vectors*v.bytes()), y)
			ADDQ(U32(vectors*v.bytes()), a.base)
		}
	}
	countdown(n, 4*v.lanes, "four", step(4))
	countdown(n, v.lanes, "vector", step(1))
	countdown(n, 1, "one", func() {
		yv := XMM()
		VMOVSD(Mem{Base: y}, yv)
		for r := range rows {
			VFMADD231SD(a.at(r, 0), cs[r].AsX(), yv)
		}
		VMOVSD(yv, Mem{Base: y})
		ADDQ(U8(8), y)
		ADDQ(U8(8), a.base)
	})
	VZEROUPPER()
	RET()
}

// symv writes s = A·x and y += cᵀ·A in one reading of four rows.
func (v isa) symv() {
	const rows = 4
	v.function("symv4", "(n int, c0, c1, c2, c3 float64, a *float64, lda int, x, y *float64) (s0, s1, s2, s3 float64)",
		fmt.Sprintf("computes s = A·x and y += cᵀ·A for A (%d×n).", rows))
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	a := rowsOf("a", "lda", rows)
	x := Load(Param("x"), GP64()).(reg.GPVirtual)
	y := Load(Param("y"), GP64()).(reg.GPVirtual)
	cs := v.coefficients(rows)
	d := v.newDots(rows)
	// The vector of a row goes through a register: it is used twice.
	step := func(vectors int) func() {
		return func() {
			for i := range vectors {
				xv, yv := v.vector(), v.vector()
				VMOVUPD(Mem{Base: x, Disp: i * v.bytes()}, xv)
				VMOVUPD(Mem{Base: y, Disp: i * v.bytes()}, yv)
				for r := range rows {
					av := v.vector()
					VMOVUPD(a.at(r, i*v.bytes()), av)
					VFMADD231PD(av, xv, d.acc[r][i])
					VFMADD231PD(av, cs[r], yv)
				}
				VMOVUPD(yv, Mem{Base: y, Disp: i * v.bytes()})
			}
			for _, p := range []reg.GPVirtual{x, y, a.base} {
				ADDQ(U8(vectors*v.bytes()), p)
			}
		}
	}
	countdown(n, 2*v.lanes, "two", step(2))
	countdown(n, v.lanes, "vector", step(1))
	d.reduce()
	countdown(n, 1, "one", func() {
		xv, yv := XMM(), XMM()
		VMOVSD(Mem{Base: x}, xv)
		VMOVSD(Mem{Base: y}, yv)
		for r := range rows {
			av := XMM()
			VMOVSD(a.at(r, 0), av)
			VFMADD231SD(av, xv, d.acc[r][0].AsX())
			VFMADD231SD(av, cs[r].AsX(), yv)
		}
		VMOVSD(yv, Mem{Base: y})
		for _, p := range []reg.GPVirtual{x, y, a.base} {
			ADDQ(U8(8), p)
		}
	})
	d.results()
}
