package dataset

import (
	"context"
	"io"
	"iter"
)

// transformed is a source whose features are computed from those of another,
// block by block, on a goroutine of its own.
type transformed struct {
	src   Source
	d     int
	apply func(b Block, out *Buffer) // appends the features of b's rows
}

func (s *transformed) Dims() (n int64, d, t int) {
	n, _, t = s.src.Dims()
	return n, s.d, t
}

func (s *transformed) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		next, stop := iter.Pull2(s.src.Blocks(ctx))
		defer stop()
		for b, err := range ahead(ctx, s.d, func(_ context.Context, out *Buffer) error {
			b, err, ok := next()
			if err != nil {
				return err
			}
			if !ok {
				return io.EOF
			}
			out.Sparse = b.Sparse != nil
			s.apply(b, out)
			out.N = b.N
			out.Y = append(out.Y, b.Y...)
			return nil
		}) {
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}
