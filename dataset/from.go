package dataset

import (
	"context"
	"iter"
)

// A Seeker is a [Source] that can begin a pass amid its rows.
type Seeker interface {
	Source
	// BlocksFrom makes the rest of a pass: the very blocks that Blocks yields, from
	// the one on that holds row first, 0-based. None does where first is the number
	// of rows or more.
	BlocksFrom(ctx context.Context, first int64) iter.Seq2[Block, error]
}

// From is [Seeker.BlocksFrom] for any source: one that is no Seeker is read from its
// start.
func From(ctx context.Context, src Source, first int64) iter.Seq2[Block, error] {
	if first == 0 {
		return src.Blocks(ctx)
	}
	if s, ok := src.(Seeker); ok {
		return s.BlocksFrom(ctx, first)
	}
	return dropped(src.Blocks(ctx), first)
}

// dropped leaves out the blocks that end before row first. It counts them itself, and
// so tells the others where they begin.
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

// A Skipper is a [Reader] that can leave out rows unread. Its Read takes as many rows
// as it is asked for while there are so many.
type Skipper interface {
	Reader
	// Skip leaves out the next rows, of which there are so many, and reports whether
	// it could: it cannot in a compressed file.
	Skip(rows int64) (bool, error)
}

// skip lets r leave out the whole blocks of so many rows that end before row first,
// and returns how many rows these are: none where it cannot.
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
