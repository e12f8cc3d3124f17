package arrow

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/fdridge/fdridge/dataset/internal/columns"
)

// valuesOf are those of lists, one after the other, or the array itself.
func valuesOf(a arrow.Array) arrow.Array {
	if lists, ok := a.(*array.FixedSizeList); ok {
		return lists.ListValues()
	}
	return a
}

// float64s are the values of an array of float64: its memory.
func float64s(a arrow.Array) []float64 { return a.(*array.Float64).Float64Values() }

// firstNull is the first of n values, from one on, that is missing; -1 for none.
func firstNull(a arrow.Array, at, n int) int {
	if a.NullN() == 0 {
		return -1
	}
	for i := at; i < at+n; i++ {
		if a.IsNull(i) {
			return i
		}
	}
	return -1
}

// fill writes values from one on to dst, integers that float64 does not hold as +∞: NaN would be a
// missing value.
func fill(dst []float64, a arrow.Array, at int) {
	n := at + len(dst)
	switch a := a.(type) {
	case *array.Float64:
		copy(dst, a.Float64Values()[at:n])
	case *array.Float32:
		convert(dst, a.Float32Values()[at:n])
	case *array.Float16:
		for i, v := range a.Values()[at:n] {
			dst[i] = float64(v.Float32())
		}
	case *array.Int8:
		convert(dst, a.Int8Values()[at:n])
	case *array.Int16:
		convert(dst, a.Int16Values()[at:n])
	case *array.Int32:
		convert(dst, a.Int32Values()[at:n])
	case *array.Uint8:
		convert(dst, a.Uint8Values()[at:n])
	case *array.Uint16:
		convert(dst, a.Uint16Values()[at:n])
	case *array.Uint32:
		convert(dst, a.Uint32Values()[at:n])
	case *array.Int64:
		for i, v := range a.Int64Values()[at:n] {
			if dst[i] = float64(v); v < -maxExact || v > maxExact {
				dst[i] = math.Inf(1)
			}
		}
	case *array.Uint64:
		for i, v := range a.Uint64Values()[at:n] {
			if dst[i] = float64(v); v > maxExact {
				dst[i] = math.Inf(1)
			}
		}
	case *array.Boolean:
		for i := range dst {
			if dst[i] = 0; a.Value(at + i) {
				dst[i] = 1
			}
		}
	default:
		panic("arrow: an array of another type than its schema has")
	}
}

// maxExact is 2⁵³: all whole numbers up to it are float64.
const maxExact = 1 << 53

func convert[T float32 | int8 | int16 | int32 | uint8 | uint16 | uint32](dst []float64, from []T) {
	for i, v := range from {
		dst[i] = float64(v)
	}
}

// turn writes columns of n values to rows that are stride apart.
func turn(to []float64, stride int, from *[columns.Tile][]float64, n int) {
	c0, c1, c2, c3 := from[0][:n], from[1][:n], from[2][:n], from[3][:n]
	c4, c5, c6, c7 := from[4][:n], from[5][:n], from[6][:n], from[7][:n]
	for i := range n {
		r := (*[columns.Tile]float64)(to[i*stride:])
		r[0], r[1], r[2], r[3] = c0[i], c1[i], c2[i], c3[i]
		r[4], r[5], r[6], r[7] = c4[i], c5[i], c6[i], c7[i]
	}
}
