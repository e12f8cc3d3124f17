package dataset

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/fdridge/fdridge/engine"
)

// memory is a source over data in memory, which its blocks share.
type memory struct {
	n, d, t int
	x       []float64 // nil when sparse
	sparse  *engine.CSR
	y       []float64
}

// FromDense returns a source of the n rows of x (row-major n×d) with targets y
// (n×t), in one block that shares their memory. Shapes that disagree are
// [ErrShape], entries that are not finite an *[InputError] that names "x" or "y"
// as its file, the row as its line and the column (1-based).
func FromDense(n, d, t int, x, y []float64) (Source, error) {
	if n < 0 || d < 1 || t < 0 || len(x) != n*d || len(y) != n*t {
		return nil, fmt.Errorf("%w: %d numbers for %d×%d features, %d for %d×%d targets", ErrShape, len(x), n, d, len(y), n, t)
	}
	if err := allFinite("x", x, d); err != nil {
		return nil, err
	}
	if err := allFinite("y", y, t); err != nil {
		return nil, err
	}
	return &memory{n: n, d: d, t: t, x: x, y: y}, nil
}

// FromCSR is [FromDense] for sparse rows.
func FromCSR(x *engine.CSR, t int, y []float64) (Source, error) {
	if x.Cols < 1 || t < 0 || len(x.RowPtr) != x.Rows+1 || len(y) != x.Rows*t || len(x.Val) != len(x.ColIdx) {
		return nil, fmt.Errorf("%w: %d×%d sparse features, %d numbers for %d targets", ErrShape, x.Rows, x.Cols, len(y), t)
	}
	if err := allFinite("x", x.Val, max(1, len(x.Val))); err != nil {
		return nil, err
	}
	if err := allFinite("y", y, t); err != nil {
		return nil, err
	}
	return &memory{n: x.Rows, d: x.Cols, t: t, sparse: x, y: y}, nil
}

func allFinite(name string, x []float64, cols int) error {
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &InputError{File: name, Line: i/cols + 1, Column: i%cols + 1, Msg: fmt.Sprintf("%v is not finite", v), NonFinite: true}
		}
	}
	return nil
}

func (m *memory) Dims() (n int64, d, t int) { return int64(m.n), m.d, m.t }

func (m *memory) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(Block{}, err)
			return
		}
		if m.n > 0 {
			yield(Block{N: m.n, X: m.x, Sparse: m.sparse, Y: m.y}, nil)
		}
	}
}
