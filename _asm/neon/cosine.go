package main

import (
	"math"
)

// cosines writes the loops of random Fourier features. The file cosine.go of package kernel explains the operations.
func (p *program) cosines() {
	p.chain()
	p.chain4()
	p.near()
}

// blocks calls body for all R0 columns of W: first for maxVectors vectors of columns at a time, then for one vector,
// then for one column. R1 is the position of the columns in a row in bytes, and R2 the length of a row of W in bytes.
func (p *program) blocks(maxVectors int, body func(w width, vectors int, label string)) {
	p.op("LSL", "$3, R0, R2")
	p.op("MOVD", "ZR, R1")
	for _, b := range []struct {
		label             string
		elements, vectors int
	}{{"many", lanes, maxVectors}, {"vector", lanes, 1}, {"one", 1, 1}} {
		p.countdown(b.elements*b.vectors, b.label, func() {
			body(width{p, b.elements}, b.vectors, b.label)
			p.op("ADD", "$%d, R1", 8*b.elements*b.vectors)
		})
	}
}

// times repeats body n times, where register R holds n >= 0.
func (p *program) times(r int, label string, body func()) {
	p.op("CBZ", "R%d, %sDone", r, label)
	p.label(label)
	body()
	p.op("SUB", "$1, R%d", r)
	p.op("CBNZ", "R%d, %s", r, label)
	p.label(label + "Done")
}

func (p *program) chain() {
	const most, acc, weights, x = 16, 0, 16, 31
	p.function(
		"chain",
		"n, k int, x *float64, columns *int32, w, from, z *float64",
		"",
		"computes z = f + Σ x_l·w_l with k terms, added one after the other; w_l is row columns[l] of W (row",
		"length n).",
	)
	p.params(0, "n")
	p.blocks(most, func(w width, vectors int, label string) {
		p.params(3, "from")
		p.op("ADD", "R1, R3")
		w.takeMany(vectors, acc, 3)
		p.params(3, "k", "x", "columns", "w")
		p.op("ADD", "R1, R6")
		p.times(3, label+"Entry", func() {
			p.op("MOVW.P", "4(R5), R7")
			p.op("FMOVD.P", "8(R4), F%d", x)
			p.op("MADD", "R2, R6, R7, R7")
			for i := 0; i < vectors; i += 2 {
				here := min(2, vectors-i)
				w.takeFrom(here, weights+i%8, 7, 8*lanes*i)
				for j := i; j < i+here; j++ {
					p.fmaBy(acc+j, weights+j%8, x, 0)
				}
			}
		})
		p.params(3, "z")
		p.op("ADD", "R1, R3")
		w.putMany(vectors, acc, 3)
	})
	p.ret()
}

func (p *program) chain4() {
	const most, acc, weights, x = 4, 0, 16, 20
	p.function(
		"chain4",
		"n, k int, x *float64, ldx int, w, from *float64, ldf int, z *float64, ldz int",
		"",
		"computes Z = F + X·W for X (4×k), W (k×n), F and Z (4×n). The k terms of an element are added one",
		"after the other.",
	)
	p.params(0, "n")
	p.blocks(most, func(w width, vectors int, label string) {
		for r, row := range p.matrix(10, 4, "from", "ldf") {
			p.op("ADD", "R1, R%d", row)
			w.takeMany(vectors, acc+vectors*r, row)
		}
		p.params(3, "k")
		xs := p.matrix(4, 4, "x", "ldx")
		p.params(9, "w")
		p.op("ADD", "R1, R9")
		p.times(3, label+"Input", func() {
			w.takeMany(vectors, weights, 9)
			p.op("ADD", "R2, R9")
			for r, row := range xs {
				p.op("FMOVD.P", "8(R%d), F%d", row, x+r)
				for i := range vectors {
					p.fmaBy(acc+vectors*r+i, weights+i, x+r, 0)
				}
			}
		})
		for r, row := range p.matrix(10, 4, "z", "ldz") {
			p.op("ADD", "R1, R%d", row)
			w.putMany(vectors, acc+vectors*r, row)
		}
	})
	p.ret()
}

// These are the vector registers of near. The first nine hold the variables of the functions cosine and quadrant in
// package kernel. The others hold a constant in all elements.
const (
	cosL, cosRounded, cosQ, cosR, cosZ, cosH, cosCos, cosE, cosP = 0, 1, 2, 3, 4, 5, 6, 7, 8

	cosNearest, cosTwoOverPi, cosToInteger, cosHalfPi, cosHalf, cosOne, cosInteger, cosSin, cosCosine, cosScale = 9, 10, 11, 12, 15, 16, 17, 18, 24, 30
)

// fms subtracts x·y from d, element by element.
func (p *program) fms(d, x, y int) { p.op("VFMLS", "V%d.D2, V%d.D2, V%d.D2", y, x, d) }

// polynomial writes Σ c_i·zⁱ with six coefficients to register dst, by Horner's rule. It overwrites register
// scratch.
func (p *program) polynomial(dst, scratch, c, z int) {
	p.move(scratch, c+5)
	for i := 4; i >= 0; i-- {
		p.move(dst, c+i)
		p.fma(dst, scratch, z)
		dst, scratch = scratch, dst
	}
	p.move(dst, scratch)
}

// cosine computes the cosine of register cosL in register cosCos.
func (p *program) cosine() {
	p.move(cosRounded, cosToInteger)
	p.fma(cosRounded, cosL, cosTwoOverPi)
	p.sub(cosQ, cosRounded, cosToInteger)
	p.fms(cosL, cosQ, cosHalfPi)
	p.move(cosR, cosL)
	p.fms(cosR, cosQ, cosHalfPi+1)
	p.sub(cosL, cosL, cosR)
	p.fms(cosL, cosQ, cosHalfPi+1)
	p.fms(cosL, cosQ, cosHalfPi+2)

	p.mul(cosZ, cosR, cosR)
	p.mul(cosH, cosR, cosHalf)
	p.move(cosCos, cosOne)
	p.fms(cosCos, cosR, cosH)
	p.sub(cosE, cosOne, cosCos)
	p.fms(cosE, cosR, cosH)
	p.fms(cosE, cosR, cosL)

	p.mul(cosL, cosL, cosCos)
	p.mul(cosH, cosR, cosZ)
	p.polynomial(cosP, cosQ, cosSin, cosZ)
	p.fma(cosL, cosH, cosP)
	p.add(cosR, cosR, cosL)

	p.polynomial(cosP, cosQ, cosCosine, cosZ)
	p.mul(cosZ, cosZ, cosZ)
	p.fma(cosE, cosZ, cosP)
	p.add(cosCos, cosCos, cosE)

	p.op("VCMTST", "V%d.D2, V%d.D2, V%d.D2", cosRounded, cosInteger, cosQ)
	p.op("VBIT", "V%d.B16, V%d.B16, V%d.B16", cosQ, cosR, cosCos)
	p.op("VADD", "V%d.D2, V%d.D2, V%d.D2", cosRounded, cosInteger, cosRounded)
	p.op("VUSHR", "$1, V%d.D2, V%d.D2", cosRounded, cosRounded)
	p.op("VSHL", "$63, V%d.D2, V%d.D2", cosRounded, cosRounded)
	p.op("VEOR", "V%d.B16, V%d.B16, V%d.B16", cosRounded, cosCos, cosCos)
}

func (p *program) near() {
	p.function("near", "n int, scale float64, x, y *float64", "done int",
		"computes y = scale·cos(x). It stops before the first vector of x that has a NaN or a large element,",
		"and returns the number of elements computed.")
	p.params(0, "n")
	p.params(1, "x", "y")
	p.parameter(cosScale, "scale")
	for i, v := range []float64{0x1p20, 0x1.45f306dc9c883p-1, 0x1.8p52, 0x1.921fb54442d18p+0, 0x1.1a626331p-54, 0x1.1701b839a252p-88, 0.5, 1} {
		p.constant(cosNearest+i, 20, math.Float64bits(v))
	}
	p.constant(cosInteger, 20, 1)
	for i, v := range []float64{-0x1.5555555555548p-3, 0x1.111111110f7dp-7, -0x1.a01a019bfde86p-13,
		0x1.71de3567cde2p-19, -0x1.ae5e5a8d5ea4cp-26, 0x1.5d8fd078426b1p-33} {
		p.constant(cosSin+i, 20, math.Float64bits(v))
	}
	for i, v := range []float64{0x1.555555555554bp-5, -0x1.6c16c16c14f91p-10, 0x1.a01a019c8448cp-16,
		-0x1.27e4f7eabfd54p-22, 0x1.1ee9d7b1712a5p-29, -0x1.8fa4983037911p-37} {
		p.constant(cosCosine+i, 20, math.Float64bits(v))
	}
	p.each([]int{1, 2}, func(w width) {
		w.take(cosL, 1)
		p.word(0x6e60ec00, cosP, cosNearest, cosL, 0, "FACGE V%d.2D, V%d.2D, V%d.2D", cosP, cosNearest, cosL)
		p.op("VMOV", "V%d.D[0], R3", cosP)
		p.op("VMOV", "V%d.D[1], R4", cosP)
		p.op("AND", "R3, R4")
		p.op("CBZ", "R4, end")
		p.cosine()
		p.mul(cosCos, cosCos, cosScale)
		w.put(cosCos, 2)
	})
	p.label("end")
	p.params(3, "n")
	p.op("SUB", "R0, R3")
	p.op("MOVD", "R3, %s", p.arg("done"))
	p.ret()
}
