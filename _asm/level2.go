package main

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dots holds the accumulators for inner products of rows. A row always has two accumulators. So the bits of a sum do
// not depend on the number of rows that are processed together.
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

// loops calls body for all n elements: for two vectors at a time, then for one. It then adds up the accumulators, and
// calls body for the remaining elements one at a time.
func (d dots) loops(n reg.GPVirtual, suffix string, body func(vectors int, w width)) {
	countdown(n, 2*d.v.lanes, "two"+suffix, func() { body(2, width{d.v, false}) })
	countdown(n, d.v.lanes, "vector"+suffix, func() { body(1, width{d.v, false}) })
	d.reduce()
	countdown(n, 1, "one"+suffix, func() { body(1, width{d.v, true}) })
}

// reduce adds up the accumulators of each row. The sum is in the lowest element of the first accumulator.
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

// results returns the sums of reduce from the assembly function.
func (d dots) results() {
	for r := range d.acc {
		Store(d.acc[r][0].AsX(), ReturnIndex(r))
	}
	ret()
}

// numbered returns prefix0, prefix1, … for the given number of rows.
func numbered(prefix string, rows int) string {
	var names []string
	for r := range rows {
		names = append(names, fmt.Sprint(prefix, r))
	}
	return strings.Join(names, ", ")
}

// dot writes a function that computes s = A·x for the given number of rows.
func (v isa) dot(rows int) {
	signature := "(n int, a *float64, lda int, x *float64) (" + numbered("s", rows) + " float64)"
	if rows == 1 {
		signature = "(n int, a, x *float64) (s0 float64)"
	}
	v.function(fmt.Sprintf("dot%d", rows), signature, fmt.Sprintf("computes s = A·x for A (%d×n).", rows))
	n := pointer("n")
	a := rowsOf("a", "lda", rows)
	x := pointer("x")
	d := v.newDots(rows)
	d.loops(n, "", func(vectors int, w width) {
		for i := range vectors {
			xv := w.load(Mem{Base: x, Disp: i * w.bytes()})
			for r := range rows {
				w.fma(a.at(r, i*w.bytes()), xv, d.acc[r][i])
			}
		}
		advance(vectors*w.bytes(), x, a.base)
	})
	d.results()
}

// coefficients loads the parameters c0, c1, …. Each fills a vector.
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

// axpy writes a function that computes y += cᵀ·A for the given number of rows.
func (v isa) axpy(rows int) {
	signature := "(n int, " + numbered("c", rows) + " float64, a *float64, lda int, y *float64)"
	if rows == 1 {
		signature = "(n int, c0 float64, a, y *float64)"
	}
	v.function(fmt.Sprintf("axpy%d", rows), signature, fmt.Sprintf("computes y += cᵀ·A for A (%d×n).", rows))
	n := pointer("n")
	a := rowsOf("a", "lda", rows)
	y := pointer("y")
	cs := v.coefficients(rows)
	v.loops(n, 4, "four", "", func(vectors int, w width, _ string) {
		ys := make([]reg.VecVirtual, vectors)
		if rows == 4 && vectors == 4 {
			for i := 0; i < vectors*w.bytes(); i += 64 {
				PREFETCHT1(Mem{Base: a.base, Index: a.ld, Scale: 4, Disp: i})
			}
		}
		for i := range ys {
			ys[i] = w.load(Mem{Base: y, Disp: i * w.bytes()})
		}
		for r := range rows {
			for i := range ys {
				w.fma(a.at(r, i*w.bytes()), cs[r], ys[i])
			}
		}
		for i := range ys {
			w.store(ys[i], Mem{Base: y, Disp: i * w.bytes()})
		}
		advance(vectors*w.bytes(), y, a.base)
	})
	ret()
}

// axpyRows writes a function that adds multiples of some rows of A to y, as many calls of axpy1 would. It keeps up to
// eight vectors of y in registers while it reads their part of all these rows.
func (v isa) axpyRows() {
	v.function("axpyRows", "(n, count int, c *float64, index *int32, first int, a *float64, lda int, y *float64)",
		"computes y += Σ cₑ·(row indexₑ − first of A) over e < count in turn, for count > 0.")
	n, count := pointer("n"), pointer("count")
	c, index := pointer("c"), pointer("index")
	a, lda, first := pointer("a"), pointer("lda"), pointer("first")
	SHLQ(U8(3), lda)
	IMULQ(lda, first)
	SUBQ(first, a) // a is now the address of row 0, which need not exist
	y := pointer("y")
	v.loops(n, 8, "eight", "", func(vectors int, w width, label string) {
		ys := make([]reg.VecVirtual, vectors)
		for i := range ys {
			ys[i] = w.load(Mem{Base: y, Disp: i * w.bytes()})
		}
		e, row, factor := GP64(), GP64(), v.vector()
		XORQ(e, e)
		Label(label + "Entry")
		MOVLQSX(Mem{Base: index, Index: e, Scale: 4}, row)
		IMULQ(lda, row)
		ADDQ(a, row)
		VBROADCASTSD(Mem{Base: c, Index: e, Scale: 8}, factor)
		for i := range ys {
			w.fma(Mem{Base: row, Disp: i * w.bytes()}, factor, ys[i])
		}
		INCQ(e)
		CMPQ(e, count)
		JLT(LabelRef(label + "Entry"))
		for i := range ys {
			w.store(ys[i], Mem{Base: y, Disp: i * w.bytes()})
		}
		advance(vectors*w.bytes(), y, a)
	})
	ret()
}

// symv writes a function that computes s = A·x and y += cᵀ·A for four rows, and reads these rows once.
func (v isa) symv() {
	const rows = 4
	v.function("symv4", "(n int, c0, c1, c2, c3 float64, a *float64, lda int, x, y *float64) (s0, s1, s2, s3 float64)",
		fmt.Sprintf("computes s = A·x and y += cᵀ·A for A (%d×n).", rows))
	n := pointer("n")
	a := rowsOf("a", "lda", rows)
	x := pointer("x")
	y := pointer("y")
	cs := v.coefficients(rows)
	d := v.newDots(rows)
	// Each vector of a row is loaded into a register, because it is used twice.
	d.loops(n, "", func(vectors int, w width) {
		for i := range vectors {
			xv, yv := w.load(Mem{Base: x, Disp: i * w.bytes()}), w.load(Mem{Base: y, Disp: i * w.bytes()})
			for r := range rows {
				av := w.load(a.at(r, i*w.bytes()))
				w.fma(av, xv, d.acc[r][i])
				w.fma(av, cs[r], yv)
			}
			w.store(yv, Mem{Base: y, Disp: i * w.bytes()})
		}
		advance(vectors*w.bytes(), x, y, a.base)
	})
	d.results()
}
