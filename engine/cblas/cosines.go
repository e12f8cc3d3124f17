//go:build openblas && cgo

package cblas

import "github.com/fdridge/fdridge/engine/internal/matrix"

// Cosines calls package purego, because BLAS has no cosines.
func (b *Backend) Cosines(m *matrix.CosineMap, x, z matrix.Matrix) (finite bool) {
	return b.fallback.Cosines(m, x, z)
}

// SparseCosines calls package purego.
func (b *Backend) SparseCosines(
	m *matrix.CosineMap,
	rowPtr []int,
	colIdx []int32,
	val []float64,
	z matrix.Matrix,
) (finite bool) {
	return b.fallback.SparseCosines(m, rowPtr, colIdx, val, z)
}
