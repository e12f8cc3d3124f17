package dataset

import (
	"context"
	"iter"
)

// A Seeker is a [Source] that can begin a pass at any row.
type Seeker interface {
	Source
	// BlocksFrom makes a pass that starts with the block that contains row firstRow, counted from 0. If there is no
	// such row, it yields no block.
	BlocksFrom(ctx context.Context, firstRow int64) iter.Seq2[Block, error]
}

// From makes a pass over src that starts with the block that contains row firstRow, counted from 0. If src is no
// Seeker, From reads src from its start and drops the blocks before.
func From(ctx context.Context, src Source, firstRow int64) iter.Seq2[Block, error] {
	if firstRow == 0 {
		return src.Blocks(ctx)
	}
	if s, ok := src.(Seeker); ok {
		return s.BlocksFrom(ctx, firstRow)
	}
	return dropBefore(src.Blocks(ctx), firstRow)
}

// dropBefore drops the blocks before the block that contains row firstRow. In the other blocks it sets the field
// First.
func dropBefore(blocks iter.Seq2[Block, error], firstRow int64) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		var at int64
		for b, err := range blocks {
			b.First = at
			at += int64(b.N)
			if err == nil && at <= firstRow {
				continue
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// A Skipper is a [Reader] that can skip rows without reading them. Its method Read must return exactly the
// requested number of rows. It may return fewer only at the end of the file.
type Skipper interface {
	Reader
	// Skip skips the given number of rows, which must exist. If rows cannot be skipped, for example because the
	// file is compressed, Skip does nothing and returns false.
	Skip(rows int64) (bool, error)
}

// skip skips the blocks before the block that contains row firstRow, if r can skip rows. The argument rows is the
// number of rows of a block. skip returns the number of rows that it has skipped.
func skip(r Reader, firstRow int64, rows int) (int64, error) {
	s, ok := r.(Skipper)
	start := firstRow - firstRow%int64(rows)
	if !ok || start == 0 {
		return 0, nil
	}
	if ok, err := s.Skip(start); !ok || err != nil {
		return 0, err
	}
	return start, nil
}

func (s *Stream) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return s.BlocksFrom(ctx, 0)
}
func (m *memory) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return m.BlocksFrom(ctx, 0)
}
func (r *rows) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return r.BlocksFrom(ctx, 0)
}
func (c concat) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return c.BlocksFrom(ctx, 0)
}
func (z *zip) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return z.BlocksFrom(ctx, 0)
}
func (s *lastTarget) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return s.BlocksFrom(ctx, 0)
}
func (s *transformed) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return s.BlocksFrom(ctx, 0)
}
