package dataset

import (
	"context"
	"iter"

	"github.com/fdridge/fdridge/internal/background"
)

// Columns are a source's columns, read one after the other: each is a row of n numbers of a source
// without targets.
type Columns struct {
	Features Source // d rows
	Targets  Source // t rows; nil for none
}

// A Columnar source may have columns that can be read without reading all of it for each, as those of
// files that have them one after the other.
type Columnar interface {
	Source
	// ByColumns returns them; the zero value says that there are none.
	ByColumns() Columns
	// Samples reads the targets (n×t) and the weights of all rows, nil where they have none. The
	// features are not read. It is called where there are columns.
	Samples(ctx context.Context) (y, w []float64, err error)
}

// ByColumns returns the features of a source as the rows of another; ok is false for a source that
// is no [Columnar] one or has no columns.
func ByColumns(src Source) (features Source, ok bool) {
	if s, isColumnar := src.(Columnar); isColumnar {
		if c := s.ByColumns(); c.Features != nil {
			return c.Features, true
		}
	}
	return nil, false
}

// errNoColumns reports a source that cannot be read by columns.
var errNoColumns = &SourceError{"the source has no columns"}

// Samples is that of a [Columnar] source.
func Samples(ctx context.Context, src Source) (y, w []float64, err error) {
	ctx = background.IfNil(ctx)
	if _, ok := ByColumns(src); !ok {
		return nil, nil, errNoColumns
	}
	return src.(Columnar).Samples(ctx)
}

// ByColumns is that of [Columnar].
func (s *Stream) ByColumns() Columns {
	if s.Columns == nil {
		return Columns{}
	}
	return *s.Columns
}

// Samples is that of [Columnar].
func (s *Stream) Samples(ctx context.Context) (y, w []float64, err error) {
	ctx = background.IfNil(ctx)
	n, _, t := s.Dims()
	if s.Columns == nil {
		return nil, nil, errNoColumns
	}
	if n < 0 && t > 0 {
		return nil, nil, unfit("targets by columns of a stream that does not know how many rows it has")
	}
	if s.Columns.Targets == nil {
		return make([]float64, int(n)*t), nil, nil
	}
	columns, err := numbers(ctx, s.Columns.Targets, int64(t))
	if err != nil {
		return nil, nil, err
	}
	if int64(len(columns)) != n*int64(t) {
		return nil, nil, mismatched("targets by columns have %d rows, the features %d", len(columns)/max(t, 1), n)
	}
	y = make([]float64, len(columns))
	for j := range t {
		for i := range int(n) {
			y[i*t+j] = columns[j*int(n)+i]
		}
	}
	return y, nil, nil
}

// numbers are all features of a dense source of n rows.
func numbers(ctx context.Context, src Source, n int64) (x []float64, err error) {
	_, d, _ := src.Dims()
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		if b.Sparse != nil {
			return nil, unfit("the targets are sparse, must be dense")
		}
		x = append(x, b.X[:b.N*d]...)
		if int64(len(x)) > n*int64(d) {
			break
		}
	}
	if int64(len(x)) != n*int64(d) {
		return nil, unequal(n, int64(len(x)/d), "targets or weights")
	}
	return x, nil
}

func (z *zip) ByColumns() Columns {
	if x, ok := z.x.(Columnar); ok {
		return x.ByColumns()
	}
	return Columns{}
}

func (z *zip) Samples(ctx context.Context) (y, w []float64, err error) {
	if y, w, err = Samples(ctx, z.x); err != nil {
		return nil, nil, err
	}
	n, _, _ := z.x.Dims()
	other, err := numbers(ctx, z.y, n)
	if err != nil {
		return nil, nil, err
	}
	if !z.weights {
		return other, w, nil
	}
	return y, other, checkWeights(other, 0)
}

// transposeBytes is what a transposed source keeps of the other at a time, where nobody says how much.
const transposeBytes = 64 << 20

// transposed has the columns of x as its rows.
type transposed struct {
	x     Source
	n, d  int
	bytes int
}

// Transpose returns the source whose rows are the columns of x, and whose features are its rows: for
// files that have a feature in a row and a sample in a column. x has no targets; [Zip] gives the
// rows some. Rows are made of as many reads of x as n·d numbers take so many bytes, 0 for 64 MiB, but
// what reads [ByColumns] reads x itself. Where x does not know how many rows it has, they are counted.
func Transpose(ctx context.Context, x Source, bytes int) (Source, error) {
	ctx = background.IfNil(ctx)
	if err := noSource(x); err != nil {
		return nil, err
	}
	d, n, t := x.Dims()
	if t != 0 {
		return nil, unfit("a transposed source has %d targets of its own; its rows are features, so zip the targets to what Transpose returns", t)
	}
	if d < 0 {
		d = 0
		for b, err := range x.Blocks(ctx) {
			if err != nil {
				return nil, err
			}
			d += int64(b.N)
		}
	}
	if d == 0 {
		return nil, unfit("a transposed source has no rows, so there is no feature")
	}
	if bytes <= 0 {
		bytes = transposeBytes
	}
	return &transposed{x: x, n: n, d: int(d), bytes: bytes}, nil
}

func (s *transposed) Dims() (n int64, d, t int) { return int64(s.n), s.d, 0 }

func (s *transposed) ByColumns() Columns { return Columns{Features: s.x} }

func (s *transposed) Samples(context.Context) (y, w []float64, err error) { return nil, nil, nil }

func (s *transposed) Blocks(ctx context.Context) iter.Seq2[Block, error] { return s.BlocksFrom(ctx, 0) }

// BlocksFrom is that of [Seeker]: what comes before is not kept.
func (s *transposed) BlocksFrom(ctx context.Context, first int64) iter.Seq2[Block, error] {
	ctx = background.IfNil(ctx)
	return func(yield func(Block, error) bool) {
		height := min(s.n, max(1, s.bytes/8/s.d))
		rows, err := denseRows(s.d)
		if err != nil {
			yield(Block{}, err)
			return
		}
		rows = min(rows, height)
		height = height / rows * rows
		x := make([]float64, min(height, s.n)*s.d)
		for lo := int(min(first, int64(s.n))) / height * height; lo < s.n; lo += height {
			window := Block{First: int64(lo), N: min(height, s.n-lo)}
			window.X = x[:window.N*s.d]
			if err := s.turn(ctx, window); err != nil {
				yield(Block{}, err)
				return
			}
			for at := 0; at < window.N; at += rows {
				part := window.Cut(at, min(at+rows, window.N), s.d, 0, nil)
				if part.First+int64(part.N) <= first {
					continue
				}
				if !yield(part, nil) {
					return
				}
			}
		}
	}
}

// turn fills a window with its columns of x.
func (s *transposed) turn(ctx context.Context, window Block) error {
	lo, feature := int(window.First), 0
	for b, err := range s.x.Blocks(ctx) {
		if err != nil {
			return err
		}
		if feature+b.N > s.d {
			return unfit("a transposed source of %d rows has more", s.d)
		}
		for i := range b.N {
			if b.Sparse == nil {
				for k, v := range b.X[i*s.n+lo : i*s.n+lo+window.N] {
					window.X[k*s.d+feature] = v
				}
			} else {
				for k := range window.N {
					window.X[k*s.d+feature] = 0
				}
				idx, val := b.Sparse.Row(i)
				for e, j := range idx {
					if k := int(j) - lo; k >= 0 && k < window.N {
						window.X[k*s.d+feature] = val[e]
					}
				}
			}
			feature++
		}
	}
	if feature != s.d {
		return unfit("a transposed source of %d rows has %d", s.d, feature)
	}
	return nil
}

// WithoutTargets returns the features of src, and no targets or weights.
func WithoutTargets(src Source) Source { return untargeted{src} }

type untargeted struct{ src Source }

func (s untargeted) Dims() (n int64, d, t int) {
	n, d, _ = s.src.Dims()
	return n, d, 0
}

func (s untargeted) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		for b, err := range s.src.Blocks(ctx) {
			b.Y, b.W = nil, nil
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// ByColumns is that of [Columnar]: of a scaling, whose columns stay columns.
func (s *transformed) ByColumns() Columns {
	features, ok := ByColumns(s.src)
	if !ok || s.turned == nil {
		return Columns{}
	}
	return Columns{Features: s.turned(features)}
}

// Samples is that of [Columnar].
func (s *transformed) Samples(ctx context.Context) (y, w []float64, err error) {
	return Samples(ctx, s.src)
}

// scaledColumns are columns less their means, and divided by their scales.
type scaledColumns struct {
	Source
	by *Scaling
}

func (s scaledColumns) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		_, n, _ := s.Dims()
		var x []float64
		for b, err := range s.Source.Blocks(ctx) {
			if err != nil {
				yield(Block{}, err)
				return
			}
			x = append(x[:0], make([]float64, b.N*n)...)
			for i := range b.N {
				j, row := int(b.First)+i, x[i*n:(i+1)*n]
				if b.Sparse == nil {
					copy(row, b.X[i*n:(i+1)*n])
				} else {
					idx, val := b.Sparse.Row(i)
					for k, at := range idx {
						row[at] = val[k]
					}
				}
				for k, v := range row {
					row[k] = (v - s.by.Mean[j]) / s.by.Scale[j]
					if !isFinite(row[k]) {
						yield(Block{}, nonFinite("standardised rows", int64(k), j, row[k]))
						return
					}
				}
			}
			b.X, b.Sparse = x, nil
			if !yield(b, nil) {
				return
			}
		}
	}
}
