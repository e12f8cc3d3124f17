package ridge

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
)

// blockOf makes a block of the rows of x with targets y.
func blockOf(cfg SummaryConfig, x, y mat.Matrix, weights []float64) (dataset.Block, error) {
	if isNil(x) || isNil(y) {
		return dataset.Block{}, fmt.Errorf("%w: x or y is nil", errShape)
	}
	n, d := x.Dims()
	ny, t := y.Dims()
	if n != ny || d != cfg.Dim || t != cfg.Targets {
		return dataset.Block{}, fmt.Errorf("%w: x is %d×%d, y is %d×%d, the summary has %d features and %d targets", errShape, n, d, ny, t, cfg.Dim, cfg.Targets)
	}
	return dataset.Block{N: n, X: packed(x), Y: packed(y), W: weights}, nil
}

// isNil reports that there is no matrix.
func isNil(x mat.Matrix) bool {
	dense, ok := x.(*mat.Dense)
	return x == nil || ok && dense == nil
}

// packed returns the rows of x without gaps between them, x's own memory where
// it already is so.
func packed(x mat.Matrix) []float64 {
	r, c := x.Dims()
	if raw, ok := x.(mat.RawMatrixer); ok {
		if g := raw.RawMatrix(); g.Stride == c {
			return g.Data[:r*c]
		}
	}
	out := make([]float64, r*c)
	for i := range r {
		for j := range c {
			out[i*c+j] = x.At(i, j)
		}
	}
	return out
}
