package arrow

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/dataset/internal/columns"
)

// valuesOf returns the items of all lists, one after the other, if a is a column of lists. Otherwise it returns a.
func valuesOf(a *array) *array {
	if a.of.item() != a.of {
		return a.items
	}
	return a
}

// view returns the first n numbers of type T in b, without a copy. The bytes b must be aligned to 8 bytes.
func view[T any](b []byte, n int) []T {
	if n == 0 {
		return nil
	}
	var zero T
	b = b[:n*int(unsafe.Sizeof(zero))]
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
}

// float64s returns the values of a without a copy.
func float64s(a *array) []float64 {
	return view[float64](a.data, a.n)
}

// firstNull returns the index of the first null among the n values from index at on, or −1 if there is none.
func firstNull(a *array, at, n int) int {
	if a.valid == nil {
		return -1
	}
	for i := at; i < at+n; i++ {
		if a.isNull(i) {
			return i
		}
	}
	return -1
}

// fill sets dst to the values of a from index at on, converted to float64. An integer that float64 cannot represent
// becomes +∞. It does not become NaN, because NaN means a missing value.
func fill(dst []float64, a *array, at int) {
	if a.of.id == typeDecimal {
		fillDecimals(dst, a, at)
		return
	}
	signed := 0
	if a.of.signed {
		signed = 1
	}
	switch [3]int{int(a.of.id), a.of.bits, signed} {
	case [3]int{typeFloat, 64}:
		copy(dst, float64s(a)[at:])
	case [3]int{typeFloat, 32}:
		convert[float32](dst, a, at)
	case [3]int{typeFloat, 16}:
		for i, v := range view[uint16](a.data, a.n)[at:][:len(dst)] {
			dst[i] = cell.Half(v)
		}
	case [3]int{typeBool, 1}:
		for i := range dst {
			dst[i] = float64(a.data[(at+i)>>3] >> ((at + i) & 7) & 1)
		}
	case [3]int{typeInt, 8, 1}:
		convert[int8](dst, a, at)
	case [3]int{typeInt, 16, 1}:
		convert[int16](dst, a, at)
	case [3]int{typeInt, 32, 1}:
		convert[int32](dst, a, at)
	case [3]int{typeInt, 8, 0}:
		convert[uint8](dst, a, at)
	case [3]int{typeInt, 16, 0}:
		convert[uint16](dst, a, at)
	case [3]int{typeInt, 32, 0}:
		convert[uint32](dst, a, at)
	case [3]int{typeInt, 64, 1}:
		for i, v := range view[int64](a.data, a.n)[at:][:len(dst)] {
			dst[i] = float64(v)
			if v < -maxExact || v > maxExact {
				dst[i] = math.Inf(1)
			}
		}
	case [3]int{typeInt, 64, 0}:
		for i, v := range view[uint64](a.data, a.n)[at:][:len(dst)] {
			dst[i] = float64(v)
			if v > maxExact {
				dst[i] = math.Inf(1)
			}
		}
	default:
		panic("arrow: the type of an array differs from its schema")
	}
}

// fillDecimals is fill for decimals. A null may have any bytes, so that its number in dst has no meaning.
func fillDecimals(dst []float64, a *array, at int) {
	size := a.of.bits / 8
	d := cell.NewDecimal(a.of.scale)
	var little [cell.MaxDecimalBytes]byte
	for i := range dst {
		b := a.data[(at+i)*size:][:size]
		if bigEndian { // the decoder has reversed the bytes
			for k, v := range b {
				little[size-1-k] = v
			}
			b = little[:size]
		}
		dst[i] = d.Little(b)
	}
}

func (a *array) integer(t *dataType, i int) int64 {
	switch b := a.data[i*t.bits/8:]; t.bits {
	case 8:
		if !t.signed {
			return int64(b[0])
		}
		return int64(int8(b[0]))
	case 16:
		if v := binary.NativeEndian.Uint16(b); !t.signed {
			return int64(v)
		} else {
			return int64(int16(v))
		}
	case 32:
		if v := binary.NativeEndian.Uint32(b); t.id == typeInt && !t.signed {
			return int64(v)
		} else {
			return int64(int32(v))
		}
	default:
		return int64(binary.NativeEndian.Uint64(b))
	}
}

// text returns the text with index i in the column. If the column has a dictionary, the text comes from the
// dictionary.
func (a *array) text(i int) []byte {
	if a.of.index != nil {
		k := a.integer(a.of.index, i)
		for _, part := range a.dict.parts {
			if k < int64(part.n) {
				return part.text(int(k))
			}
			k -= int64(part.n)
		}
		panic("arrow: an index lies outside its dictionary")
	}
	if a.of.id == typeTextView {
		v := a.data[16*i:][:16]
		size := binary.LittleEndian.Uint32(v)
		if size <= 12 {
			return v[4 : 4+size]
		}
		// A text of more than 12 bytes is stored elsewhere. Its view holds its size, its first four bytes, the
		// number of a buffer, and its position in this buffer.
		at := binary.LittleEndian.Uint32(v[12:])
		return a.texts[binary.LittleEndian.Uint32(v[8:])][at : uint64(at)+uint64(size)]
	}
	if a.of.bits == 32 {
		offsets := view[int32](a.data, a.n+1)
		return a.texts[0][offsets[i]:offsets[i+1]]
	}
	offsets := view[int64](a.data, a.n+1)
	return a.texts[0][offsets[i]:offsets[i+1]]
}

// maxExact is 2⁵³. A float64 can represent every integer from −2⁵³ to 2⁵³.
const maxExact = 1 << 53

func convert[T float32 | int8 | int16 | int32 | uint8 | uint16 | uint32](
	dst []float64,
	a *array,
	at int,
) {
	for i, v := range view[T](a.data, a.n)[at:][:len(dst)] {
		dst[i] = float64(v)
	}
}

// transpose copies n numbers of each column in from to n rows. The numbers of row i begin at to[i*stride].
func transpose(to []float64, stride int, from *[columns.Tile][]float64, n int) {
	c0 := from[0][:n]
	c1 := from[1][:n]
	c2 := from[2][:n]
	c3 := from[3][:n]
	c4 := from[4][:n]
	c5 := from[5][:n]
	c6 := from[6][:n]
	c7 := from[7][:n]
	for i := range n {
		r := (*[columns.Tile]float64)(to[i*stride:])
		r[0], r[1], r[2], r[3] = c0[i], c1[i], c2[i], c3[i]
		r[4], r[5], r[6], r[7] = c4[i], c5[i], c6[i], c7[i]
	}
}
