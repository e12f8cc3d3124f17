package ridge_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// dual returns x* = Aᵀ(AAᵀ + γI)⁻¹b from the n×n matrix AAᵀ. A has the rows of x and b the targets y, minus
// their means if centre is true.
func dual(t *testing.T, x *engine.CSR, y []float64, gamma float64, centre bool) []float64 {
	n, d := x.Rows, x.Cols
	a, b := mat.NewDense(n, d, nil), mat.NewVecDense(n, slices.Clone(y))
	mean, level := make([]float64, d), 0.0
	for i := range n {
		idx, val := x.Row(i)
		for k, j := range idx {
			a.Set(i, int(j), val[k])
			mean[j] += val[k] / float64(n)
		}
		level += y[i] / float64(n)
	}
	if centre {
		for i := range n {
			for j, v := range mean {
				a.Set(i, j, a.At(i, j)-v)
			}
			b.SetVec(i, b.AtVec(i)-level)
		}
	}
	var k mat.SymDense
	k.SymOuterK(1, a)
	for i := range n {
		k.SetSym(i, i, k.At(i, i)+gamma)
	}
	var c mat.Cholesky
	if !c.Factorize(&k) {
		t.Fatal("AAᵀ + γI is not positive definite")
	}
	var w, out mat.VecDense
	if err := c.SolveVecTo(&w, b); err != nil {
		t.Fatal(err)
	}
	out.MulVec(a.T(), &w)
	return out.RawVector().Data
}

// TestDual: far more columns than rows, and more than a stage holds 256 rows of. The
// dual solution takes another way to the same weights.
func TestDual(t *testing.T) {
	const n, d = 120, 12000
	x, y := testkit.SparseRows(rand.New(rand.NewPCG(5, 5)), n, d, 40)
	src := testkit.Must(dataset.FromCSR(x, 1, y))(t)
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, intercept := range []bool{false, true} {
			sum := testkit.Summarize(t, src, ridge.SummaryConfig{Size: 20, Intercept: intercept, Backend: be})
			mean := sum.Sketch().Bound().Frobenius2 / n
			gammas := []float64{1e-3 * mean, 1e-2 * mean, 1e-1 * mean}
			fits := testkit.Must(ridge.SolvePath(context.Background(), src, sum, gammas, ridge.SolveOptions{}))(t)
			for i, f := range fits {
				t.Run(fmt.Sprintf("intercept=%v/gamma=%.3g", intercept, gammas[i]), func(t *testing.T) {
					want := dual(t, x, y, gammas[i], intercept)
					var far, size float64
					for j, v := range want {
						far, size = math.Hypot(far, v-f.Targets[0].Coef[j]), math.Hypot(size, v)
					}
					if bound := f.Targets[0].RelativeErrorBound; !(bound <= 1e-8) || !(far <= bound*size+1e-13*size) {
						t.Errorf("relative error %g, certified %g", far/size, bound)
					}
				})
			}
		}
	})
}

// TestStageRows: the number of rows of a stage depends only on the number of columns and on whether rows are sparse. So
// blocks of whole stages give the same summary as one block of all rows.
func TestStageRows(t *testing.T) {
	const n, d = 600, 12000
	x, y := testkit.SparseRows(rand.New(rand.NewPCG(6, 6)), n, d, 10)
	all := dataset.Block{N: n, Sparse: x, Y: y}
	dense := dataset.Block{N: n, Y: y, X: make([]float64, n*d)}
	for i := range n {
		idx, val := x.Row(i)
		for k, j := range idx {
			dense.X[i*d+int(j)] = val[k]
		}
	}
	for what, c := range map[string]struct {
		all  dataset.Block
		step int // rows of a stage
	}{"sparse": {all, 256}, "dense": {dense, (16 << 20) / 8 / d}} {
		cfg := ridge.SummaryConfig{Dim: d, Size: 8, Intercept: true}
		whole, parts := testkit.Must(ridge.NewSummary(cfg))(t), testkit.Must(ridge.NewSummary(cfg))(t)
		if err := whole.AppendBlock(c.all); err != nil {
			t.Fatal(err)
		}
		for lo := 0; lo < n; lo += 2 * c.step {
			if err := parts.AppendBlock(c.all.Cut(lo, min(lo+2*c.step, n), d, 1, new(engine.CSR))); err != nil {
				t.Fatal(err)
			}
		}
		a, b := testkit.Must(whole.Fit(1))(t), testkit.Must(parts.Fit(1))(t)
		if !mat.Equal(a.Coef(), b.Coef()) || a.Targets[0].Intercept != b.Targets[0].Intercept {
			t.Errorf("%s: the same rows in other blocks have other weights", what)
		}
	}
}
