package dataset

import (
	"context"
	"iter"
	"slices"

	"github.com/fdridge/fdridge/internal/parallel"
	"github.com/fdridge/fdridge/internal/vec"
)

// Columns holds the columns of a source with n rows as two further sources. Each row of the source Features is a
// feature column of the original source, and each row of Targets is a target column. These rows have n numbers, and
// no targets.
type Columns struct {
	Features Source // d rows
	Targets  Source // t rows; nil for none
}

// A Columnar is a source that may be able to read single columns, for example from a file stored column by column.
type Columnar interface {
	Source
	// ByColumns returns the columns of the source. It returns the zero value if single columns cannot be read.
	ByColumns() Columns
	// Samples returns the targets y and the sample weights w of all n rows, without reading the features. With t
	// targets, y is n×t, row by row. Without targets y is nil, and without weights w is nil. Samples may be called
	// only if ByColumns does not return the zero value.
	Samples(ctx context.Context) (y, w []float64, err error)
}

// ByColumns returns a source whose row j is feature column j of src. The result ok is false if src cannot read
// single columns.
func ByColumns(src Source) (features Source, ok bool) {
	if s, isColumnar := src.(Columnar); isColumnar {
		if c := s.ByColumns(); c.Features != nil {
			return c.Features, true
		}
	}
	return nil, false
}

// errNoColumns reports a source whose columns cannot be read.
var errNoColumns = &SourceError{"the source has no columns"}

// Samples calls the Samples method of a [Columnar] source.
func Samples(ctx context.Context, src Source) (y, w []float64, err error) {
	if _, ok := ByColumns(src); !ok {
		return nil, nil, errNoColumns
	}
	return src.(Columnar).Samples(ctx)
}

// ByColumns implements [Columnar].
func (s *Stream) ByColumns() Columns {
	if s.Columns == nil {
		return Columns{}
	}
	return *s.Columns
}

// Samples implements [Columnar].
func (s *Stream) Samples(ctx context.Context) (y, w []float64, err error) {
	n, _, t := s.Dims()
	if s.Columns == nil {
		return nil, nil, errNoColumns
	}
	if n < 0 && t > 0 {
		return nil, nil, newSourceError("targets by columns need a stream whose number of rows is known")
	}
	if s.Columns.Targets == nil {
		return make([]float64, int(n)*t), nil, nil
	}
	columns, rows, err := readAll(ctx, s.Columns.Targets, int64(t))
	if err != nil {
		return nil, nil, err
	}
	if rows != int64(t) || int64(len(columns)) != n*int64(t) {
		return nil, nil, newDimensionError(
			"targets by columns have %d rows, the features %d",
			len(columns)/max(t, 1),
			n,
		)
	}
	y = make([]float64, len(columns))
	for j := range t {
		for i := range int(n) {
			y[i*t+j] = columns[j*int(n)+i]
		}
	}
	return y, nil, nil
}

// readAll reads all rows of a dense source. It returns the features of the first n rows, and the number of all
// rows.
func readAll(ctx context.Context, src Source, n int64) (x []float64, rows int64, err error) {
	_, d, _ := src.Dims()
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, 0, err
		}
		if b.Sparse != nil {
			return nil, 0, newSourceError("the targets are sparse; they must be dense")
		}
		first := min(max(n-rows, 0), int64(b.N))
		x = append(x, b.X[:int(first)*d]...)
		rows += int64(b.N)
	}
	return x, rows, nil
}

func (z *zip) ByColumns() Columns {
	if x, ok := z.x.(Columnar); ok {
		return x.ByColumns()
	}
	return Columns{}
}

func (z *zip) Samples(ctx context.Context) (y, w []float64, err error) {
	y, w, err = Samples(ctx, z.x)
	if err != nil {
		return nil, nil, err
	}
	n, _, _ := z.x.Dims()
	other, rows, err := readAll(ctx, z.y, n)
	if err == nil && rows != n {
		err = z.rowCountError(n, rows)
	}
	if err != nil {
		return nil, nil, err
	}
	if !z.weights {
		return other, w, nil
	}
	return y, other, checkWeights(other, 0)
}

// transposeBytes is the default number of bytes that a transposed source uses for its rows.
const transposeBytes = 64 << 20

// transposed is the source that Transpose returns: its rows are the columns of x.
type transposed struct {
	x     Source
	n, d  int
	bytes int
}

// Transpose returns a source whose rows are the d columns of x and whose features are the n rows of x. Use it for
// files that store a feature in each row. x must have no targets; [Zip] adds targets to the result. If x does not
// know its number of rows, Transpose reads x once to count them.
//
// A pass over the result holds at most the given number of bytes of rows at a time; 0 means 64 MiB. So a pass makes
// about ⌈8nd/bytes⌉ passes over x. [ByColumns] of the result returns x.
func Transpose(ctx context.Context, x Source, bytes int) (Source, error) {
	if err := checkSources(x); err != nil {
		return nil, err
	}
	d, n, t := x.Dims()
	if t != 0 {
		return nil, newSourceError(
			"cannot transpose a source with %d targets; zip the targets to the result of Transpose instead",
			t,
		)
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
		return nil, newSourceError("cannot transpose a source without rows")
	}
	if bytes <= 0 {
		bytes = transposeBytes
	}
	return &transposed{
		x:     x,
		n:     n,
		d:     int(d),
		bytes: bytes,
	}, nil
}

func (s *transposed) Dims() (n int64, d, t int) {
	return int64(s.n), s.d, 0
}

func (s *transposed) ByColumns() Columns { return Columns{Features: s.x} }

func (s *transposed) Samples(context.Context) (y, w []float64, err error) {
	return nil, nil, nil
}

func (s *transposed) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return s.BlocksFrom(ctx, 0)
}

// BlocksFrom implements [Seeker].
func (s *transposed) BlocksFrom(ctx context.Context, firstRow int64) iter.Seq2[Block, error] {
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
		for lo := int(min(firstRow, int64(s.n))) / height * height; lo < s.n; lo += height {
			window := Block{First: int64(lo), N: min(height, s.n-lo)}
			window.X = x[:window.N*s.d]
			if err := s.fillWindow(ctx, window); err != nil {
				yield(Block{}, err)
				return
			}
			for at := 0; at < window.N; at += rows {
				part := window.Cut(at, min(at+rows, window.N), s.d, 0, nil)
				if part.First+int64(part.N) <= firstRow {
					continue
				}
				if !yield(part, nil) {
					return
				}
			}
		}
	}
}

// fillWindow sets the rows in window, which are rows of the transposed source, from columns of x.
func (s *transposed) fillWindow(ctx context.Context, window Block) error {
	lo := int(window.First)
	feature := 0
	for b, err := range s.x.Blocks(ctx) {
		if err != nil {
			return err
		}
		if feature+b.N > s.d {
			return newSourceError("the source to transpose has more than the expected %d rows", s.d)
		}
		_ = parallel.Do(64, b.N*window.N, func(part int) error {
			for k := window.N * part / 64; k < window.N*(part+1)/64; k++ {
				to := window.X[k*s.d+feature:][:b.N]
				if b.Sparse != nil {
					clear(to)
					continue
				}
				for i := range to {
					to[i] = b.X[i*s.n+lo+k]
				}
			}
			return nil
		})
		for i := 0; i < b.N && b.Sparse != nil; i++ {
			idx, val := b.Sparse.Row(i)
			for e, j := range idx {
				if k := int(j) - lo; k >= 0 && k < window.N {
					window.X[k*s.d+feature+i] = val[e]
				}
			}
		}
		feature += b.N
	}
	if feature != s.d {
		return newSourceError("the source to transpose has %d rows, expected %d", feature, s.d)
	}
	return nil
}

// WithoutTargets returns the features of src without its targets and weights.
func WithoutTargets(src Source) Source { return untargeted{src} }

type untargeted struct{ src Source }

func (s untargeted) Dims() (n int64, d, t int) {
	n, d, _ = s.src.Dims()
	return n, d, 0
}

func (s untargeted) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return mapBlocks(s.src.Blocks(ctx), func(b *Block) error {
		b.Y, b.W = nil, nil
		return nil
	})
}

// ByColumns implements [Columnar]. It returns columns only if the transform acts on each column separately, for
// example if it scales the columns.
func (s *transformed) ByColumns() Columns {
	features, ok := ByColumns(s.src)
	if !ok || s.transformColumns == nil {
		return Columns{}
	}
	return Columns{Features: s.transformColumns(features)}
}

// Samples implements [Columnar].
func (s *transformed) Samples(ctx context.Context) (y, w []float64, err error) {
	return Samples(ctx, s.src)
}

// scaledColumns is a source of columns (x − mean)/scale.
type scaledColumns struct {
	Source
	by *Scaling
}

func (s scaledColumns) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	_, n, _ := s.Dims()
	var x []float64
	var b *Block
	scale := func(i int) error {
		j := int(b.First) + i
		row := x[i*n : (i+1)*n]
		if b.Sparse == nil {
			copy(row, b.X[i*n:(i+1)*n])
		} else {
			clear(row)
			idx, val := b.Sparse.Row(i)
			for k, at := range idx {
				row[at] = val[k]
			}
		}
		for k, v := range row {
			row[k] = (v - s.by.Mean[j]) / s.by.Scale[j]
			if !vec.IsFinite(row[k]) {
				return newNonFiniteError("standardised rows", int64(k), j, row[k])
			}
		}
		return nil
	}
	return mapBlocks(s.Source.Blocks(ctx), func(in *Block) error {
		b = in
		x = slices.Grow(x[:0], in.N*n)[:in.N*n]
		err := parallel.Do(b.N, len(x), scale)
		b.X, b.Sparse = x, nil
		return err
	})
}
