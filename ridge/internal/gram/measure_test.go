package gram

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/internal/verify/refbig"
)

// measuredRows are rows that are far from zero beside their spread, with weights or without.
type measuredRows struct {
	x, y   [][]float64
	w      []float64
	sparse *engine.CSR // nil where they are dense
	source dataset.Source
	mean   []float64 // of features and target, about
	weight float64
}

func newMeasuredRows(t *testing.T, rng *rand.Rand, weighted, sparse bool) *measuredRows {
	t.Helper()
	const n, d = 70, 3
	r := &measuredRows{mean: make([]float64, d+1)}
	var x, y []float64
	csr := &engine.CSR{Rows: n, Cols: d, RowPtr: []int{0}}
	for range n {
		row := make([]float64, d)
		for j := range row {
			row[j] = 1e5 + rng.NormFloat64()
			csr.ColIdx, csr.Val = append(csr.ColIdx, int32(j)), append(csr.Val, row[j])
		}
		csr.RowPtr = append(csr.RowPtr, len(csr.Val))
		w := 1.0
		if weighted {
			w = 4 * rng.ExpFloat64()
			r.w = append(r.w, w)
		}
		target := 1e3 + rng.NormFloat64()
		r.x, r.y = append(r.x, row), append(r.y, []float64{target})
		x, y = append(x, row...), append(y, target)
		r.weight += w
		for j, v := range append(row[:d:d], target) {
			r.mean[j] += w * v
		}
	}
	for j := range r.mean {
		r.mean[j] /= r.weight
	}
	var err error
	r.source, err = dataset.FromDense(n, d, 1, x, y)
	if sparse && err == nil {
		r.sparse = csr
		r.source, err = dataset.FromCSR(csr, 1, y)
	}
	if err == nil && weighted {
		var weights dataset.Source
		weights, err = dataset.FromDense(n, 1, 0, r.w, nil)
		if err == nil {
			r.source, err = dataset.Weigh(r.source, weights)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestMeasurement: for rows far from zero, the gradients at x and at x + l are within their bounds and Aᵀδ of the
// exact gradients. RSS and Shift are within their bounds to the last digit.
func TestMeasurement(t *testing.T) {
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	const gamma = 0.5
	for _, intercept := range []bool{false, true} {
		for _, weighted := range []bool{false, true} {
			for _, sparse := range []bool{false, true} {
				t.Run(
					fmt.Sprintf("intercept %v, weighted %v, sparse %v", intercept, weighted, sparse),
					func(t *testing.T) {
						rng := rand.New(rand.NewPCG(8, 17))
						r := newMeasuredRows(t, rng, weighted, sparse)
						of := Rows{Source: r.source, Count: int64(len(r.x)), Weight: r.weight}
						if intercept {
							of.Mean = r.mean
						}
						o, err := New(of, be, nil, nil)
						if err != nil {
							t.Fatal(err)
						}
						d := len(r.x[0])
						v, rss := make([]float64, 2*d), make([]float64, 2)
						for j := range d {
							v[j], v[d+j] = rng.NormFloat64(), 0x1p-54*rng.NormFloat64()
						}
						found, err := o.Apply(
							t.Context(),
							[]Query{{Affine: true, Precise: true, Gamma: gamma}, {Precise: true, Gamma: gamma}},
							v,
							make([]float64, 2*d),
							rss,
							nil,
						)
						if err != nil {
							t.Fatal(err)
						}
						ref := refbig.New(r.x, r.y, r.w, intercept)
						at := found[0]
						squares, off := at.RSS.Round()
						hold(t, "RSS", squares, off, ref.RSS(0, v[:d]))
						var shift []float64
						if intercept {
							shift = []float64{r.mean[d]}
							mean := new(big.Float).Neg(ref.MeanY[0])
							for j, x := range v[:d] {
								shift[0] -= r.mean[j] * x
								mean.Add(mean, new(big.Float).Mul(ref.MeanX[j], refbig.Float(x)))
							}
							hold(t, "Shift", at.Shift.Hi, at.Shift.Err+math.Abs(at.Shift.Lo), mean)
						}
						columns := make([]float64, d) // ‖aⱼ‖
						for j := range columns {
							k, _ := ref.K[j][j].Float64()
							columns[j] = math.Sqrt(k)
						}
						g, low := ref.Gradient(gamma, 0, v[:d]), ref.Gradient(gamma, 0, v[d:])
						for j := range d {
							hold(t, "gradient, rounded", at.Gradient[j], at.Rounded()[j]+columns[j]*at.Residual, g[j])
							both := new(big.Float).Sub(g[j], refbig.Float(at.Low[j]))
							hold(t, "gradient", at.Gradient[j], at.Bounds[j]+columns[j]*at.Residual, both)
							if !(at.Bounds[j] <= 0x1p-60*math.Abs(at.Gradient[j])) {
								t.Errorf(
									"a gradient of %g and %g beside is off by %g at most",
									at.Gradient[j],
									at.Low[j],
									at.Bounds[j],
								)
							}
						}
						if lost := r.lost(be, v[:d], shift); !(at.Residual >= 0.9*lost) || !(at.Residual <= 1.1*lost) {
							t.Errorf("‖δ‖ is %g at most by the backend, %g is said", lost, at.Residual)
						}
						if intercept &&
							!(vec.Norm(columns)*at.Residual < 1e-2*r.mean[0]*math.Sqrt(r.weight)*at.Residual) {
							t.Errorf("columns %v are not far from zero", columns)
						}
						at.Add(found[1])
						for j := range d {
							low[j].Add(low[j], ref.C[0][j]) // of the product with l alone
							both := new(big.Float).Sub(new(big.Float).Add(g[j], low[j]), refbig.Float(at.Low[j]))
							hold(t, "gradient at x + l", at.Gradient[j], at.Bounds[j]+columns[j]*at.Residual, both)
						}
					},
				)
			}
		}
	}
}

// hold checks that v is within off of want, and off no more than twice the digits may be.
func hold(t *testing.T, what string, v, off float64, want *big.Float) {
	t.Helper()
	diff, _ := new(big.Float).Sub(refbig.Float(v), want).Float64()
	size, _ := want.Float64()
	if !(math.Abs(diff) <= off) || !(off <= 0x1p-52*math.Abs(size)) {
		t.Errorf("%s is %g, off by %g, its bound is %g", what, v, diff, off)
	}
}

// lost is the norm of √w times what the backend says that residuals may be off by.
func (r *measuredRows) lost(be engine.Backend, x, shift []float64) float64 {
	n, d := len(r.x), len(x)
	zeros := func(rows, cols int) engine.Matrix { return engine.View(rows, cols, make([]float64, rows*cols)) }
	g := engine.Twofold{Hi: zeros(1, d), Lo: zeros(1, d), Err: zeros(1, d)}
	found := engine.Twofold{Hi: zeros(n, 1), Lo: zeros(n, 1), Err: zeros(n, 1)}
	var a, b []float64
	for i := range r.x {
		a, b = append(a, r.x[i]...), append(b, r.y[i]...)
	}
	if r.sparse != nil {
		r.sparse.GradientTwofold(engine.View(1, d, x), engine.View(n, 1, b), shift, nil, g, found)
	} else {
		be.GradientTwofold(engine.View(n, d, a), engine.View(1, d, x), engine.View(n, 1, b), shift, nil, g, found)
	}
	for i, w := range r.w {
		found.Err.Data[i] *= math.Sqrt(w)
	}
	return vec.Norm(found.Err.Data)
}
