// Package dataset is where rows come from: a [Source] yields blocks of rows,
// pass after pass, reading ahead on its own goroutine. The file formats are
// packages of their own below this one; transforms that map one Source to
// another (standardisation, random Fourier features, row ranges) are here.
package dataset

import (
	"context"
	"iter"

	"github.com/fdridge/fdridge/engine"
)

// Block is a run of consecutive rows of a source: n samples with d features
// and t targets. Either X (dense) or Sparse holds the features.
type Block struct {
	First  int64       // 0-based index of the block's first row in its source
	N      int         // rows
	X      []float64   // dense features, row-major N×d, nil when sparse
	Sparse *engine.CSR // sparse features, nil when dense
	Y      []float64   // targets, row-major N×t
	W      []float64   // weights of the rows, all >= 0; nil: each counts once
}

// Weight returns the weight of row i, 1 where rows have none.
func (b Block) Weight(i int) float64 {
	if b.W == nil {
		return 1
	}
	return b.W[i]
}

// Source is a sequence of rows that can be read again and again from the start: every pass
// yields the same rows. Where a file was changed since the first pass began, the pass ends
// with a *[ChangedError]. Rows that come from a [Pipe] can be read once; [Once] tells.
type Source interface {
	// Dims returns the number of rows (-1 while unknown), of features and of
	// targets.
	Dims() (n int64, d, t int)

	// Blocks makes one pass. A block, and all it points to, belongs to the
	// source and is valid until the next one is asked for; the consumer must
	// not write to it. All entries are finite. The sequence ends after the first
	// error, which is yielded with an empty block. Leaving the loop early or
	// cancelling ctx stops the pass and its goroutine; the error is then ctx's.
	// Several passes may run at the same time.
	Blocks(ctx context.Context) iter.Seq2[Block, error]
}
