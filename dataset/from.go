package dataset

import (
	"context"
	"iter"

	"github.com/fdridge/fdridge/internal/background"
)

// A Seeker is a [Source] that can begin a pass amid its rows.
type Seeker interface {
	Source
	// BlocksFrom makes the rest of a pass. It yields the blocks that Blocks would, but
	// leaves out those before the one that holds row first, counted from 0. Where there
	// is no such row it yields none.
	BlocksFrom(ctx context.Context, first int64) iter.Seq2[Block, error]
}

// From is [Seeker.BlocksFrom] for any source. One that is no Seeker is read from its start,
// and the blocks before that of row first are dropped.
func From(ctx context.Context, src Source, first int64) iter.Seq2[Block, error] {
	ctx = background.IfNil(ctx)
	if first == 0 {
		return src.Blocks(ctx)
	}
	if s, ok := src.(Seeker); ok {
		return s.BlocksFrom(ctx, first)
	}
	return dropped(src.Blocks(ctx), first)
}

// dropped leaves out the blocks that end before row first. It counts the rows itself and
// sets where each block begins.
func dropped(blocks iter.Seq2[Block, error], first int64) iter.Seq2[Block, error] {
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

// A Skipper is a [Reader] that can leave out rows without reading them. Its Read always
// takes as many rows as it is asked for, while there are so many.
type Skipper interface {
	Reader
	// Skip leaves out the next rows, of which there are at least so many. It reports
	// whether it could: in a compressed file it cannot.
	Skip(rows int64) (bool, error)
}

// skip leaves out the blocks of so many rows that end before row first, where r can do so,
// and returns how many rows it has left out.
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
