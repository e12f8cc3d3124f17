package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pack writes a function that copies a panel with u vectors in a row. The rows are contiguous in memory.
func (v isa) pack(u int) {
	v.function(fmt.Sprint("pack", u), "(k int, src *float64, ld int, dst *float64, stride int)",
		fmt.Sprintf("copies %d columns of k rows: dst[l·stride+r] = src[l·ld+r].", u*v.lanes))
	k := pointer("k")
	src, dst := rowsOf("src", "ld", 4), rowsOf("dst", "stride", 4)
	rows := func(n int) func() {
		return func() {
			x := v.vectors(n * u)
			for i := range x {
				VMOVUPD(src.at(i/u, i%u*v.bytes()), x[i])
			}
			for i := range x {
				VMOVUPD(x[i], dst.at(i/u, i%u*v.bytes()))
			}
			if n == 4 {
				LEAQ(Mem{Base: src.base, Index: src.ld, Scale: 4}, src.base)
				LEAQ(Mem{Base: dst.base, Index: dst.ld, Scale: 4}, dst.base)
				return
			}
			ADDQ(src.ld, src.base)
			ADDQ(dst.ld, dst.base)
		}
	}
	countdown(k, 4, "four", rows(4))
	countdown(k, 1, "one", rows(1))
	ret()
}

// prefetch writes a function that fetches cache lines into the second-level cache.
func (v isa) prefetch() {
	v.function("prefetch", "(lines int, p *float64)", "fetches the given number of cache lines from p on.")
	lines, p := pointer("lines"), pointer("p")
	countdown(lines, 1, "line", func() {
		PREFETCHT1(Mem{Base: p})
		ADDQ(U8(64), p)
	})
	RET()
}

// packT writes a function that copies a panel whose columns are contiguous in memory. It transposes blocks of
// lanes×lanes elements in registers.
func (v isa) packT() {
	v.function("packT", "(k int, src *float64, ld int, dst *float64, stride int)",
		fmt.Sprintf("copies k columns of %d rows: dst[l·stride+r] = src[r·ld+l].", v.lanes))
	k := pointer("k")
	rows, dst := v.rowsOf("src", "ld"), rowsOf("dst", "stride", 4)
	countdown(k, v.lanes, "block", func() {
		in := v.vectors(v.lanes)
		for i := range in {
			VMOVUPD(rows.at(i, 0), in[i])
		}
		for i, x := range v.transpose(in) {
			if i == 4 {
				LEAQ(Mem{Base: dst.base, Index: dst.ld, Scale: 4}, dst.base)
			}
			VMOVUPD(x, dst.at(i%4, 0))
		}
		LEAQ(Mem{Base: dst.base, Index: dst.ld, Scale: 4}, dst.base)
		rows.advance(v.bytes())
	})
	countdown(k, 1, "one", func() {
		for i := range v.lanes {
			x := XMM()
			VMOVSD(rows.at(i, 0), x)
			VMOVSD(x, Mem{Base: dst.base, Disp: 8 * i})
		}
		ADDQ(dst.ld, dst.base)
		rows.advance(8)
	})
	ret()
}

// transpose returns the columns of the matrix whose rows are in.
func (v isa) transpose(in []reg.VecVirtual) []reg.VecVirtual {
	pairs := func(f func(a, b Op, c Op), x []reg.VecVirtual, i, j int) reg.VecVirtual {
		r := v.vector()
		f(x[j], x[i], r)
		return r
	}
	low := func(a, b, c Op) { VUNPCKLPD(a, b, c) }
	high := func(a, b, c Op) { VUNPCKHPD(a, b, c) }
	// Interleave elements 0 and 1 of each pair of rows.
	t := make([]reg.VecVirtual, v.lanes)
	for i := 0; i < v.lanes; i += 2 {
		t[i], t[i+1] = pairs(low, in, i, i+1), pairs(high, in, i, i+1)
	}
	if v.lanes == 4 {
		halves := func(imm uint8) func(a, b, c Op) {
			return func(a, b, c Op) { VPERM2F128(U8(imm), a, b, c) }
		}
		lo, hi := halves(0x20), halves(0x31)
		return []reg.VecVirtual{pairs(lo, t, 0, 2), pairs(lo, t, 1, 3), pairs(hi, t, 0, 2), pairs(hi, t, 1, 3)}
	}
	quarters := func(imm uint8) func(a, b, c Op) {
		return func(a, b, c Op) { VSHUFF64X2(U8(imm), a, b, c) }
	}
	even, odd := quarters(0x88), quarters(0xdd)
	// u[0] holds columns j and j+4 of rows 0 to 3, and u[1] holds them of rows 4 to 7. u[2] and u[3] hold columns j+2
	// and j+6 in the same way.
	out := make([]reg.VecVirtual, 8)
	for j := range 2 {
		u := []reg.VecVirtual{
			pairs(even, t, j, 2+j),
			pairs(even, t, 4+j, 6+j),
			pairs(odd, t, j, 2+j),
			pairs(odd, t, 4+j, 6+j),
		}
		out[j], out[4+j] = pairs(even, u, 0, 1), pairs(odd, u, 0, 1)
		out[2+j], out[6+j] = pairs(even, u, 2, 3), pairs(odd, u, 2, 3)
	}
	return out
}
