//go:build unix

package readonly

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// TestRidge: features, targets, weights and sparse entries in memory that
// cannot be written, through summaries, every solver, cross-validation, scores and
// predictions, and the transforms of a source.
func TestRidge(t *testing.T) {
	ctx := context.Background()
	enginetest.EachKernel(t, func(t *testing.T, be engine.Backend) {
		const n, d, k = 50, 5, 2
		rng := rand.New(rand.NewPCG(3, 1))
		x, y, weight := normals(rng, n*d), normals(rng, n*k), make([]float64, n)
		ptr, idx := make([]int, n+1), make([]int32, n*d)
		for i := range n {
			weight[i], ptr[i+1] = float64(i%4)*rng.Float64(), (i+1)*d
			for j := range d {
				idx[i*d+j] = int32(j)
				y[i*k] += x[i*d+j]
			}
		}
		x, y = Slice(t, x), Slice(t, y)
		w := Slice(t, weight)
		csr := &engine.CSR{Rows: n, Cols: d, RowPtr: Slice(t, ptr), ColIdx: Slice(t, idx), Val: x}
		dense := must(dataset.FromDense(n, d, k, x, y))(t)
		weights := must(dataset.FromDense(n, 1, 0, w, nil))(t)
		sparse := must(dataset.FromCSR(csr, k, y))(t)
		scaled, _, err := dataset.Standardize(ctx, dense)
		check(t, err)
		for name, src := range map[string]dataset.Source{
			"dense":                dense,
			"sparse":               sparse,
			"weighted":             must(dataset.Weigh(dense, weights))(t),
			"weighted sparse rows": must(dataset.Weigh(sparse, weights))(t),
			"scaled":               scaled,
			"rows":                 must(dataset.Rows(dense, 3, 47))(t),
			"fourier":              must(dataset.Fourier{Components: 7, Gamma: 0.1}.Apply(dense, be))(t),
		} {
			for _, intercept := range []bool{false, true} {
				cfg := ridge.SummaryConfig{Size: 3, ShrinkRows: 2, Intercept: intercept, Backend: be}
				sum := must(ridge.Summarize(ctx, src, cfg, nil))(t)
				for _, method := range []ridge.Method{ridge.CG, ridge.Newton} {
					_, err := ridge.SolvePath(ctx, src, sum, []float64{10, 100}, ridge.SolveOptions{Method: method})
					var left *ridge.NotConvergedError
					if err != nil && !errors.As(err, &left) {
						t.Errorf("%s: %v: %v", name, method, err)
					}
				}
				for _, factor := range []ridge.Method{ridge.Cholesky, ridge.QR, ridge.Tridiagonal} {
					must(
						ridge.SolveExact(
							ctx,
							src,
							[]float64{10},
							ridge.ExactOptions{Method: factor, Intercept: intercept, Backend: be},
						),
					)(
						t,
					)
				}
				must(choose.CrossValidate(ctx, src, cfg, choose.CrossValidation{Folds: 3, Exact: true}))(t)
				predictor := must(sum.Predictor(10))(t)
				for b, err := range src.Blocks(ctx) {
					check(t, err)
					check(t, predictor.Predict(make([]ridge.Interval, b.N*k), b))
				}
			}
		}
		// Matrices with gaps between their rows, and transposed ones.
		sum := must(ridge.NewSummary(ridge.SummaryConfig{Dim: d - 1, Size: 2, Backend: be}))(t)
		part := mat.NewDense(n, d, x).Slice(0, n, 1, d)
		check(t, sum.Append(part, mat.NewDense(n, k, y).Slice(0, n, 0, 1), w))
		check(
			t,
			sum.Append(mat.NewDense(d, n, x).Slice(1, d, 0, n).T(), mat.NewDense(k, n, y).Slice(0, 1, 0, n).T(), w),
		)
	})
}
