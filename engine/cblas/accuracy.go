//go:build openblas && cgo

package cblas

import "github.com/fdridge/fdridge/engine/internal/accuracy"

// Accuracy is that of OpenBLAS's core in use. None of those it is known for adds up more
// than 512 terms of a product of matrices in one register (GEMM_Q, the block in k, is 128
// to 512), and a Gradient takes blocks of 8 to 64 rows.
//
//   - With AVX-512 the sum of a block is added to G as one: of 64 blocks of 8 rows, or 8
//     of 64, and that of the parts. Products with vectors have four sums or more side by
//     side.
//   - With AVX2 dgemv adds to G four rows at a time, and those behind the fours one by one:
//     5 sums for 11 rows at worst, 235 of 512 rows, and 4 within a sum.
//   - Of all others no order is assumed.
func (b *Backend) Accuracy() accuracy.Accuracy {
	switch width[b.core.used] {
	case 512:
		return accuracy.Accuracy{Strip: 512, Sums: 4, Gradient: 73}
	case 256:
		return accuracy.Accuracy{Strip: 512, Sums: 4, Gradient: 256}
	}
	return accuracy.Accuracy{Strip: 512, Sums: 1, Gradient: accuracy.MaxRows}
}
