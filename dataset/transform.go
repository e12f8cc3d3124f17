package dataset

import (
	"context"
	"io"
	"iter"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/background"
)

// transformed is a source whose features are computed from the features of another source, block
// by block, on a goroutine of its own. It has the same targets and weights.
type transformed struct {
	src  Source
	name string // used in errors and waits
	d    int    // number of features of the result
	rows int    // largest number of rows of a block; 0: the same blocks as src
	// start begins a pass. Its result apply appends the new features of each row of b to out. The caller checks that
	// they are finite, except if apply returns true. Its result stop ends the pass.
	start func() (apply applier, stop func())
	// transformColumns returns the columns of the result, given the columns of src. It is nil if
	// the columns of the result cannot be computed separately.
	transformColumns func(features Source) Source
}

// An applier transforms a block for a pass over a transformed source.
type applier func(b Block, out *Buffer) (finite bool, err error)

// infallible makes an applier that never returns an error.
func infallible(apply func(b Block, out *Buffer) (finite bool)) applier {
	return func(b Block, out *Buffer) (bool, error) { return apply(b, out), nil }
}

// Transform returns a source with d features that are computed from the features of src, block by block, on a
// goroutine. Targets and weights are copied. A block has at most rows rows; 0 means as many as a block of src.
// Transform calls start for each pass. The function returned by start appends the new features of each row of b to out.
// If one is not finite, the pass ends with an *[InputError] whose File is name.
func Transform(src Source, name string, d, rows int, start func() func(b Block, out *Buffer) error) Source {
	return &transformed{src: src, name: name, d: d, rows: rows, start: func() (applier, func()) {
		apply := start()
		return func(b Block, out *Buffer) (bool, error) { return false, apply(b, out) }, func() {}
	}}
}

func (s *transformed) Dims() (n int64, d, t int) {
	n, _, t = s.src.Dims()
	return n, s.d, t
}

func (s *transformed) BlocksFrom(ctx context.Context, first int64) iter.Seq2[Block, error] {
	ctx = background.IfNil(ctx)
	return func(yield func(Block, error) bool) {
		_, d, t := s.src.Dims()
		// Deferred calls run in reverse order: readAhead's goroutine ends before next and apply are stopped.
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		next, stop := iter.Pull2(From(ctx, s.src, first))
		defer stop()
		apply, end := s.start()
		defer end()
		var in Block
		var view engine.CSR
		used := 0
		for b, err := range readAhead(ctx, s.name, s.d, func(out *Buffer) error {
			for used == in.N {
				b, err, ok := next()
				if err != nil {
					return err
				}
				if !ok {
					return io.EOF
				}
				in, used = b, s.rowsBefore(b, first)
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

// rowsBefore returns the number of rows of b in output blocks that end before row first.
func (s *transformed) rowsBefore(b Block, first int64) int {
	if n := int(first - b.First); n > 0 && s.rows > 0 {
		return n / s.rows * s.rows
	}
	return 0
}

// check returns an error if a feature in out is not finite.
func (s *transformed) check(first int64, out *Buffer) error {
	if !out.Sparse {
		return checkFinite(s.name, out.X, first, s.d)
	}
	for i := range out.N {
		for k := out.CSR.RowPtr[i]; k < out.CSR.RowPtr[i+1]; k++ {
			if v := out.CSR.Val[k]; v-v != 0 {
				return newNonFiniteError(s.name, first+int64(i), int(out.CSR.ColIdx[k]), v)
			}
		}
	}
	return nil
}
