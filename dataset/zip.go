package dataset

import (
	"context"
	"fmt"
	"iter"

	"github.com/fdridge/fdridge/engine"
)

// Zip returns a source with the features of x, and with the features of y as its targets. The argument y must be
// dense and have as many rows as x, otherwise the error is [ErrShape]. If a number of rows is unknown, this error
// comes at the end of each pass.
func Zip(x, y Source) (Source, error) { return ZipNamed(x, y, "", "") }

// ZipNamed is [Zip] for sources with names, such as the names of their files. If the sources have different numbers
// of rows, the error contains the names.
func ZipNamed(x, y Source, xName, yName string) (Source, error) {
	if err := checkSources(x, y); err != nil {
		return nil, err
	}
	nx, _, _ := x.Dims()
	ny, _, _ := y.Dims()
	z := &zip{
		x:     x,
		y:     y,
		xName: xName,
		yName: yName,
	}
	if nx >= 0 && ny >= 0 && nx != ny {
		return nil, z.rowCountError(nx, ny)
	}
	return z, nil
}

// A RowCountError reports that features and targets, or features and weights, have different numbers of rows. It
// matches [ErrShape].
type RowCountError struct {
	What                    string // "targets" or "weights"
	Features, Others        int64  // numbers of rows
	FeatureName, OthersName string // of the sources, or ""
	Hint                    string // advice, printed last; may be ""
}

func (e *RowCountError) Error() string {
	if e.FeatureName == "" && e.OthersName == "" {
		return fmt.Sprintf("dataset: dimensions disagree: %d rows of features, %d of %s", e.Features, e.Others, e.What)
	}
	longer := e.FeatureName
	if e.Others > e.Features {
		longer = e.OthersName
	}
	text := fmt.Sprintf("%d rows of features in %s, %d of %s in %s: row %d of %s has no partner",
		e.Features, e.FeatureName, e.Others, e.What, e.OthersName, min(e.Features, e.Others)+1, longer)
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Is reports whether target is [ErrShape] or [ErrInput].
func (e *RowCountError) Is(target error) bool {
	return target == ErrShape || target == ErrInput
}

type zip struct {
	x, y         Source
	xName, yName string // names of the sources, or ""
	weights      bool   // y holds the weights, and x the targets
}

func (z *zip) rowCountError(nx, ny int64) error {
	return &RowCountError{
		What:        z.what(),
		Features:    nx,
		Others:      ny,
		FeatureName: z.xName,
		OthersName:  z.yName,
	}
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

func (z *zip) BlocksFrom(ctx context.Context, firstRow int64) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		_, d, tx := z.x.Dims()
		_, t, _ := z.y.Dims()
		next, stop := iter.Pull2(From(ctx, z.y, firstRow))
		defer stop()
		y := targets{next: next}
		var view engine.CSR
		var nx int64
		for b, err := range From(ctx, z.x, firstRow) {
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
				v := y.block.X[y.used*t : (y.used+hi-lo)*t]
				if !z.weights {
					out.Y = v
				} else if out.W, err = v, checkWeights(v, y.rows-int64(y.block.N-y.used)); err != nil {
					yield(Block{}, err)
					return
				}
				if !yield(out, nil) {
					return
				}
				y.used += hi - lo
				lo = hi
			}
		}
		// If the targets ended before the features, nx now counts all rows of features.
		ny, err := y.countRows()
		if err == nil && nx == 0 && firstRow > 0 {
			nx, err = CountRows(ctx, z.x)
		}
		if err == nil && ny == 0 && firstRow > 0 {
			ny, err = CountRows(ctx, z.y)
		}
		if err == nil && nx != ny {
			err = z.rowCountError(nx, ny)
		}
		if err != nil {
			yield(Block{}, err)
		}
	}
}

// CountRows returns the number of rows of src. If src does not know the number, CountRows makes a pass to count
// them.
func CountRows(ctx context.Context, src Source) (int64, error) {
	n, _, _ := src.Dims()
	if n >= 0 {
		return n, nil
	}
	n = 0
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return 0, err
		}
		n += int64(b.N)
	}
	return n, nil
}

// targets reads the targets one block at a time.
type targets struct {
	next  func() (Block, error, bool)
	block Block
	used  int   // used rows of block
	rows  int64 // rows read so far, including the current block
	ended bool
}

// fetch reads the next block of targets if all rows of the current block have been used.
func (y *targets) fetch() error {
	for y.used == y.block.N && !y.ended {
		b, err, ok := y.next()
		if err != nil {
			return err
		}
		if b.Sparse != nil {
			return newSourceError("the targets are sparse; they must be dense")
		}
		y.block = b
		y.used = 0
		y.ended = !ok
		if ok {
			y.rows = b.First + int64(b.N)
		}
	}
	return nil
}

// align moves to the targets of row firstRow. If the current block of targets begins later, align returns the
// number of rows from firstRow to the start of this block.
func (y *targets) align(firstRow int64) int {
	if y.ended {
		return 0
	}
	at := y.rows - int64(y.block.N)
	y.used = int(max(firstRow-at, 0))
	return int(max(at-firstRow, 0))
}

// countRows reads all targets that are left, and returns the total number of rows.
func (y *targets) countRows() (int64, error) {
	for !y.ended {
		y.used = y.block.N
		if err := y.fetch(); err != nil {
			return 0, err
		}
	}
	return y.rows, nil
}
