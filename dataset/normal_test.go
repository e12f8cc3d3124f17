package dataset

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"
)

// TestNormalHasBitsOfMathRand: the layers of the ziggurat have the same bits on every machine. 2·10⁶ drawn numbers
// have the bits of math/rand/v2, including numbers at the edges of layers. In the tail they may differ by 2⁻⁵⁰,
// because math/rand/v2 may fuse a product and a sum there.
func TestNormalHasBitsOfMathRand(t *testing.T) {
	h := fnv.New64a()
	fmt.Fprintf(h, "%x %x %x", ziggurat.inside, bits32(ziggurat.width), bits32(ziggurat.height))
	if got := h.Sum64(); got != 0xc4d0a9ccaf3ba2d {
		t.Errorf("the layers are others: %#x", got)
	}
	ours, theirs := rand.New(rand.NewPCG(3, 4)), rand.New(rand.NewPCG(3, 4))
	far := 0
	for i := range 2_000_000 {
		got, want := ziggurat.normal(ours), theirs.NormFloat64()
		inTail := math.Abs(got) > tailBegins
		if math.Float64bits(got) != math.Float64bits(want) && !(inTail && math.Abs(got-want) <= 0x1p-50) {
			t.Fatalf("number %d is %v, want %v", i+1, got, want)
		}
		if inTail {
			far++
		}
	}
	if far < 1000 || far > 1300 { // 1152 are expected
		t.Errorf("%d of 2·10⁶ are in the tail", far)
	}
}

func bits32(x [128]float32) (out [128]uint32) {
	for i, v := range x {
		out[i] = math.Float32bits(v)
	}
	return out
}
