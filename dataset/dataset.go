// Package dataset reads rows of numbers. A [Source] yields the rows in blocks, and can usually be read repeatedly.
// Functions such as [Standardize] and [Rows] make a new Source from another. Subpackages read file formats. Package
// prepare turns tables with missing values and categories into rows of numbers.
package dataset

import (
	"context"
	"iter"

	"github.com/fdridge/fdridge/engine"
)

// A Block holds N consecutive rows of a source, with d features and t targets each. The features are either in X or
// in Sparse.
type Block struct {
	First  int64       // 0-based index of the block's first row in its source
	N      int         // number of rows
	X      []float64   // dense features, row-major N×d, nil when sparse
	Sparse *engine.CSR // sparse features, nil when dense
	Y      []float64   // targets, row-major N×t
	W      []float64   // sample weights, all >= 0; nil: every weight is 1
}

// Weight returns the sample weight of row i, which is 1 if W is nil.
func (b Block) Weight(i int) float64 {
	if b.W == nil {
		return 1
	}
	return b.W[i]
}

// A Source is a sequence of rows. Every pass yields the same rows. If a file has changed since the first pass began,
// the pass ends with a *[ChangedError]. A source that reads a [Pipe] allows only one pass; see [Once].
type Source interface {
	// Dims returns the numbers of rows n, features d and targets t. n is -1 while it is unknown.
	Dims() (n int64, d, t int)

	// Blocks makes a pass: it yields all blocks in order. The consumer must not write to a block, and may use a block
	// only until the next block is yielded. All entries are finite. An error comes with an empty block and ends the
	// pass. Leaving the loop or cancelling ctx stops the pass and its goroutine; after cancelling, the error is
	// ctx.Err(). Several passes may run at the same time.
	Blocks(ctx context.Context) iter.Seq2[Block, error]
}
