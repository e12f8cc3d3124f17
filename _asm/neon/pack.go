package main

import "fmt"

// pack writes a function that copies a panel whose rows are contiguous in memory.
func (p *program) pack() {
	p.function("pack", "k int, src *float64, ld int, dst *float64, stride int", "",
		fmt.Sprintf("copies %d columns of k rows: dst[l·stride+r] = src[l·ld+r].", unit))
	p.params(0, "k", "src", "ld", "dst", "stride")
	p.op("LSL", "$3, R2")
	p.op("LSL", "$3, R4")
	rows := func(n int) func() {
		return func() {
			for i := range n {
				p.op("VLD1.P", "(R1)(R2), [V%d.D2, V%d.D2]", 2*i, 2*i+1)
			}
			for i := range n {
				p.op("VST1.P", "[V%d.D2, V%d.D2], (R3)(R4)", 2*i, 2*i+1)
			}
		}
	}
	p.countdown(4, "four", rows(4))
	p.countdown(1, "one", rows(1))
	p.ret()
}

// packT writes a function that copies a panel whose columns are contiguous in memory. It transposes blocks of
// unit×unit elements in registers.
func (p *program) packT() {
	const src, dst, stride = 1, 6, 7
	p.function("packT", "k int, src *float64, ld int, dst *float64, stride int", "",
		fmt.Sprintf("copies k columns of %d rows: dst[l·stride+r] = src[r·ld+l].", unit))
	p.params(0, "k")
	rows := p.matrix(src, unit, "src", "ld")
	p.params(dst, "dst", "stride")
	p.op("LSL", "$3, R%d", stride)
	column := func(v int) {
		p.op("VST1.P", "[V%d.D2, V%d.D2], (R%d)(R%d)", v, v+1, dst, stride)
	}
	p.countdown(unit, "block", func() {
		for r := range unit {
			p.load(unit/lanes, 2*r, rows[r], 0)
		}
		// Row r is in vectors 2r and 2r+1. ZIP1 combines the first elements of two vectors, and ZIP2 the second
		// elements.
		const out = 8
		for l := range unit {
			for r := 0; r < unit; r += 2 {
				p.op(fmt.Sprint("VZIP", 1+l%lanes), "V%d.D2, V%d.D2, V%d.D2", 2*(r+1)+l/lanes, 2*r+l/lanes, out+2*l+r/2)
			}
		}
		for l := range unit {
			column(out + 2*l)
		}
		p.advance(unit, rows...)
	})
	p.countdown(1, "one", func() {
		for r := range unit {
			p.op("VLD1.P", "8(R%d), V%d.D[%d]", rows[r], r/lanes, r%lanes)
		}
		column(0)
	})
	p.ret()
}
