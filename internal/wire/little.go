package wire

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// Floats decodes the bytes b into the numbers dst. b must have 8 bytes for each number. Floats decodes four numbers
// at a time, which is three times as fast as one at a time.
func Floats(dst []float64, b []byte) {
	for len(dst) >= 4 && len(b) >= 32 {
		x, y := dst[:4:4], b[:32:32]
		x[0], x[1], x[2], x[3] = float(y), float(y[8:]), float(y[16:]), float(y[24:])
		dst, b = dst[4:], b[32:]
	}
	for i := range dst {
		dst[i] = float(b[8*i:])
	}
}

// PutFloats encodes the numbers x as bytes and writes them to b. b must have 8 bytes for each number.
func PutFloats(b []byte, x []float64) {
	for i, v := range x {
		binary.LittleEndian.PutUint64(b[8*i:], math.Float64bits(v))
	}
}

// Bytes returns the memory of x as bytes, so that numbers can be read from a file into x without decoding. On a
// big-endian machine, which needs decoding, Bytes returns nil.
func Bytes(x []float64) []byte {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 8*len(x))
}
