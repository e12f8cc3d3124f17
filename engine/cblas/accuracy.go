//go:build openblas && cgo

package cblas

import "github.com/fdridge/fdridge/engine/internal/accuracy"

// Accuracy returns the bounds for the kernels of OpenBLAS in use. No known kernel adds more than 512 terms of
// a matrix product in one register (GEMM_Q, the block in k, is 128 to 512). Gradient uses blocks of 8 to 64
// rows.
//
//   - With AVX-512 the sum of a block is added to G at once. A chain is the sums of 64 blocks of 8 rows, or of
//     8 blocks of 64 rows, and then of the parts. Products with vectors use at least four sums in parallel.
//   - With AVX2 dgemv adds four rows at a time to G, and the remaining rows one by one. The worst
//     case is 5 sums for 11 rows: 235 for 512 rows, and 4 within a sum.
//   - For other kernels no order is assumed.
func (b *Backend) Accuracy() accuracy.Accuracy {
	switch width[b.core.used] {
	case 512:
		return accuracy.Accuracy{Strip: 512, Sums: 4, Gradient: 73}
	case 256:
		return accuracy.Accuracy{Strip: 512, Sums: 4, Gradient: 256}
	}
	return accuracy.Accuracy{Strip: 512, Sums: 1, Gradient: accuracy.MaxRows}
}
