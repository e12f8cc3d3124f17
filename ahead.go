package fdridge

import (
	"context"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge/plan"
)

// lookAhead begins the first pass and reads the rows that [plan.RowsToRead] asks for. It sets j.sparse, and j.n if the
// rows end. The first pass over j.src then begins with these rows, so that no row is read twice.
//
// The rows take at most 64 MiB, or as much memory as a sketch of [plan.DefaultSize] rows if this is more. They never take
// more than half of MaxBytes. Rows that can be read only once are not read ahead. The caller must call stop after the
// last pass.
func (j *job) lookAhead(ctx context.Context) (stop func(), err error) {
	stop = func() {}
	most := plan.RowsToRead(j.problem())
	if _, isColumnar := dataset.ByColumns(j.src); most == 0 || j.free != nil || isColumnar { // projected rows and columns are dense
		return stop, nil
	}
	if whole, ok := dataset.InMemory(j.src); ok {
		j.sparse = whole.Sparse != nil
		return stop, nil
	}
	p := &begunPass{}
	p.next, p.stop = iter.Pull2(j.src.Blocks(ctx))
	room := min(float64(j.MaxBytes)/2, max(64<<20, 8*plan.DefaultSize*float64(j.d)))
	for rows := int64(0); rows < most && room > 0; {
		b, err, ok := p.next()
		if err != nil {
			p.stop()
			return nil, err
		}
		if !ok {
			j.n = rows
			break
		}
		rows += int64(b.N)
		room -= 8 * float64(len(b.X)+len(b.Y)+len(b.W))
		b.X, b.Y, b.W = slices.Clone(b.X), slices.Clone(b.Y), slices.Clone(b.W)
		if j.sparse = b.Sparse != nil; j.sparse {
			s := *b.Sparse
			s.RowPtr, s.ColIdx, s.Val = slices.Clone(s.RowPtr), slices.Clone(s.ColIdx), slices.Clone(s.Val)
			b.Sparse = &s
			room -= float64(8*len(s.RowPtr) + 4*len(s.ColIdx) + 8*len(s.Val))
		}
		p.blocks = append(p.blocks, b)
	}
	begun := &begunSource{Source: j.src, n: j.n}
	begun.first.Store(p)
	j.src = begun
	return p.stop, nil
}

// A begunPass is a pass that has begun.
type begunPass struct {
	blocks []dataset.Block // the blocks read so far
	next   func() (dataset.Block, error, bool)
	stop   func()
}

// A begunSource is a source whose first pass has begun.
type begunSource struct {
	dataset.Source
	n     int64                     // number of rows; -1 if unknown
	first atomic.Pointer[begunPass] // nil after the first call of Blocks
}

// Dims returns the number of rows if the source or lookAhead knows it.
func (s *begunSource) Dims() (n int64, d, t int) {
	n, d, t = s.Source.Dims()
	return max(n, s.n), d, t
}

// Blocks makes a pass. The first pass continues the pass that has begun.
func (s *begunSource) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		p := s.first.Swap(nil)
		if p == nil {
			s.Source.Blocks(ctx)(yield)
			return
		}
		defer p.stop()
		for i, b := range p.blocks {
			p.blocks[i] = dataset.Block{} // the consumer may need the memory
			if err := ctx.Err(); err != nil {
				yield(dataset.Block{}, err)
				return
			}
			if !yield(b, nil) {
				return
			}
		}
		for b, err, ok := p.next(); ok; b, err, ok = p.next() {
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}
