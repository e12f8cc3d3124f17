package vec

import (
	"reflect"

	"gonum.org/v1/gonum/mat"
)

// IsNilMatrix reports whether x is nil or holds a nil pointer.
func IsNilMatrix(x mat.Matrix) bool {
	if x == nil {
		return true
	}
	v := reflect.ValueOf(x)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// OfMatrix returns the elements of x row by row. If the rows of x are contiguous in memory, the result shares this
// memory. Otherwise it is a copy.
func OfMatrix(x mat.Matrix) []float64 {
	r, c := x.Dims()
	if raw, ok := x.(mat.RawMatrixer); ok {
		g := raw.RawMatrix()
		if g.Stride == c || r == 1 {
			return g.Data[:r*c]
		}
		out := make([]float64, r*c)
		for i := range r {
			copy(out[i*c:], g.Data[i*g.Stride:i*g.Stride+c])
		}
		return out
	}
	out := make([]float64, r*c)
	for i := range r {
		for j := range c {
			out[i*c+j] = x.At(i, j)
		}
	}
	return out
}
