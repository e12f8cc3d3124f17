package npy

import (
	"encoding/binary"
	"math"
)

// A kind is a type of entries such as "<f8".
type kind struct {
	size int // bytes of an entry
	// decode turns the entries in raw into numbers, len(dst) of them. An integer
	// that is no float64 becomes NaN, which an integer cannot be otherwise.
	decode   func(dst []float64, raw []byte)
	integers bool
}

// kindOf returns the kind of a description in NumPy's form.
func kindOf(descr string) (k kind, ok bool) {
	var order binary.ByteOrder = binary.LittleEndian
	if len(descr) == 3 {
		switch descr[0] {
		case '<', '|':
		case '>':
			order = binary.BigEndian
		default:
			return kind{}, false
		}
		descr = descr[1:]
	}
	switch descr {
	case "f8":
		if order == binary.LittleEndian {
			return kind{size: 8, decode: float64s}, true
		}
		return kind{size: 8, decode: each(8, func(b []byte) float64 { return math.Float64frombits(order.Uint64(b)) })}, true
	case "f4":
		if order == binary.LittleEndian {
			return kind{size: 4, decode: float32s}, true
		}
		return kind{size: 4, decode: each(4, func(b []byte) float64 { return float64(math.Float32frombits(order.Uint32(b))) })}, true
	case "i8":
		return integers(8, func(b []byte) float64 { return signed(int64(order.Uint64(b))) }), true
	case "u8":
		return integers(8, func(b []byte) float64 { return unsigned(order.Uint64(b)) }), true
	case "i4":
		return integers(4, func(b []byte) float64 { return float64(int32(order.Uint32(b))) }), true
	case "u4":
		return integers(4, func(b []byte) float64 { return float64(order.Uint32(b)) }), true
	case "i2":
		return integers(2, func(b []byte) float64 { return float64(int16(order.Uint16(b))) }), true
	case "u2":
		return integers(2, func(b []byte) float64 { return float64(order.Uint16(b)) }), true
	case "i1":
		return integers(1, func(b []byte) float64 { return float64(int8(b[0])) }), true
	case "u1", "b1":
		return integers(1, func(b []byte) float64 { return float64(b[0]) }), true
	}
	return kind{}, false
}

func integers(size int, get func(b []byte) float64) kind {
	return kind{size: size, decode: each(size, get), integers: true}
}

// each decodes entry by entry.
func each(size int, get func(b []byte) float64) func(dst []float64, raw []byte) {
	return func(dst []float64, raw []byte) {
		for i := range dst {
			dst[i] = get(raw[i*size:])
		}
	}
}

func float64s(dst []float64, raw []byte) {
	for i := range dst {
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i : 8*i+8]))
	}
}

func float32s(dst []float64, raw []byte) {
	for i := range dst {
		dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i : 4*i+4])))
	}
}

// maxExact is 2⁵³: all whole numbers up to it are float64.
const maxExact = 1 << 53

func signed(v int64) float64 {
	if v < -maxExact || v > maxExact {
		return math.NaN()
	}
	return float64(v)
}

func unsigned(v uint64) float64 {
	if v > maxExact {
		return math.NaN()
	}
	return float64(v)
}
