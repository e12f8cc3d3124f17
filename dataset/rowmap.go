package dataset

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/rowmajor"
)

// A RowMap makes of rows at hand what a [Scaling] and [Features] make of those of a [Source], to the
// bit, with neither a source nor a goroutine: what a service has to do with a row that came in. W of
// Fourier features is drawn once, when the map is made. It keeps workspace: one goroutine at a time
// may use it.
type RowMap struct {
	in, out int
	steps   []rowStep
}

// rowStep is one of the transforms, and the row that comes out.
type rowStep struct {
	of    *transformed
	apply applier
	row   Buffer
}

// NewRowMap returns the map that these make one after the other, for rows of d columns. Each is
// given a source and returns what it makes of it:
//
//	dataset.NewRowMap(8, scaling.Apply, func(src dataset.Source) (dataset.Source, error) { return fourier.Apply(src, nil) })
//
// Errors are those of the steps; one that does more than [Scaling.Apply] and the Apply of
// [Features], which go row by row, is [ErrInput].
func NewRowMap(d int, steps ...func(Source) (Source, error)) (*RowMap, error) {
	if d < 1 {
		return nil, unfit("rows of %d columns", d)
	}
	first := &memory{d: d}
	var src Source = first
	for _, step := range steps {
		var err error
		if src, err = step(src); err != nil {
			return nil, err
		}
	}
	m := &RowMap{in: d, out: d}
	var chain []*transformed // the last comes first
	for src != Source(first) {
		s, ok := src.(*transformed)
		if !ok {
			return nil, badinput.Errorf("dataset: %T does not go row by row, as scalings and features do", src)
		}
		chain, src = append(chain, s), s.src
	}
	for i := len(chain) - 1; i >= 0; i-- {
		apply, _ := chain[i].start() // of which none has anything to end
		m.steps = append(m.steps, rowStep{of: chain[i], apply: apply})
		m.out = chain[i].d
	}
	return m, nil
}

// Dims returns the number of columns that go in, and of those that come out.
func (m *RowMap) Dims() (in, out int) { return m.in, m.out }

// Row overwrites dst with what is made of the row x. Other lengths than those of Dims are
// [ErrShape]; a number that is not finite, in x or of what is made of it, is an *[InputError], and
// dst is then as it was. It allocates nothing from the second row on.
func (m *RowMap) Row(dst, x []float64) error { return m.row(0, dst, x) }

func (m *RowMap) row(i int64, dst, x []float64) error {
	if len(x) != m.in || len(dst) != m.out {
		return mismatched("a row of %d columns, of which %d are to be made, for a map of %d to %d", len(x), len(dst), m.in, m.out)
	}
	if err := finite("x", x, i, max(m.in, 1)); err != nil {
		return err
	}
	for k := range m.steps {
		s := &m.steps[k]
		s.row.Reset()
		s.row.N = 1
		known, err := s.apply(Block{First: i, N: 1, X: x}, &s.row)
		if err == nil && !known {
			err = s.of.check(i, &s.row)
		}
		if err != nil {
			return err
		}
		x = s.row.X
	}
	copy(dst, x)
	return nil
}

// Matrix returns what is made of the rows of x (n×d), as a matrix of a row for each. Errors are
// those of Row and name the row; no matrix is [ErrShape].
func (m *RowMap) Matrix(x mat.Matrix) (*mat.Dense, error) {
	if rowmajor.IsNil(x) {
		return nil, unfit("no matrix")
	}
	n, d := x.Dims()
	if n == 0 {
		return &mat.Dense{}, nil
	}
	if d != m.in || m.out == 0 {
		return nil, mismatched("a matrix of %d columns for a map of %d", d, m.in)
	}
	rows, out := rowmajor.Of(x), mat.NewDense(n, m.out, nil)
	for i := range n {
		if err := m.row(int64(i), out.RawRowView(i), rows[i*d:(i+1)*d]); err != nil {
			return nil, fmt.Errorf("row %d: %w", i+1, err)
		}
	}
	return out, nil
}
