package wire

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
)

// TestFloats: there and back, to the bit, of any number of them.
func TestFloats(t *testing.T) {
	all := []float64{
		0,
		math.Copysign(0, -1),
		1,
		-2.5,
		math.Pi,
		math.Inf(1),
		math.SmallestNonzeroFloat64,
		math.MaxFloat64,
		-1e-300,
		7,
		8,
	}
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

// TestBytes: Bytes returns the memory of the numbers, in the byte order of this package. Numbers that are written there
// are numbers of the slice. The test is skipped if the machine has another byte order.
func TestBytes(t *testing.T) {
	x := []float64{1, -2.5, math.Inf(1)}
	b := Bytes(x)
	if b == nil {
		t.Skip("the machine has another order of bytes")
	}
	want := make([]byte, 8*len(x))
	PutFloats(want, x)
	if !bytes.Equal(b, want) {
		t.Errorf("% x, want % x", b, want)
	}
	PutFloats(b, []float64{7, math.Pi, -0.5})
	if x[0] != 7 || x[1] != math.Pi || x[2] != -0.5 {
		t.Errorf("%v", x)
	}
	if len(Bytes(nil)) != 0 {
		t.Error("bytes of nothing")
	}
}
