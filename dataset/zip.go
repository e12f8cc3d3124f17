package dataset

import (
	"context"
	"iter"

	"github.com/fdridge/fdridge/engine"
)

// Zip takes the features of x and, as targets, the features of y, which must be
// dense and have as many rows: [ErrShape] tells both numbers, at the latest when a
// pass ends.
func Zip(x, y Source) (Source, error) {
	nx, _, _ := x.Dims()
	ny, _, _ := y.Dims()
	if nx >= 0 && ny >= 0 && nx != ny {
		return nil, unequal(nx, ny, "targets")
	}
	return &zip{x, y, false}, nil
}

func unequal(nx, ny int64, what string) error {
	return mismatched("%d rows of features, %d of %s", nx, ny, what)
}

type zip struct {
	x, y    Source
	weights bool // y has the weights of the rows, and the targets are those of x
}

func (z *zip) Dims() (n int64, d, t int) {
	n, d, _ = z.x.Dims()
	ny, t, _ := z.y.Dims()
	if z.weights {
		_, _, t = z.x.Dims()
	}
	return max(n, ny), d, t
}

func (z *zip) what() string {
	if z.weights {
		return "weights"
	}
	return "targets"
}

func (z *zip) BlocksFrom(ctx context.Context, first int64) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		_, d, tx := z.x.Dims()
		_, t, _ := z.y.Dims()
		next, stop := iter.Pull2(From(ctx, z.y, first))
		defer stop()
		y := targets{next: next}
		var view engine.CSR
		var nx int64
		for b, err := range From(ctx, z.x, first) {
			if err != nil {
				yield(Block{}, err)
				return
			}
			lo := 0
			if nx == 0 {
				if err := y.fetch(); err != nil {
					yield(Block{}, err)
					return
				}
				lo = y.align(b.First)
			}
			nx = b.First + int64(b.N)
			for lo < b.N && !y.ended {
				if err := y.fetch(); err != nil {
					yield(Block{}, err)
					return
				}
				hi := lo + min(b.N-lo, y.block.N-y.used)
				if hi == lo {
					break
				}
				out := b.Cut(lo, hi, d, tx, &view)
				if v := y.block.X[y.used*t : (y.used+hi-lo)*t]; !z.weights {
					out.Y = v
				} else if out.W, err = v, checkWeights(v, y.rows-int64(y.block.N-y.used)); err != nil {
					yield(Block{}, err)
					return
				}
				if !yield(out, nil) {
					return
				}
				y.used, lo = y.used+hi-lo, hi
			}
		}
		// Where the targets ended first, the features were counted to their end.
		ny, err := y.count()
		if err == nil && nx != ny {
			err = unequal(nx, ny, z.what())
		}
		if err != nil {
			yield(Block{}, err)
		}
	}
}

// targets is a pass over the source of the targets, one block at a time.
type targets struct {
	next  func() (Block, error, bool)
	block Block
	used  int   // rows of block that are done with
	rows  int64 // rows of this and all earlier blocks
	ended bool
}

// fetch gets rows to use, unless there are some or none are left.
func (y *targets) fetch() error {
	for y.used == y.block.N && !y.ended {
		b, err, ok := y.next()
		if err != nil {
			return err
		}
		if b.Sparse != nil {
			return unfit("the targets are sparse, must be dense")
		}
		y.block, y.used, y.ended = b, 0, !ok
		if ok {
			y.rows = b.First + int64(b.N)
		}
	}
	return nil
}

// align makes y begin with row first. It marks the rows of its first block that come
// before row first as used, and returns how many rows from row first on come before the
// block.
func (y *targets) align(first int64) int {
	if y.ended {
		return 0
	}
	at := y.rows - int64(y.block.N)
	y.used = int(max(first-at, 0))
	return int(max(at-first, 0))
}

// count reads on to the end and returns the number of rows.
func (y *targets) count() (int64, error) {
	for !y.ended {
		y.used = y.block.N
		if err := y.fetch(); err != nil {
			return 0, err
		}
	}
	return y.rows, nil
}
