package dataset

import (
	"context"
	"io"
	"iter"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/background"
)

// transformed is a source whose features are computed from those of another,
// block by block, on a goroutine of its own. Targets, of which there may be none,
// and weights pass through.
type transformed struct {
	src  Source
	name string // for errors and waits
	d    int    // features that come out
	rows int    // most rows of a block that comes out; 0: those of src
	// start begins a pass: apply appends the features of b's rows to out and reports whether
	// it knows them to be finite, or else the caller checks, and stop ends the pass.
	start func() (apply applier, stop func())
	// turned makes of the columns of src those that come out; nil where these are no such thing.
	turned func(features Source) Source
}

// An applier is what a pass of a transformed source does with a block.
type applier func(b Block, out *Buffer) (finite bool, err error)

// faultless is an applier that finds no fault with any block.
func faultless(apply func(b Block, out *Buffer) (finite bool)) applier {
	return func(b Block, out *Buffer) (bool, error) { return apply(b, out), nil }
}

func (s *transformed) Dims() (n int64, d, t int) {
	n, _, t = s.src.Dims()
	return n, s.d, t
}

func (s *transformed) BlocksFrom(ctx context.Context, first int64) iter.Seq2[Block, error] {
	ctx = background.IfNil(ctx)
	return func(yield func(Block, error) bool) {
		_, d, t := s.src.Dims()
		// Innermost last: ahead's goroutine ends before next and apply are stopped.
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		next, stop := iter.Pull2(From(ctx, s.src, first))
		defer stop()
		apply, end := s.start()
		defer end()
		var in Block
		var view engine.CSR
		used := 0
		for b, err := range ahead(ctx, s.name, s.d, func(out *Buffer) error {
			for used == in.N {
				b, err, ok := next()
				if err != nil {
					return err
				}
				if !ok {
					return io.EOF
				}
				in, used = b, s.before(b, first)
			}
			hi := in.N
			if s.rows > 0 {
				hi = min(hi, used+s.rows)
			}
			part := in.Cut(used, hi, d, t, &view)
			used = hi
			out.first = part.First
			out.Sparse, out.N, out.Y = part.Sparse != nil, part.N, append(out.Y, part.Y...)
			out.W = append(out.W, part.W...)
			if finite, err := apply(part, out); finite || err != nil {
				return err
			}
			return s.check(part.First, out)
		}) {
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// before is how many rows of b make the blocks that end before row first.
func (s *transformed) before(b Block, first int64) int {
	if n := int(first - b.First); n > 0 && s.rows > 0 {
		return n / s.rows * s.rows
	}
	return 0
}

// check refuses features that are not finite.
func (s *transformed) check(first int64, out *Buffer) error {
	if !out.Sparse {
		return finite(s.name, out.X, first, s.d)
	}
	for i := range out.N {
		for k := out.CSR.RowPtr[i]; k < out.CSR.RowPtr[i+1]; k++ {
			if v := out.CSR.Val[k]; v-v != 0 {
				return nonFinite(s.name, first+int64(i), int(out.CSR.ColIdx[k]), v)
			}
		}
	}
	return nil
}
