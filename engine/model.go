package engine

import "fmt"

// The block sizes of packed products follow T. Low, F. Igual, T. Smith and E. Quintana-Ortí, "Analytical Modeling Is
// Enough for High-Performance BLIS" (ACM TOMS 43, 2016). Cache level i has Wᵢ ways and Nᵢ sets; each way of a set
// is a line. A line has a size in bytes, and a number 8 bytes. Products pack a block of A (mc×kc) in micro-panels of
// MR rows, and a block of B (kc×nc) in micro-panels of NR columns. Half of the ways of a cache hold data that are
// used again, the other half data that are used once:
//
//	L2: the block of A, mc×kc:        mc = ⌊W₂/2⌋·N₂·line/(8·kc)
//	L3: the panel of B, kc×nc:        nc = ⌊W₃/2⌋·N₃·line/(8·kc)
//
// Between two uses of a line in the micro-panel of B (kc×NR), a tile reads the rest of this panel and a micro-panel of
// A (kc×MR). So the L1 keeps the micro-panel of B if both fit:
//
//	L1: both micro-panels:            kc = size/(8·(MR+NR))
//
// AVX-512 is different. Its micro-panels of B are twice as wide, and its processors read 64 bytes a cycle from the L2,
// where others read 32. B comes from the L2, and the L1 keeps the micro-panel of A. BenchmarkBlocks in package bench
// shows that this larger kc is 7 % faster:
//
//	L1, AVX-512: the micro-panel of A:  kc = ⌊W₁/2⌋·N₁·line/(8·MR)
//
// kc is rounded down to a multiple of 8 from 64 to 384. mc and nc are rounded to whole tiles, and are at most 1024
// and 8192. So the packed A takes at most 3 MiB and the packed B at most 24 MiB. docs/kernels.md has the measurements.

// The constants that begin with fallback are the assumed sizes of caches whose size is unknown. largestL3 limits
// the size that one core may use, because a virtual machine may report an L3 of hundreds of MiB that it shares with
// others.
const (
	fallbackL1 = 32 << 10
	fallbackL2 = 512 << 10
	fallbackL3 = 4 << 20
	largestL3  = 32 << 20
	word       = 8 // bytes of a float64
)

// setBlocks computes MC, KC and NC.
func (t *Tuning) setBlocks() {
	l1 := completeCache(t.L1, fallbackL1, 8)
	l2 := completeCache(t.L2, fallbackL2, 8)
	l3 := completeCache(t.L3, fallbackL3, 16)

	kc := l1.Size / (word * (t.MR + t.NR))
	if t.ISA == "avx512" {
		kc = halfBytes(l1) / (word * t.MR)
	}
	t.KC = Setting{clampTo(kc, 64, 384, 8), "BLIS model, L1 " + l1.Origin}
	rows := halfBytes(l2) / (word * t.KC.Value)
	t.MC = Setting{clampTo(rows, t.MR, 1024, t.MR), "BLIS model, L2 " + l2.Origin}

	if l3.Size > largestL3 {
		l3.Size = largestL3
		l3.Origin += fmt.Sprintf(", %d KiB of it", largestL3>>10)
	}
	columns := halfBytes(l3) / (word * t.KC.Value)
	t.NC = Setting{clampTo(columns, t.NR, 8192, t.NR), "BLIS model, L3 " + l3.Origin}
}

// halfBytes returns the size in bytes of half the ways of a cache, or of one way if there is only one.
func halfBytes(c Cache) int {
	return max(1, c.Ways/2) * (c.Size / c.Ways)
}

// completeCache returns c with the given value for an unknown size or associativity. It notes each change in
// Origin.
func completeCache(c Cache, size, ways int) Cache {
	switch {
	case c.Size < 4<<10:
		c.Size, c.Ways = size, ways
		c.Origin += fmt.Sprintf(", %d KiB assumed", size>>10)
	case c.Ways < 2 || c.Ways > 64:
		c.Ways = ways
		c.Origin += fmt.Sprintf(", %d ways assumed", ways)
	}
	return c
}

// clampTo limits n to the range from lo to hi and rounds it down to a multiple of unit. It returns at least unit.
func clampTo(n, lo, hi, unit int) int {
	n = min(max(n, lo), hi)
	return max(n/unit, 1) * unit
}
