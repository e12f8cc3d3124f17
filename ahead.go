package fdridge

import (
	"context"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge/plan"
)

// A begunSource is a source whose first pass has begun.
type begunSource struct {
	dataset.Source
	n    int64           // number of rows; -1 if unknown
	kept []dataset.Block // the first blocks of the first pass
	next func() (dataset.Block, error, bool)
	stop func()
	used atomic.Bool // whether Blocks continues the first pass, or has done so
}

// lookAhead begins the first pass over j.src and reads the rows that [plan.RowsToRead] asks for. It sets j.sparse, and
// j.n if the rows end. The first pass of the fit starts with these rows. They take at most half of MaxBytes, and at most
// 64 MiB or the size of a sketch of [plan.DefaultSize] rows. The caller must call stop after the last pass.
func (j *job) lookAhead(ctx context.Context) (stop func(), err error) {
	enough, none := plan.RowsToRead(j.problem()), func() {}
	_, isColumnar := dataset.ByColumns(j.src)
	if enough == 0 || j.free != nil || isColumnar { // projected rows and columns are dense
		return none, nil
	}
	if all, ok := dataset.InMemory(j.src); ok {
		j.sparse = all.Sparse != nil
		return none, nil
	}
	s := &begunSource{Source: j.src}
	s.next, s.stop = iter.Pull2(j.src.Blocks(ctx))
	room := min(float64(j.MaxBytes)/2, max(64<<20, 8*plan.DefaultSize*float64(j.d)))
	for rows := int64(0); rows < enough && room > 0; {
		b, err, ok := s.next()
		if err != nil {
			s.stop()
			return nil, err
		}
		if !ok {
			j.n = rows
			break
		}
		rows += int64(b.N)
		b.X, b.Y, b.W = slices.Clone(b.X), slices.Clone(b.Y), slices.Clone(b.W)
		if j.sparse = b.Sparse != nil; j.sparse {
			c := *b.Sparse
			c.RowPtr, c.ColIdx, c.Val = slices.Clone(c.RowPtr), slices.Clone(c.ColIdx), slices.Clone(c.Val)
			b.Sparse = &c
			room -= float64(8*len(c.RowPtr) + 12*len(c.Val))
		}
		room -= float64(8 * (len(b.X) + len(b.Y) + len(b.W)))
		s.kept = append(s.kept, b)
	}
	s.n, j.src = j.n, s
	return s.stop, nil
}

// Dims returns the number of rows if the source or lookAhead knows it.
func (s *begunSource) Dims() (n int64, d, t int) {
	n, d, t = s.Source.Dims()
	return max(n, s.n), d, t
}

// Blocks makes a pass. The first call continues the pass that has begun.
func (s *begunSource) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		if s.used.Swap(true) {
			s.Source.Blocks(ctx)(yield)
			return
		}
		defer s.stop()
		for i, b := range s.kept {
			s.kept[i] = dataset.Block{} // frees memory for the consumer
			if !yield(b, nil) {
				return
			}
		}
		for b, err, ok := s.next(); ok && yield(b, err) && err == nil; {
			b, err, ok = s.next()
		}
	}
}
