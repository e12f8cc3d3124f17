package dataset

import (
	"context"
	"fmt"
	"iter"
)

// Concat returns the rows of several sources, one source after the other. Their
// features and targets must agree in number ([ErrShape]).
func Concat(sources ...Source) (Source, error) {
	if len(sources) == 0 {
		return nil, fmt.Errorf("%w: no sources", ErrShape)
	}
	_, d, t := sources[0].Dims()
	for i, s := range sources {
		if _, di, ti := s.Dims(); di != d || ti != t {
			return nil, fmt.Errorf("%w: the first source has %d features and %d targets, number %d has %d and %d", ErrShape, d, t, i+1, di, ti)
		}
	}
	if len(sources) == 1 {
		return sources[0], nil
	}
	return concat(sources), nil
}

type concat []Source

func (c concat) Dims() (n int64, d, t int) {
	for _, s := range c {
		ni, di, ti := s.Dims()
		d, t = di, ti
		if ni < 0 {
			return -1, d, t
		}
		n += ni
	}
	return n, d, t
}

func (c concat) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		var first int64
		for _, s := range c {
			for b, err := range s.Blocks(ctx) {
				b.First = first
				first += int64(b.N)
				if !yield(b, err) || err != nil {
					return
				}
			}
		}
	}
}

// Rows returns rows lo to hi of a source, 0-based, hi excluded. A pass over a
// source of fewer than hi rows ends in an error that tells how many there are.
func Rows(src Source, lo, hi int64) (Source, error) {
	if n, _, _ := src.Dims(); lo < 0 || hi <= lo || (n >= 0 && hi > n) {
		return nil, fmt.Errorf("%w: rows %d to %d of %d", ErrShape, lo+1, hi, n)
	}
	return &rows{src, lo, hi}, nil
}

type rows struct {
	src    Source
	lo, hi int64
}

func (r *rows) Dims() (n int64, d, t int) {
	_, d, t = r.src.Dims()
	return r.hi - r.lo, d, t
}

func (r *rows) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		_, d, t := r.src.Dims()
		var at int64
		for b, err := range r.src.Blocks(ctx) {
			if err != nil {
				yield(Block{}, err)
				return
			}
			from, to := max(r.lo-at, 0), min(r.hi-at, int64(b.N))
			at += int64(b.N)
			if from >= to {
				continue
			}
			if !yield(cut(b, int(from), int(to), d, t, at-int64(b.N)+from-r.lo), nil) || at >= r.hi {
				return
			}
		}
		if at < r.hi {
			yield(Block{}, fmt.Errorf("%w: rows %d to %d were asked for, there are %d", ErrShape, r.lo+1, r.hi, at))
		}
	}
}

// cut returns rows lo to hi of a block, sharing its memory.
func cut(b Block, lo, hi, d, t int, first int64) Block {
	out := Block{First: first, N: hi - lo, Y: b.Y[lo*t : hi*t]}
	if b.Sparse != nil {
		s := b.Sparse.Slice(lo, hi)
		out.Sparse = &s
	} else {
		out.X = b.X[lo*d : hi*d]
	}
	return out
}

// Zip takes the features of x and, as targets, the features of y, which must be
// dense and have as many rows ([ErrShape], at the latest when a pass ends).
func Zip(x, y Source) (Source, error) {
	nx, _, _ := x.Dims()
	ny, _, _ := y.Dims()
	if nx >= 0 && ny >= 0 && nx != ny {
		return nil, fmt.Errorf("%w: %d rows of features, %d of targets", ErrShape, nx, ny)
	}
	return &zip{x, y}, nil
}

type zip struct{ x, y Source }

func (z *zip) Dims() (n int64, d, t int) {
	n, d, _ = z.x.Dims()
	ny, t, _ := z.y.Dims()
	return max(n, ny), d, t
}

func (z *zip) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		_, d, t := z.Dims()
		next, stop := iter.Pull2(z.y.Blocks(ctx))
		defer stop()
		var have Block
		used := 0
		for b, err := range z.x.Blocks(ctx) {
			if err != nil {
				yield(Block{}, err)
				return
			}
			for lo := 0; lo < b.N; {
				if used == have.N {
					y, err, ok := next()
					if err == nil && (!ok || y.Sparse != nil) {
						err = fmt.Errorf("%w: the targets end, or are sparse, at row %d of the features", ErrShape, b.First+int64(lo)+1)
					}
					if err != nil {
						yield(Block{}, err)
						return
					}
					have, used = y, 0
				}
				k := min(b.N-lo, have.N-used)
				out := cut(Block{N: b.N, X: b.X, Sparse: b.Sparse}, lo, lo+k, d, 0, b.First+int64(lo))
				out.Y = have.X[used*t : (used+k)*t]
				if !yield(out, nil) {
					return
				}
				lo, used = lo+k, used+k
			}
		}
		if used < have.N {
			yield(Block{}, fmt.Errorf("%w: more targets than features", ErrShape))
			return
		}
		if _, err, ok := next(); err != nil {
			yield(Block{}, err)
		} else if ok {
			yield(Block{}, fmt.Errorf("%w: more targets than features", ErrShape))
		}
	}
}
