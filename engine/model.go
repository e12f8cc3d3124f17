package engine

import "fmt"

// The blocks of a packed product follow T. Low, F. Igual, T. Smith and E.
// Quintana-Ortí, "Analytical Modeling Is Enough for High-Performance BLIS" (ACM TOMS
// 43, 2016): a cache of W ways and N sets of one line each is shared out by ways.
// Each cache gives half of them to what is used again and leaves the rest to what
// streams through:
//
//	L1: the micro-panel of A, MR×kc:  kc = ⌊W₁/2⌋·N₁·line/(8·MR)
//	L2: the block of A, mc×kc:        mc = ⌊W₂/2⌋·N₂·line/(8·kc)
//	L3: the panel of B, kc×nc:        nc = ⌊W₃/2⌋·N₃·line/(8·kc)
//
// The paper keeps the micro-panel of B, kc×NR, in L1 as well. Our tiles are three
// times as wide as they are high, so that this would leave kc a third; that the L2
// feeds B fast enough and the deeper blocks win 7 % is measured by BenchmarkBlocks
// in package bench.
//
// kc is rounded down to a multiple of 8 within 64 to 384, mc and nc to whole tiles
// up to 1024 and 8192: however large the caches, the packed A takes at most 3 MiB
// and the packed B at most 24 MiB.

// What is assumed of caches that the machine doesn't describe, and how much of a
// larger one a core may count on: a virtual machine may report hundreds of MiB of
// L3 that it shares.
const (
	fallbackL1 = 32 << 10
	fallbackL2 = 512 << 10
	fallbackL3 = 4 << 20
	largestL2  = 4 << 20
	largestL3  = 32 << 20
	word       = 8 // bytes of a float64
)

// model sets MC, KC and NC.
func (t *Tuning) model() {
	l1 := shaped(t.L1, fallbackL1, 8)
	l2 := shaped(t.L2, fallbackL2, 8)
	l3 := shaped(t.L3, fallbackL3, 16)

	t.KC = Setting{clampTo(half(l1)/(word*t.MR), 64, 384, 8), "BLIS model, L1 " + l1.Origin}
	t.MC = Setting{clampTo(half(l2)/(word*t.KC.Value), t.MR, 1024, t.MR), "BLIS model, L2 " + l2.Origin}

	if l3.Size > largestL3 {
		l3.Size = largestL3
		l3.Origin += fmt.Sprintf(", %d KiB of it", largestL3>>10)
	}
	t.NC = Setting{clampTo(half(l3)/(word*t.KC.Value), t.NR, 8192, t.NR), "BLIS model, L3 " + l3.Origin}
}

// half is the bytes in half of the ways of a cache, at least in one.
func half(c Cache) int { return max(1, c.Ways/2) * (c.Size / c.Ways) }

// shaped completes a cache with an assumed size and associativity, and says so in its
// origin.
func shaped(c Cache, size, ways int) Cache {
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

// clampTo bounds n and rounds it down to a multiple of unit, at least one.
func clampTo(n, lo, hi, unit int) int {
	n = min(max(n, lo), hi)
	return max(n/unit, 1) * unit
}
