package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/reg"
)

// A function for several vectors loads each vector of a row of A only once. So it needs fewer loads per multiply-add
// than a function for one vector, and reads A less often.

// dots writes a function that computes S = A·Xᵀ for four rows and u vectors. A sum has the same bits as in dot. If
// the sums of four rows do not fit into the registers, it processes two rows at a time.
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
	ret()
}

// dotsOf computes the given number of rows of S, from row firstRow on.
func (v isa) dotsOf(firstRow, rows, u int) {
	n := pointer("n")
	a, x := rowsOf("a", "lda", 4), rowsOf("x", "ldx", u)
	if firstRow > 0 {
		LEAQ(a.at(firstRow, 0), a.base)
	}
	d := v.newDots(rows * u)
	d.loops(n, fmt.Sprint(firstRow), func(vectors int, w width) {
		for i := range vectors {
			xs := make([]reg.VecVirtual, u)
			for q := range xs {
				xs[q] = w.load(x.at(q, i*w.bytes()))
			}
			for r := range rows {
				av := w.load(a.at(r, i*w.bytes()))
				for q := range xs {
					w.fma(av, xs[q], d.acc[r*u+q][i])
				}
			}
		}
		advance(vectors*w.bytes(), x.base, a.base)
	})
	s := rowsOf("s", "lds", 4)
	for r := range rows {
		for q := range u {
			sum := d.acc[r*u+q][0].AsX()
			VMOVSD(sum, s.at(firstRow+r, 8*q))
		}
	}
}

// axpys writes a function that computes Y += Cᵀ·A for four rows of A and u vectors, with the same bits as axpy.
func (v isa) axpys(u int) {
	v.function(fmt.Sprint("axpy4x", u), "(n int, c *float64, ldc int, a *float64, lda int, y *float64, ldy int)",
		fmt.Sprintf("computes Y += Cᵀ·A for C (4×%d), A (4×n) and Y (%d×n).", u, u))
	n := pointer("n")
	c := rowsOf("c", "ldc", 4)
	cs := v.vectors(4 * u)
	for i := range cs {
		VBROADCASTSD(c.at(i/u, 8*(i%u)), cs[i])
	}
	a, y := rowsOf("a", "lda", 4), rowsOf("y", "ldy", u)
	v.each(n, func(w width) {
		ys := make([]reg.VecVirtual, u)
		for q := range ys {
			ys[q] = w.load(y.at(q, 0))
		}
		for r := range 4 {
			av := w.load(a.at(r, 0))
			for q := range ys {
				w.fma(av, cs[r*u+q], ys[q])
			}
		}
		for q := range ys {
			w.store(ys[q], y.at(q, 0))
		}
		advance(w.bytes(), y.base, a.base)
	})
	ret()
}
