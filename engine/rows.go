package engine

import (
	"sync"

	"github.com/fdridge/fdridge/engine/purego"
)

// rowLoops are those of the kernel in use. Where the environment asks for what there isn't,
// which [Default] reports, it is the one in Go.
var rowLoops = sync.OnceValue(func() purego.RowLoops {
	t, err := DefaultTuning()
	if err != nil {
		return purego.RowLoopsOf("generic")
	}
	return purego.RowLoopsOf(t.ISA)
})

// Centre overwrites z with (x − origin) − mean, element by element: two roundings. The
// vectors have length len(z) or more, and z may be one of the others. The bits are the same
// for every kernel.
func Centre(x, origin, mean, z []float64) { rowLoops().Centre(x, origin, mean, z) }

// Spread adds, for each row of X (n×d) in turn,
//
//	sum = sum + (x − origin),   squares = squares + (x − origin)²
//
// element by element, each difference, square and sum rounded once. The vectors have length d or
// more. The bits are the same for every kernel, and however the rows are divided into calls.
func Spread(x Matrix, origin, sum, squares []float64) { rowLoops().Spread(x, origin, sum, squares) }

// SquaredNorms returns the squared norms of the rows of X (n×d, n ≤ 4), each made of four sums: it
// is off by no more than d/4 + 6 roundings of itself, and not finite where an element isn't. The
// bits are the same for every kernel, and those that gonum's floats.Dot has on amd64.
func SquaredNorms(x Matrix) [4]float64 { return rowLoops().SquaredNorms(x) }

// BlockSquares sets sums to those of the squares of x, [BlockOfSquares] elements each and fewer in
// the last. A sum is made of four: it is off by no more than 70 roundings of itself. sums is as
// long as there are blocks, or longer. The bits are the same for every kernel.
func BlockSquares(x, sums []float64) { rowLoops().BlockSquares(x, sums) }

// BlockOfSquares is how many squares [BlockSquares] sums.
const BlockOfSquares = purego.BlockOfSquares
