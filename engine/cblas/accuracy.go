//go:build openblas && cgo

package cblas

import "github.com/fdridge/fdridge/engine/internal/matrix"

// Accuracy returns the bounds for the OpenBLAS kernels in use. No known kernel adds more than 512 terms of a matrix
// product in one register: the block of the inner dimension (GEMM_Q) is 128 to 512. Gradient adds blocks of 8 to 64
// rows to G:
//
//   - With AVX-512, the sum over a block is added to G at once. For 512 rows, in 64 blocks of 8 or in 8 blocks of 64,
//     at most 73 additions are made in sequence. Products with vectors use at least four sums in parallel.
//   - With AVX2, dgemv adds four rows at a time to G, and the remaining rows one by one. The worst case is blocks of
//     11 rows with 5 additions each: 235 for 512 rows, and 4 within a sum of four rows.
//   - For other kernels, no order of addition is assumed.
func (b *Backend) Accuracy() matrix.Accuracy {
	switch width[b.core.used] {
	case 512:
		return matrix.Accuracy{Strip: 512, Sums: 4, Gradient: 73}
	case 256:
		return matrix.Accuracy{Strip: 512, Sums: 4, Gradient: 256}
	}
	return matrix.Accuracy{Strip: 512, Sums: 1, Gradient: matrix.MaxRows}
}
