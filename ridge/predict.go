package ridge

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/vec"
)

// Predict returns the predictions of s for n samples, the rows of x. Row i of the n×t result has the predictions of
// the t targets for sample i. Each is the product of the sample and the coefficients, plus the intercept. The error
// is [ErrShape] if x is nil or does not have one column for each feature.
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

// PredictRow computes the predictions of [Solution.Predict] for one sample x, without allocating memory. It writes
// one prediction for each target to yhat. The error is [ErrShape] if x or yhat has the wrong length.
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

// PredictSparse computes the predictions of [Solution.PredictRow] for a sparse sample with the entries val[k] in
// the columns idx[k]. It takes O(len(idx)) time per target, and its results have the same bits. The error is
// [ErrShape] if a column is invalid or a slice has the wrong length.
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

// PredictMatrix returns the intervals of [Predictor.Predict] for the samples in the rows of x. With t targets,
// element i·t + j of the result is the interval for sample i and target j. The error is [ErrShape] if x is nil or
// does not have one column for each feature.
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
