package wire

import (
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// TestJoin joins the sums of random texts, also of empty ones, and compares with the sum of the whole text.
func TestJoinSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		text := make([]byte, rng.IntN(1<<rng.IntN(14)))
		for i := range text {
			text[i] = byte(rng.Uint32())
		}
		at := rng.IntN(len(text) + 1)
		for _, poly := range []uint32{crc32.IEEE, crc32.Castagnoli} {
			sum := func(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(poly)) }
			if got, want := JoinSums(poly, sum(text[:at]), sum(text[at:]), len(text)-at), sum(text); got != want {
				t.Fatalf("%d and %d bytes: %08x, want %08x", at, len(text)-at, got, want)
			}
		}
	}
}
