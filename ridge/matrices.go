package ridge

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/vec"
)

func blockOf(cfg SummaryConfig, x, y mat.Matrix, weights []float64) (dataset.Block, error) {
	if vec.IsNilMatrix(x) || vec.IsNilMatrix(y) {
		return dataset.Block{}, fmt.Errorf("%w: x or y is nil", errShape)
	}
	n, d := x.Dims()
	ny, t := y.Dims()
	if n != ny || d != cfg.Dim || t != cfg.Targets {
		return dataset.Block{}, fmt.Errorf(
			"%w: x is %d×%d and y is %d×%d, but the summary has %d features and %d targets",
			errShape,
			n,
			d,
			ny,
			t,
			cfg.Dim,
			cfg.Targets,
		)
	}
	return dataset.Block{
		N: n,
		X: vec.OfMatrix(x),
		Y: vec.OfMatrix(y),
		W: weights,
	}, nil
}
