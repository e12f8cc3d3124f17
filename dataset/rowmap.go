package dataset

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/vec"
)

// A RowMap applies a [Scaling] and [Features] to single rows, for example to the requests of a service. The results
// equal the rows of the transformed [Source] to the last bit. Only one goroutine at a time may use a RowMap.
type RowMap struct {
	in, out int
	steps   []rowStep
}

// rowStep is one transform of a RowMap, with memory for a transformed row.
type rowStep struct {
	of    *transformed
	apply applier
	row   Buffer
}

// NewRowMap returns a RowMap that applies the steps, in order, to rows of d columns. Each step maps a source to a
// source, as in this example:
//
//	dataset.NewRowMap(8, scaling.Apply, func(src dataset.Source) (dataset.Source, error) {
//		return fourier.Apply(src, nil)
//	})
//
// A step must transform each row on its own, like Apply of [Scaling] and of [Features]. Otherwise the error is
// [ErrInput]. NewRowMap also returns errors of the steps.
func NewRowMap(d int, steps ...func(Source) (Source, error)) (*RowMap, error) {
	if d < 1 {
		return nil, newSourceError("a row map needs at least one column, got %d", d)
	}
	input := &memory{d: d}
	var src Source = input
	for _, step := range steps {
		var err error
		src, err = step(src)
		if err != nil {
			return nil, err
		}
	}
	m := &RowMap{in: d, out: d}
	var chain []*transformed // last step first
	for src != Source(input) {
		s, ok := src.(*transformed)
		if !ok {
			return nil, errtext.BadInput("dataset: %T does not work row by row, as scalings and features do", src)
		}
		chain = append(chain, s)
		src = s.src
	}
	for i := len(chain) - 1; i >= 0; i-- {
		m.steps = append(m.steps, rowStep{of: chain[i], apply: chain[i].start()})
		m.out = chain[i].d
	}
	return m, nil
}

// Dims returns the number of columns before and after the map.
func (m *RowMap) Dims() (in, out int) { return m.in, m.out }

// Row maps the row x to dst. If the length of x or dst is wrong, the error is [ErrShape]. If a number in x or in
// the result is not finite, the error is an *[InputError], and dst is unchanged. Only the first call allocates
// memory.
func (m *RowMap) Row(dst, x []float64) error { return m.row(0, dst, x) }

func (m *RowMap) row(i int64, dst, x []float64) error {
	if len(x) != m.in || len(dst) != m.out {
		return newDimensionError(
			"the row has %d columns and dst %d, the map goes from %d to %d",
			len(x),
			len(dst),
			m.in,
			m.out,
		)
	}
	if err := checkFinite("x", x, i, max(m.in, 1)); err != nil {
		return err
	}
	for k := range m.steps {
		s := &m.steps[k]
		s.row.Reset()
		s.row.N = 1
		if err := s.of.run(s.apply, Block{First: i, N: 1, X: x}, &s.row); err != nil {
			return err
		}
		x = s.row.X
	}
	copy(dst, x)
	return nil
}

// Matrix maps each row of x to a row of a new matrix. If x is nil, the error is [ErrShape]. Other errors are as in
// Row, and contain the number of the row.
func (m *RowMap) Matrix(x mat.Matrix) (*mat.Dense, error) {
	if vec.IsNilMatrix(x) {
		return nil, newSourceError("the matrix is nil")
	}
	n, d := x.Dims()
	if n == 0 {
		return &mat.Dense{}, nil
	}
	if d != m.in || m.out == 0 {
		return nil, newDimensionError("the matrix has %d columns, the map takes %d", d, m.in)
	}
	rows := vec.OfMatrix(x)
	out := mat.NewDense(n, m.out, nil)
	for i := range n {
		row := rows[i*d : (i+1)*d]
		if err := m.row(int64(i), out.RawRowView(i), row); err != nil {
			return nil, fmt.Errorf("row %d: %w", i+1, err)
		}
	}
	return out, nil
}
