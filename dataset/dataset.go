// Package dataset reads rows of numbers. A [Source] yields the rows in blocks, any number of times, and reads ahead on
// its own goroutine. Functions such as [Standardize] and [Rows] make a new Source from another. The file formats are in
// subpackages. Package prepare turns tables with missing values and categories into rows of numbers.
package dataset

import (
	"context"
	"iter"

	"github.com/fdridge/fdridge/engine"
)

// A Block holds consecutive rows of a source: N samples with d features and t targets. The
// features are in X if they are dense, and otherwise in Sparse.
type Block struct {
	First  int64       // 0-based index of the block's first row in its source
	N      int         // number of rows
	X      []float64   // dense features, row-major N×d, nil when sparse
	Sparse *engine.CSR // sparse features, nil when dense
	Y      []float64   // targets, row-major N×t
	W      []float64   // sample weights, all >= 0; nil: every weight is 1
}

// Weight returns the sample weight of row i, 1 if W is nil.
func (b Block) Weight(i int) float64 {
	if b.W == nil {
		return 1
	}
	return b.W[i]
}

// A Source is a sequence of rows. Most sources can be read repeatedly, and every pass yields the
// same rows. The exception is a source that reads a [Pipe]; see [Once]. If a file has changed
// since the first pass began, the pass ends with a *[ChangedError].
type Source interface {
	// Dims returns the numbers of rows n, features d and targets t. If n is still unknown, it is
	// -1.
	Dims() (n int64, d, t int)

	// Blocks yields all blocks in order. The consumer must not write to a block, and may use it only until it asks for
	// the next one. All entries are finite. The sequence ends after the first error, which comes with an empty block.
	// Leaving the loop or cancelling ctx stops the pass and its goroutine. If ctx is cancelled, the error is ctx.Err().
	// Several passes may run at the same time.
	Blocks(ctx context.Context) iter.Seq2[Block, error]
}
