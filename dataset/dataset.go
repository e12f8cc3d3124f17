// Package dataset reads rows of numbers. A [Source] yields the rows in blocks, and can usually be read repeatedly.
// Functions such as [Standardize] and [Rows] make a new Source from another. Subpackages read file formats. Package
// prepare turns tables with missing values and categories into rows of numbers.
package dataset

import (
	"context"
	"iter"

	"github.com/fdridge/fdridge/engine"
)

// A Block holds N consecutive rows of a source. Each row has d features and t targets, where d and t come from
// [Source].Dims. The features are either in X or in Sparse.
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

// A Source is a sequence of rows that can be read in several passes. Every pass yields the same rows. If a file has
// changed since the first pass began, a pass ends with a *[ChangedError]. A source that reads a [Pipe] allows only
// one pass; see [Once].
type Source interface {
	// Dims returns the number n of rows, the number d of features and the number t of targets. n is -1 while it is
	// unknown.
	Dims() (n int64, d, t int)

	// Blocks makes a pass: it yields all blocks of rows in order. The consumer may use a block only until the next
	// block is yielded, and must not write to it. All numbers are finite. An error is yielded with an empty block
	// and ends the pass.
	//
	// Leaving the loop, or cancelling ctx, stops the pass and its goroutine. After ctx is cancelled, the error is
	// ctx.Err(). Several passes may run at the same time.
	Blocks(ctx context.Context) iter.Seq2[Block, error]
}
