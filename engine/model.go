package engine

import "fmt"

// The block sizes of a packed product follow the analytical model of T. Low,
// F. Igual, T. Smith and E. Quintana-Ortí, "Analytical Modeling Is Enough for
// High-Performance BLIS" (ACM TOMS 43, 2016). A cache of W ways and sets of one
// line each is shared out by ways:
//
//	L1: C_Ar = ⌊(W₁−1)/(1 + NR/MR)⌋ ways for the micro-panel of A, MR×kc;
//	    one way for C, the rest for the micro-panel of B, kc×NR:
//	    kc = C_Ar·N₁·line/(8·MR)
//	L2: C_B = ⌈NR·kc·8/(N₂·line)⌉ ways for the panel of B, one for C, the rest
//	    for the block of A, mc×kc: mc = (W₂−1−C_B)·N₂·line/(8·kc)
//	L3: the same for B, kc×nc, beside the block of A:
//	    C_A = ⌈mc·kc·8/(N₃·line)⌉, nc = (W₃−1−C_A)·N₃·line/(8·kc)
//
// kc is rounded down to a multiple of 8 within 64 to 512, mc and nc to whole tiles
// up to 1024 and 8192: however large the caches, the packed A takes at most 4 MiB
// and the packed B at most 32 MiB.

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

	ways := max(1, (l1.Ways-1)*t.MR/(t.MR+t.NR))
	kc := ways * (l1.Size / l1.Ways) / (word * t.MR)
	t.KC = Setting{clampTo(kc, 64, 512, 8), "BLIS model, L1 " + l1.Origin}

	panelB := ceilDiv(t.NR*t.KC.Value*word, l2.Size/l2.Ways)
	mc := max(1, l2.Ways-1-panelB) * (l2.Size / l2.Ways) / (word * t.KC.Value)
	t.MC = Setting{clampTo(mc, t.MR, 1024, t.MR), "BLIS model, L2 " + l2.Origin}

	if l3.Size > largestL3 {
		l3.Size = largestL3
		l3.Origin += fmt.Sprintf(", %d KiB of it", largestL3>>10)
	}
	blockA := ceilDiv(t.MC.Value*t.KC.Value*word, l3.Size/l3.Ways)
	nc := max(1, l3.Ways-1-blockA) * (l3.Size / l3.Ways) / (word * t.KC.Value)
	t.NC = Setting{clampTo(nc, t.NR, 8192, t.NR), "BLIS model, L3 " + l3.Origin}
}

// shaped completes a cache with an assumed size and associativity, and says so
// behind its origin.
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

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// clampTo bounds n and rounds it down to a multiple of unit, at least one.
func clampTo(n, lo, hi, unit int) int {
	n = min(max(n, lo), hi)
	return max(n/unit, 1) * unit
}
