package engine

import (
	"sync"

	"github.com/fdridge/fdridge/engine/purego"
)

// rowLoops returns the loops over rows of the kernel in use. If the environment is invalid, for example because it
// names an unknown kernel, it returns portable loops. [Default] then reports the error.
var rowLoops = sync.OnceValue(func() purego.RowLoops {
	t, err := DefaultTuning()
	if err != nil {
		return purego.RowLoopsOf("generic")
	}
	return purego.RowLoopsOf(t.ISA)
})

// Centre overwrites z with (x − origin) − mean, element by element. Each element is rounded twice. All vectors must
// have at least len(z) elements. z may be the same vector as another argument. The bits are the same for every
// kernel.
func Centre(x, origin, mean, z []float64) {
	rowLoops().Centre(x, origin, mean, z)
}

// Spread adds to sum and squares, for each row x of the n×d matrix X in turn,
//
//	sum = sum + (x − origin),   squares = squares + (x − origin)²
//
// element by element. Each difference, square and sum is rounded once. The vectors must have at least d elements.
// The bits are the same for every kernel, and for every division of the rows into calls.
func Spread(x Matrix, origin, sum, squares []float64) {
	rowLoops().Spread(x, origin, sum, squares)
}

// SquaredNorms returns the squared norms of the rows of x, which has at most 4 rows. Each norm is computed as four
// partial sums. For rows of d elements, its relative error is at most d/4 + 6 roundings of 2⁻⁵³ each. If an
// element is not finite, the norm is not finite. The bits are the same for every kernel. On amd64, gonum's
// floats.Dot gives the same bits.
func SquaredNorms(x Matrix) [4]float64 { return rowLoops().SquaredNorms(x) }

// BlockSquares divides x into blocks of [BlockOfSquares] elements. It writes the sum of the squares of each block
// to an element of sums. The last block may have fewer elements. Each sum is computed as four partial sums. Its
// relative error is at most 70 roundings of 2⁻⁵³ each. sums may be longer than necessary. The bits are the same
// for every kernel.
func BlockSquares(x, sums []float64) { rowLoops().BlockSquares(x, sums) }

// BlockOfSquares is the number of elements in a block whose squares [BlockSquares] adds.
const BlockOfSquares = purego.BlockOfSquares
