//go:build openblas && cgo

package cblas

import "github.com/fdridge/fdridge/engine/internal/matrix"

// Cosines is that of package purego: BLAS has no cosines.
func (b *Backend) Cosines(m *matrix.CosineMap, x, z matrix.Matrix) (finite bool) {
	return b.own.Cosines(m, x, z)
}

// SparseCosines is that of package purego.
func (b *Backend) SparseCosines(m *matrix.CosineMap, rowPtr []int, colIdx []int32, val []float64, z matrix.Matrix) (finite bool) {
	return b.own.SparseCosines(m, rowPtr, colIdx, val, z)
}
