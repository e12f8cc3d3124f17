package dataset

import (
	"context"
	"iter"
	"math"
	"math/bits"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
)

// memory is a source of rows in memory. Its blocks share this memory.
type memory struct {
	whole Block
	d, t  int
}

// FromDense returns a source of n rows. The features x are n×d and the targets y are n×t, both row-major. The
// source shares the memory of x and y, which must not change while it is in use. If dimensions disagree, the error
// is [ErrShape]. If an entry is not finite, the error is an *[InputError] with File "x" or "y".
func FromDense(n, d, t int, x, y []float64) (Source, error) {
	if n < 0 ||
		d < 1 ||
		t < 0 ||
		!isProduct(len(x), n, d) ||
		!isProduct(len(y), n, t) {
		return nil, newDimensionError(
			"x has %d numbers for %d×%d features, y has %d for %d×%d targets",
			len(x),
			n,
			d,
			len(y),
			n,
			t,
		)
	}
	if err := checkFinite("x", x, 0, d); err != nil {
		return nil, err
	}
	if err := checkFinite("y", y, 0, t); err != nil {
		return nil, err
	}
	return &memory{Block{N: n, X: x, Y: y}, d, t}, nil
}

// FromMatrix returns a source of rows. Row i of x holds the features, and row i of y the targets. If y is nil,
// there are no targets. The source shares the memory of a matrix whose rows are contiguous, such as most
// *mat.Dense, and copies other matrices. Errors are as in [FromDense]. If x is nil, the error is [ErrShape].
func FromMatrix(x, y mat.Matrix) (Source, error) {
	if vec.IsNilMatrix(x) {
		return nil, newSourceError("no matrix of features")
	}
	n, d := x.Dims()
	if vec.IsNilMatrix(y) {
		return FromDense(n, d, 0, vec.OfMatrix(x), nil)
	}
	ny, t := y.Dims()
	if ny != n {
		return nil, newDimensionError("the features have %d rows, the targets %d", n, ny)
	}
	return FromDense(n, d, t, vec.OfMatrix(x), vec.OfMatrix(y))
}

// FromTable returns a source of n rows, in which NaN is a missing value. The features x are n×d and the targets y
// are n×t, both row-major. Package prepare encodes such rows. An infinite entry is an *[InputError]. Memory and
// other errors are as in [FromDense].
func FromTable(n, d, t int, x, y []float64) (Source, error) {
	if n < 0 ||
		d < 1 ||
		t < 0 ||
		!isProduct(len(x), n, d) ||
		!isProduct(len(y), n, t) {
		return nil, newDimensionError(
			"x has %d numbers for %d×%d columns, y has %d for %d×%d targets",
			len(x),
			n,
			d,
			len(y),
			n,
			t,
		)
	}
	for i, v := range x {
		if math.IsInf(v, 0) {
			return nil, newNonFiniteError("x", int64(i/d), i%d, v)
		}
	}
	for i, v := range y {
		if math.IsInf(v, 0) {
			return nil, newNonFiniteError("y", int64(i/t), i%t, v)
		}
	}
	return &memory{Block{N: n, X: x, Y: y}, d, t}, nil
}

// FromCSR returns a source of the sparse rows of x, with dense targets y of t numbers per row. The source shares
// the memory of x and y, which must not change while it is in use. If an entry is not finite, the error is an
// *[InputError]. The error is [ErrShape] in these cases:
//
//   - Row pointers decrease or are out of range.
//   - The column indices of a row do not increase or are out of range.
//   - The lengths of the slices do not fit the numbers of rows and columns.
func FromCSR(x *engine.CSR, t int, y []float64) (Source, error) {
	if x == nil {
		return nil, newSourceError("the sparse features are nil")
	}
	if x.Rows < 0 ||
		x.Cols < 1 ||
		t < 0 ||
		len(x.RowPtr)-1 != x.Rows ||
		!isProduct(len(y), x.Rows, t) ||
		len(x.Val) != len(x.ColIdx) {
		return nil, newDimensionError(
			"%d×%d sparse features with %d row pointers, %d indices and %d values; %d numbers for %d targets",
			x.Rows,
			x.Cols,
			len(x.RowPtr),
			len(x.ColIdx),
			len(x.Val),
			len(y),
			t,
		)
	}
	for i := range x.Rows {
		if err := checkRow(x, i); err != nil {
			return nil, err
		}
	}
	if err := checkFinite("y", y, 0, t); err != nil {
		return nil, err
	}
	return &memory{Block{N: x.Rows, Sparse: x, Y: y}, x.Cols, t}, nil
}

// checkRow returns an error if the row pointers or the column indices of row i are invalid, or if one of its values
// is not finite.
func checkRow(x *engine.CSR, i int) error {
	if lo, hi := x.RowPtr[i], x.RowPtr[i+1]; lo < 0 || hi < lo || hi > len(x.Val) {
		return newSourceError("sparse row %d is entries %d to %d of %d", i+1, lo, hi, len(x.Val))
	}
	idx, val := x.Row(i)
	last := int32(-1)
	for k, j := range idx {
		if j <= last || int(j) >= x.Cols {
			return newSourceError("sparse row %d has column index %d after %d, of %d columns", i+1, j, last, x.Cols)
		}
		if !vec.IsFinite(val[k]) {
			return newNonFiniteError("x", int64(i), int(j), val[k])
		}
		last = j
	}
	return nil
}

// isProduct reports whether n = a·b, for a, b ≥ 0. The result is right even if a·b overflows.
func isProduct(n, a, b int) bool {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return hi == 0 && lo == uint64(n)
}

func (m *memory) Dims() (n int64, d, t int) {
	return int64(m.whole.N), m.d, m.t
}

func (m *memory) BlocksFrom(ctx context.Context, firstRow int64) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		rows := SparseRows
		err := error(nil)
		if m.whole.Sparse == nil {
			rows, err = denseRows(m.d)
		}
		if err != nil {
			yield(Block{}, err)
			return
		}
		var view engine.CSR
		start := m.whole.N
		if firstRow < int64(start) {
			start = int(firstRow) / rows * rows
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

// InMemory returns all rows of a source from [FromDense], [FromMatrix], [FromTable] or [FromCSR] as one block,
// which must not be changed. The result ok is false for a source of any other kind.
func InMemory(src Source) (all Block, ok bool) {
	if m, ok := src.(*memory); ok {
		return m.whole, true
	}
	return Block{}, false
}
