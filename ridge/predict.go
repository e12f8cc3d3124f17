package ridge

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/rowmajor"
)

// Predict returns the predictions for the samples in x (n×d, each row is one): X·Coefᵀ,
// and the intercepts, n×t. An x of other dimensions, or nil, is [ErrShape].
func (s *Solution) Predict(x mat.Matrix) (*mat.Dense, error) {
	t, d := s.Dims()
	if rowmajor.IsNil(x) {
		return nil, fmt.Errorf("%w: no matrix", errShape)
	}
	n, cols := x.Dims()
	if cols != d || d == 0 || !s.hasShape(t, d) {
		return nil, fmt.Errorf("%w: samples of %d features, the solution has %d and %d targets", errShape, cols, d, t)
	}
	if n == 0 {
		return &mat.Dense{}, nil
	}
	out, row := mat.NewDense(n, t, nil), make([]float64, d)
	for i := range n {
		if err := s.PredictRow(out.RawRowView(i), mat.Row(row, i, x)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// PredictRow is [Solution.Predict] for one sample x (length d): it overwrites yhat (length
// t), and allocates nothing. Other lengths are [ErrShape].
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

// PredictSparse is [Solution.PredictRow] for a sample that is zero but for val[k] in column idx[k]:
// it takes O(len(idx)) for each target, and comes to the same bits. Columns that there are not, and
// other lengths, are [ErrShape].
func (s *Solution) PredictSparse(yhat []float64, idx []int32, val []float64) error {
	t, d := s.Dims()
	if len(idx) != len(val) || len(yhat) != t || !s.hasShape(t, d) {
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

// PredictMatrix is [Predictor.Predict] for the samples in x (n×d, each row is one): it returns the
// interval of sample i and target j at i·t + j. An x of other dimensions, or nil, is [ErrShape].
func (p *Predictor) PredictMatrix(x mat.Matrix) ([]Interval, error) {
	if rowmajor.IsNil(x) {
		return nil, fmt.Errorf("%w: no matrix", errShape)
	}
	n, d := x.Dims()
	if d != p.d && n > 0 {
		return nil, fmt.Errorf("%w: samples of %d features, the predictor has %d", errShape, d, p.d)
	}
	out := make([]Interval, n*p.t)
	if err := p.Predict(out, dataset.Block{N: n, X: rowmajor.Of(x)}); err != nil {
		return nil, err
	}
	return out, nil
}
