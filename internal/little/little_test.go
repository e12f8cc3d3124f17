package little

import (
	"encoding/binary"
	"math"
	"testing"
)

// TestFloats: there and back, to the bit, of any number of them.
func TestFloats(t *testing.T) {
	all := []float64{0, math.Copysign(0, -1), 1, -2.5, math.Pi, math.Inf(1), math.SmallestNonzeroFloat64, math.MaxFloat64, -1e-300, 7, 8}
	for n := range len(all) + 1 {
		b, back := make([]byte, 8*n), make([]float64, n)
		PutFloats(b, all[:n])
		Floats(back, b)
		for i, v := range all[:n] {
			if is := math.Float64bits(v); binary.LittleEndian.Uint64(b[8*i:]) != is || math.Float64bits(back[i]) != is {
				t.Errorf("%d numbers: number %d is %v, bytes % x", n, i, back[i], b[8*i:8*i+8])
			}
		}
	}
}
