package dataset

import (
	"context"
	"iter"

	"github.com/fdridge/fdridge/internal/background"
)

// A Seeker is a [Source] that can begin a pass at any row.
type Seeker interface {
	Source
	// BlocksFrom yields the same blocks as Blocks, starting with the block that holds row first.
	// Rows are counted from 0. It yields no block if there is no such row.
	BlocksFrom(ctx context.Context, first int64) iter.Seq2[Block, error]
}

// From yields the blocks of src, starting with the block that holds row first. If src is a Seeker,
// From calls its BlocksFrom. Otherwise From reads src from its start and drops the earlier blocks.
func From(ctx context.Context, src Source, first int64) iter.Seq2[Block, error] {
	ctx = background.IfNil(ctx)
	if first == 0 {
		return src.Blocks(ctx)
	}
	if s, ok := src.(Seeker); ok {
		return s.BlocksFrom(ctx, first)
	}
	return dropBefore(src.Blocks(ctx), first)
}

// dropBefore drops the blocks that end before row first. It counts the rows, and overwrites Block.First in the others.
func dropBefore(blocks iter.Seq2[Block, error], first int64) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		var at int64
		for b, err := range blocks {
			b.First = at
			if at += int64(b.N); err == nil && at <= first {
				continue
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// A Skipper is a [Reader] that can skip rows without reading them. Its Read must always return the
// requested number of rows, except at the end.
type Skipper interface {
	Reader
	// Skip skips the given number of rows. The caller guarantees that there are enough. The result is false, and
	// nothing is skipped, if the file cannot be read at any position, such as a compressed file.
	Skip(rows int64) (bool, error)
}

// skip skips the blocks that end before row first, if r is a Skipper. Each block has rows rows.
// The result is the number of rows skipped.
func skip(r Reader, first int64, rows int) (int64, error) {
	s, ok := r.(Skipper)
	start := first - first%int64(rows)
	if !ok || start == 0 {
		return 0, nil
	}
	if ok, err := s.Skip(start); !ok || err != nil {
		return 0, err
	}
	return start, nil
}

func (s *Stream) Blocks(ctx context.Context) iter.Seq2[Block, error]     { return s.BlocksFrom(ctx, 0) }
func (m *memory) Blocks(ctx context.Context) iter.Seq2[Block, error]     { return m.BlocksFrom(ctx, 0) }
func (r *rows) Blocks(ctx context.Context) iter.Seq2[Block, error]       { return r.BlocksFrom(ctx, 0) }
func (c concat) Blocks(ctx context.Context) iter.Seq2[Block, error]      { return c.BlocksFrom(ctx, 0) }
func (z *zip) Blocks(ctx context.Context) iter.Seq2[Block, error]        { return z.BlocksFrom(ctx, 0) }
func (s *lastTarget) Blocks(ctx context.Context) iter.Seq2[Block, error] { return s.BlocksFrom(ctx, 0) }
func (s *transformed) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return s.BlocksFrom(ctx, 0)
}
