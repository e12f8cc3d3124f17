package npy

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/internal/wire"
)

// A kind describes a number type, such as float64, which NumPy calls "<f8".
type kind struct {
	size int // bytes of an entry
	// decode converts the bytes raw to numbers in dst, and may overwrite raw. An integer that float64 cannot
	// represent becomes +∞. It does not become NaN, because NaN would mean a missing value.
	decode   func(dst []float64, raw []byte)
	integers bool
	asIs     bool // the entries are little-endian float64, which need no conversion
}

// kinds has the number types by NumPy's names. Each has its own conversion loop, because one function call for each
// number would triple the time.
var kinds = map[string]kind{
	"f8": {8, wire.Floats, false, true},
	"f2": {2, float16s, false, false},
	"f4": {4, float32s, false, false},
	"i8": {8, int64s, true, false},
	"u8": {8, uint64s, true, false},
	"i4": {4, int32s, true, false},
	"u4": {4, uint32s, true, false},
	"i2": {2, int16s, true, false},
	"u2": {2, uint16s, true, false},
	"i1": {1, int8s, true, false},
	"u1": {1, uint8s, true, false},
	"b1": {1, uint8s, true, false},
}

// kindOf returns the kind that NumPy describes by descr.
func kindOf(descr string) (k kind, ok bool) {
	big := false
	if len(descr) == 3 {
		switch descr[0] {
		case '<', '|':
		case '>':
			big = true
		default:
			return kind{}, false
		}
		descr = descr[1:]
	}
	k, ok = kinds[descr]
	if ok && big {
		k.decode = swapped(k)
		k.asIs = false
	}
	return k, ok
}

// swapped returns the decode function for entries of kind k whose bytes are in big-endian order.
func swapped(k kind) func(dst []float64, raw []byte) {
	return func(dst []float64, raw []byte) {
		swap(raw[:len(dst)*k.size], k.size)
		k.decode(dst, raw)
	}
}

func swap(raw []byte, size int) {
	le := binary.LittleEndian
	for i := 0; i < len(raw); i += size {
		switch b := raw[i : i+size]; size {
		case 2:
			le.PutUint16(b, bits.ReverseBytes16(le.Uint16(b)))
		case 4:
			le.PutUint32(b, bits.ReverseBytes32(le.Uint32(b)))
		case 8:
			le.PutUint64(b, bits.ReverseBytes64(le.Uint64(b)))
		}
	}
}

func float16s(dst []float64, raw []byte) {
	for i := range dst {
		dst[i] = cell.Half(binary.LittleEndian.Uint16(raw[2*i : 2*i+2]))
	}
}

func float32s(dst []float64, raw []byte) {
	for i := range dst {
		dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i : 4*i+4])))
	}
}

func int64s(dst []float64, raw []byte) {
	for i := range dst {
		dst[i] = signed(int64(binary.LittleEndian.Uint64(raw[8*i : 8*i+8])))
	}
}

func uint64s(dst []float64, raw []byte) {
	for i := range dst {
		dst[i] = unsigned(binary.LittleEndian.Uint64(raw[8*i : 8*i+8]))
	}
}

func int32s(dst []float64, raw []byte) {
	for i := range dst {
		dst[i] = float64(int32(binary.LittleEndian.Uint32(raw[4*i : 4*i+4])))
	}
}

func uint32s(dst []float64, raw []byte) {
	for i := range dst {
		dst[i] = float64(binary.LittleEndian.Uint32(raw[4*i : 4*i+4]))
	}
}

func int16s(dst []float64, raw []byte) {
	for i := range dst {
		dst[i] = float64(int16(binary.LittleEndian.Uint16(raw[2*i : 2*i+2])))
	}
}

func uint16s(dst []float64, raw []byte) {
	for i := range dst {
		dst[i] = float64(binary.LittleEndian.Uint16(raw[2*i : 2*i+2]))
	}
}

func int8s(dst []float64, raw []byte) {
	for i := range dst {
		dst[i] = float64(int8(raw[i]))
	}
}

func uint8s(dst []float64, raw []byte) {
	for i := range dst {
		dst[i] = float64(raw[i])
	}
}

// maxExact is 2⁵³. float64 represents every integer from −2⁵³ to 2⁵³ exactly.
const maxExact = 1 << 53

func signed(v int64) float64 {
	if v < -maxExact || v > maxExact {
		return math.Inf(1)
	}
	return float64(v)
}

func unsigned(v uint64) float64 {
	if v > maxExact {
		return math.Inf(1)
	}
	return float64(v)
}
