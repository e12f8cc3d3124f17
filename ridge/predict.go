package ridge

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/vec"
)

// Predict returns the predictions X·Coefᵀ plus the intercepts, n×t, for the samples X in x (n×d). The error is
// [ErrShape] if x is nil or does not have d columns.
func (s *Solution) Predict(x mat.Matrix) (*mat.Dense, error) {
	t, d := s.Dims()
	if vec.IsNilMatrix(x) {
		return nil, fmt.Errorf("%w: no matrix", errShape)
	}
	n, cols := x.Dims()
	if cols != d || d == 0 || !s.hasShape(t, d) {
		return nil, fmt.Errorf(
			"%w: the samples have %d features, but the solution has %d features and %d targets",
			errShape,
			cols,
			d,
			t,
		)
	}
	if n == 0 {
		return &mat.Dense{}, nil
	}
	out := mat.NewDense(n, t, nil)
	row := make([]float64, d)
	for i := range n {
		if err := s.PredictRow(out.RawRowView(i), mat.Row(row, i, x)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// PredictRow is like [Solution.Predict] for one sample x of length d. It writes the predictions to yhat, of
// length t, and allocates nothing. The error is [ErrShape] if a length differs.
func (s *Solution) PredictRow(yhat, x []float64) error {
	if t, d := s.Dims(); len(x) != d || len(yhat) != t {
		return errShape
	}
	for j := range s.Targets {
		t := &s.Targets[j]
		if len(t.Coef) != len(x) {
			return errShape
		}
		y := t.Intercept
		for k, w := range t.Coef {
			y += w * x[k]
		}
		yhat[j] = y
	}
	return nil
}

// PredictSparse is like [Solution.PredictRow] for a sparse sample with entries val[k] in columns idx[k]. It
// gives the same bits as PredictRow in O(len(idx)) time per target. The error is [ErrShape] if a column is
// invalid or a length differs.
func (s *Solution) PredictSparse(yhat []float64, idx []int32, val []float64) error {
	t, d := s.Dims()
	if len(idx) != len(val) ||
		len(yhat) != t ||
		!s.hasShape(t, d) {
		return errShape
	}
	for _, j := range idx {
		if j < 0 || int(j) >= d {
			return errShape
		}
	}
	for i := range s.Targets {
		t := &s.Targets[i]
		y := t.Intercept
		for k, j := range idx {
			y += t.Coef[j] * val[k]
		}
		yhat[i] = y
	}
	return nil
}

// PredictMatrix returns the intervals of [Predictor.Predict] for the samples in x (n×d). The interval of sample i and
// target j is element i·t + j. The error is [ErrShape] if x is nil or does not have d columns.
func (p *Predictor) PredictMatrix(x mat.Matrix) ([]Interval, error) {
	if vec.IsNilMatrix(x) {
		return nil, fmt.Errorf("%w: no matrix", errShape)
	}
	n, d := x.Dims()
	if d != p.d && n > 0 {
		return nil, fmt.Errorf("%w: the samples have %d features, but the predictor has %d", errShape, d, p.d)
	}
	out := make([]Interval, n*p.t)
	if err := p.Predict(out, dataset.Block{N: n, X: vec.OfMatrix(x)}); err != nil {
		return nil, err
	}
	return out, nil
}
