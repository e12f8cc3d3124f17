package dataset

import (
	"context"
	"iter"
	"math"
	"math/bits"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/internal/rowmajor"
)

// memory is a source over data in memory, which its blocks share.
type memory struct {
	whole Block
	d, t  int
}

// FromDense returns a source of the n rows of x (row-major n×d) with targets y
// (n×t). Its blocks share their memory, which must not change while in use and is
// never written. Shapes that disagree are [ErrShape], entries that are not finite
// an *[InputError] that names "x" or "y" as its file.
func FromDense(n, d, t int, x, y []float64) (Source, error) {
	if n < 0 || d < 1 || t < 0 || !isProduct(len(x), n, d) || !isProduct(len(y), n, t) {
		return nil, mismatched("%d numbers for %d×%d features, %d for %d×%d targets", len(x), n, d, len(y), n, t)
	}
	if err := finite("x", x, 0, d); err != nil {
		return nil, err
	}
	if err := finite("y", y, 0, t); err != nil {
		return nil, err
	}
	return &memory{Block{N: n, X: x, Y: y}, d, t}, nil
}

// FromMatrix is [FromDense] for matrices of gonum: the n rows of x (n×d) with targets y (n×t; a
// vector is one target), nil for none. A matrix whose rows lie one after the other in memory, as
// those of a *mat.Dense or of some rows of one do, is shared, any other copied. No x, or a y of
// another number of rows, is [ErrShape].
func FromMatrix(x, y mat.Matrix) (Source, error) {
	if rowmajor.IsNil(x) {
		return nil, unfit("no matrix of features")
	}
	n, d := x.Dims()
	if rowmajor.IsNil(y) {
		return FromDense(n, d, 0, rowmajor.Of(x), nil)
	}
	ny, t := y.Dims()
	if ny != n {
		return nil, mismatched("features of %d rows, targets of %d", n, ny)
	}
	return FromDense(n, d, t, rowmajor.Of(x), rowmajor.Of(y))
}

// FromTable is [FromDense] for rows that are to go through an [Encoding]: NaN is a missing value. An
// infinity is an *[InputError].
func FromTable(n, d, t int, x, y []float64) (Source, error) {
	if n < 0 || d < 1 || t < 0 || !isProduct(len(x), n, d) || !isProduct(len(y), n, t) {
		return nil, mismatched("%d numbers for %d×%d columns, %d for %d×%d targets", len(x), n, d, len(y), n, t)
	}
	for i, v := range x {
		if math.IsInf(v, 0) {
			return nil, nonFinite("x", int64(i/d), i%d, v)
		}
	}
	for i, v := range y {
		if math.IsInf(v, 0) {
			return nil, nonFinite("y", int64(i/t), i%t, v)
		}
	}
	return &memory{Block{N: n, X: x, Y: y}, d, t}, nil
}

// FromCSR is [FromDense] for sparse rows. Row pointers that leave the entries or
// decrease, and column indices that are out of range or do not increase within a
// row, are [ErrShape].
func FromCSR(x *engine.CSR, t int, y []float64) (Source, error) {
	if x == nil {
		return nil, unfit("no sparse features")
	}
	if x.Rows < 0 || x.Cols < 1 || t < 0 || len(x.RowPtr)-1 != x.Rows || !isProduct(len(y), x.Rows, t) || len(x.Val) != len(x.ColIdx) {
		return nil, mismatched("%d×%d sparse features with %d row pointers, %d indices and %d values; %d numbers for %d targets",
			x.Rows, x.Cols, len(x.RowPtr), len(x.ColIdx), len(x.Val), len(y), t)
	}
	for i := range x.Rows {
		if err := checkRow(x, i); err != nil {
			return nil, err
		}
	}
	if err := finite("y", y, 0, t); err != nil {
		return nil, err
	}
	return &memory{Block{N: x.Rows, Sparse: x, Y: y}, x.Cols, t}, nil
}

// checkRow holds row i to what engine.CSR promises, and its values to be finite.
func checkRow(x *engine.CSR, i int) error {
	if lo, hi := x.RowPtr[i], x.RowPtr[i+1]; lo < 0 || hi < lo || hi > len(x.Val) {
		return unfit("sparse row %d is entries %d to %d of %d", i+1, lo, hi, len(x.Val))
	}
	idx, val := x.Row(i)
	last := int32(-1)
	for k, j := range idx {
		if j <= last || int(j) >= x.Cols {
			return unfit("sparse row %d has column index %d after %d, of %d columns", i+1, j, last, x.Cols)
		}
		if !isFinite(val[k]) {
			return nonFinite("x", int64(i), int(j), val[k])
		}
		last = j
	}
	return nil
}

// isProduct reports n = a·b for a, b >= 0, whatever their size.
func isProduct(n, a, b int) bool {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return hi == 0 && lo == uint64(n)
}

func (m *memory) Dims() (n int64, d, t int) { return int64(m.whole.N), m.d, m.t }

func (m *memory) BlocksFrom(ctx context.Context, first int64) iter.Seq2[Block, error] {
	ctx = background.IfNil(ctx)
	return func(yield func(Block, error) bool) {
		rows, err := SparseRows, error(nil)
		if m.whole.Sparse == nil {
			rows, err = denseRows(m.d)
		}
		if err != nil {
			yield(Block{}, err)
			return
		}
		var view engine.CSR
		start := m.whole.N
		if first < int64(start) {
			start = int(first) / rows * rows
		}
		for lo := start; lo < m.whole.N; lo += rows {
			if err := ctx.Err(); err != nil {
				yield(Block{}, err)
				return
			}
			if !yield(m.whole.Cut(lo, min(lo+rows, m.whole.N), m.d, m.t, &view), nil) {
				return
			}
		}
	}
}

// InMemory returns all rows of a source that [FromDense] or [FromCSR] has made, as one block
// in its memory, which must not be written to. ok is false for any other source.
func InMemory(src Source) (all Block, ok bool) {
	if m, ok := src.(*memory); ok {
		return m.whole, true
	}
	return Block{}, false
}
