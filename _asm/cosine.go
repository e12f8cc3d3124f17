package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// cosines writes the loops of random Fourier features. The file cosine.go of package kernel explains the operations.
func (v isa) cosines() {
	v.chain()
	v.chain4()
	v.near()
}

// blocks calls body for all n columns of W, in groups of maxVectors vectors, then of one vector, then of one column.
// Both offset and stride are in bytes: the position of the columns in a row, and the length of a row of W.
func (v isa) blocks(maxVectors int, body func(offset, stride reg.GPVirtual, w width, vectors int, label string)) {
	n, offset := pointer("n"), GP64()
	stride := GP64()
	MOVQ(n, stride)
	SHLQ(U8(3), stride)
	XORQ(offset, offset)
	v.loops(n, maxVectors, "many", "", func(vectors int, w width, label string) {
		body(offset, stride, w, vectors, label)
		ADDQ(U32(vectors*w.bytes()), offset)
	})
}

// everywhere returns a vector with the number at m in all elements.
func (w width) everywhere(m Mem) reg.VecVirtual {
	r := w.reg()
	if w.one {
		VMOVSD(m, r)
	} else {
		VBROADCASTSD(m, r)
	}
	return r
}

func (v isa) chain() {
	most := v.registers() / 2 // accumulators
	v.function(
		"chain",
		"(n, k int, x *float64, columns *int32, w, from, z *float64)",
		"computes z = f + Σ x_l·w_l with k terms, added one after the other; w_l is row columns[l] of W (row length n).",
	)
	v.blocks(most, func(offset, stride reg.GPVirtual, w width, vectors int, label string) {
		from := pointer("from")
		acc := make([]reg.VecVirtual, vectors)
		for i := range acc {
			acc[i] = w.load(Mem{Base: from, Index: offset, Scale: 1, Disp: i * w.bytes()})
		}
		k, x, columns, weights := pointer("k"), pointer("x"), pointer("columns"), pointer("w")
		ADDQ(offset, weights)
		countdown(k, 1, label+"Entry", func() {
			row := GP64()
			MOVLQSX(Mem{Base: columns}, row)
			IMULQ(stride, row)
			xv := w.everywhere(Mem{Base: x})
			for i := range acc {
				w.fma(Mem{Base: weights, Index: row, Scale: 1, Disp: i * w.bytes()}, xv, acc[i])
			}
			ADDQ(U8(4), columns)
			ADDQ(U8(8), x)
		})
		z := pointer("z")
		for i := range acc {
			w.store(acc[i], Mem{Base: z, Index: offset, Scale: 1, Disp: i * w.bytes()})
		}
	})
	ret()
}

func (v isa) chain4() {
	most := v.registers() / 8 // four rows of accumulators fill half of the registers
	v.function(
		"chain4",
		"(n, k int, x *float64, ldx int, w, from *float64, ldf int, z *float64, ldz int)",
		"computes Z = F + X·W for X (4×k), W (k×n), F and Z (4×n). The k terms of an element are added one "+
			"after the other.",
	)
	v.blocks(most, func(offset, stride reg.GPVirtual, w width, vectors int, label string) {
		from := rowsOf("from", "ldf", 4)
		ADDQ(offset, from.base)
		acc := make([][]reg.VecVirtual, 4)
		for r := range acc {
			for i := range vectors {
				acc[r] = append(acc[r], w.load(from.at(r, i*w.bytes())))
			}
		}
		k, x, weights := pointer("k"), rowsOf("x", "ldx", 4), pointer("w")
		ADDQ(offset, weights)
		countdown(k, 1, label+"Input", func() {
			row := make([]reg.VecVirtual, vectors)
			for i := range row {
				row[i] = w.load(Mem{Base: weights, Disp: i * w.bytes()})
			}
			for r := range acc {
				xv := w.everywhere(x.at(r, 0))
				for i := range row {
					VFMADD231PD(row[i], xv, acc[r][i])
				}
			}
			ADDQ(stride, weights)
			ADDQ(U8(8), x.base)
		})
		z := rowsOf("z", "ldz", 4)
		ADDQ(offset, z.base)
		for r := range acc {
			for i := range acc[r] {
				w.store(acc[r][i], z.at(r, i*w.bytes()))
			}
		}
	})
	ret()
}

// cosineConstants holds the constants of cosine in memory. A constant fills all elements of a vector.
type cosineConstants struct {
	magnitude, nearest, twoOverPi, toInteger, half, one, integerOne, sign Mem

	halfPi, sin, cos []Mem
}

func (v isa) cosineConstants() cosineConstants {
	number := func(name string, x float64) Mem { return v.constant(name, math.Float64bits(x)) }
	c := cosineConstants{
		v.constant("cosMagnitude", 1<<63-1), number("nearest", 0x1p20), number("twoOverPi", 0x1.45f306dc9c883p-1), number("toInteger", 0x1.8p52),
		number("half", 0.5), number("unity", 1), v.constant("integerOne", 1), v.constant("signBit", 1<<63), nil, nil, nil,
	}
	for i, x := range []float64{0x1.921fb54442d18p+0, 0x1.1a626331p-54, 0x1.1701b839a252p-88} {
		c.halfPi = append(c.halfPi, number(fmt.Sprint("halfPi", i), x))
	}
	for i, x := range []float64{-0x1.5555555555548p-3, 0x1.111111110f7dp-7, -0x1.a01a019bfde86p-13,
		0x1.71de3567cde2p-19, -0x1.ae5e5a8d5ea4cp-26, 0x1.5d8fd078426b1p-33} {
		c.sin = append(c.sin, number(fmt.Sprint("sin", i), x))
	}
	for i, x := range []float64{0x1.555555555554bp-5, -0x1.6c16c16c14f91p-10, 0x1.a01a019c8448cp-16,
		-0x1.27e4f7eabfd54p-22, 0x1.1ee9d7b1712a5p-29, -0x1.8fa4983037911p-37} {
		c.cos = append(c.cos, number(fmt.Sprint("cos", i), x))
	}
	return c
}

// jumpUnlessNear jumps to the label if an element of x is NaN, or larger in magnitude than kernel.nearLimit.
func (w width) jumpUnlessNear(x reg.VecVirtual, c cosineConstants, label string) {
	const notLessOrEqual = 0x16 // also for a NaN, without an exception
	magnitude := w.reg()
	VANDPD(c.magnitude, x, magnitude)
	if w.one || w.v.lanes == 4 {
		far, any := w.reg(), GP32()
		VCMPPD(U8(notLessOrEqual), c.nearest, magnitude, far)
		VMOVMSKPD(far, any)
		TESTL(any, any)
	} else {
		far := K()
		VCMPPD(U8(notLessOrEqual), c.nearest, magnitude, far)
		KORTESTB(far, far)
	}
	JNE(LabelRef(label))
}

// choose combines two vectors. An element of the result comes from a if the element of mask at the same place has its
// sign bit set, otherwise from b.
func (w width) choose(mask, a, b reg.VecVirtual) reg.VecVirtual {
	if w.one || w.v.lanes == 4 {
		VBLENDVPD(mask, a, b, b)
		return b
	}
	k := K()
	VPMOVQ2M(mask, k)
	VBLENDMPD(a, b, k, b)
	return b
}

// polynomial returns Σ c_i·zⁱ, computed by Horner's rule.
func (w width) polynomial(z reg.VecVirtual, c []Mem) reg.VecVirtual {
	p := w.all(c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		VFMADD213PD(c[i], z, p)
	}
	return p
}

// all returns a vector loaded from m, where cosineConstants fills all elements with one constant.
func (w width) all(m Mem) reg.VecVirtual {
	r := w.reg()
	VMOVUPD(m, r)
	return r
}

func (w width) cosine(x reg.VecVirtual, c cosineConstants) reg.VecVirtual {
	rounded, q := w.all(c.toInteger), w.reg()
	VFMADD231PD(c.twoOverPi, x, rounded)
	VSUBPD(c.toInteger, rounded, q)
	VFNMADD231PD(c.halfPi[0], q, x)
	r := w.copyOf(x)
	VFNMADD231PD(c.halfPi[1], q, r)
	l := x
	VSUBPD(r, x, l)
	VFNMADD231PD(c.halfPi[1], q, l)
	VFNMADD231PD(c.halfPi[2], q, l)

	z, h, cos, e := w.reg(), w.reg(), w.all(c.one), w.all(c.one)
	VMULPD(r, r, z)
	VMULPD(c.half, r, h)
	VFNMADD231PD(h, r, cos)
	VSUBPD(cos, e, e)
	VFNMADD231PD(h, r, e)
	VFNMADD231PD(l, r, e)

	VMULPD(cos, l, l)
	VMULPD(z, r, h)
	VFMADD231PD(w.polynomial(z, c.sin), h, l)
	sin := r
	VADDPD(l, r, sin)

	p := w.polynomial(z, c.cos)
	VMULPD(z, z, z)
	VFMADD231PD(p, z, e)
	VADDPD(e, cos, cos)

	odd := w.reg()
	VPSLLQ(U8(63), rounded, odd)
	y := w.choose(odd, sin, cos)
	VPADDQ(c.integerOne, rounded, rounded)
	VPSLLQ(U8(62), rounded, rounded)
	VANDPD(c.sign, rounded, rounded)
	VXORPD(rounded, y, y)
	return y
}

func (v isa) near() {
	v.function("near", "(n int, scale float64, x, y *float64) (done int)",
		"computes y = scale·cos(x). It stops before the first vector of x that has a NaN or a large element,",
		"and returns the number of elements computed.")
	c := v.cosineConstants()
	n, scale, from, to := pointer("n"), v.broadcast("scale"), pointer("x"), pointer("y")
	v.each(n, func(w width) {
		x := w.load(Mem{Base: from})
		w.jumpUnlessNear(x, c, "end")
		y := w.cosine(x, c)
		VMULPD(w.as(scale), y, y)
		w.store(y, Mem{Base: to})
		advance(w.bytes(), from, to)
	})
	Label("end")
	done := pointer("n")
	SUBQ(n, done)
	Store(done, Return("done"))
	ret()
}
