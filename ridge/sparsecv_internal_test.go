package ridge

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/refbig"
)

// drawSparse are n sparse rows of d features, weighted or not, and the same as dense ones.
func drawSparse(t *testing.T, r *rand.Rand, n, d, targets int, weighted bool) (rows *sparseRows, x, y [][]float64) {
	t.Helper()
	rows = &sparseRows{targets: targets}
	rows.x.Cols, rows.x.RowPtr = d, []int{0}
	for i := range n {
		line, of := make([]float64, d), make([]float64, targets)
		for j := range line {
			if r.IntN(4) == 0 {
				line[j] = r.NormFloat64() * math.Exp2(float64(r.IntN(8)))
				rows.x.ColIdx, rows.x.Val = append(rows.x.ColIdx, int32(j)), append(rows.x.Val, line[j])
			}
		}
		for j := range of {
			of[j] = line[j%d] + r.NormFloat64()
		}
		rows.x.RowPtr = append(rows.x.RowPtr, len(rows.x.Val))
		rows.x.Rows++
		w := 1.0
		if weighted && i > 2 {
			w = []float64{0, 0.5, 3}[r.IntN(3)]
		}
		rows.y, rows.w = append(rows.y, of...), append(rows.w, w)
		x, y = append(x, line), append(y, of)
	}
	return rows, x, y
}

// TestSparseCV: the cross-validated errors of exact solutions, found by leaving each fold out in
// arithmetic of hundreds of bits, are within their brackets, which are narrow; and γ is the least.
func TestSparseCV(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 1))
	for range 6 {
		const n, d, folds = 23, 31, 4
		weighted, intercept := r.IntN(2) == 0, r.IntN(2) == 0
		rows, x, y := drawSparse(t, r, n, d, 2, weighted)
		opts := &Options{Intercept: intercept, Folds: folds, Tol: 1e-8, Candidates: []float64{0.01, 1, 30, 1e5}}
		opts.complete()
		choice, err := (&sparseFit{rows: rows, opts: opts}).choose(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sums := make([]float64, len(opts.Candidates))
		for i, gamma := range opts.Candidates {
			for j := range 2 {
				want, _ := leftOutScore(t, rows, x, y, j, folds, gamma, intercept).Float64()
				got := choice.Scores[i][j]
				if !(got.Lo <= want*(1+1e-15) && want <= got.Hi*(1+1e-15)) || !(got.Hi-got.Lo <= 1e-4*want) {
					t.Errorf("γ = %g, target %d: %v, is %g", gamma, j, got, want)
				}
				sums[i] += want
			}
		}
		for i, v := range sums {
			if v < sums[choice.Index]*(1-1e-4) {
				t.Errorf("γ = %g has %g, %g was chosen, which has %g", opts.Candidates[i], v, choice.Gamma(), sums[choice.Index])
			}
		}
	}
}

// leftOutScore is the cross-validated error of target j: of exact solutions without each fold.
func leftOutScore(t *testing.T, rows *sparseRows, x, y [][]float64, j, folds int, gamma float64, intercept bool) *big.Float {
	t.Helper()
	number := func() *big.Float { return new(big.Float).SetPrec(refbig.Prec) }
	score, weight := number(), number()
	for k := range folds {
		var cx, cy [][]float64
		var cw []float64
		for p := range x {
			if p%folds != k {
				cx, cy, cw = append(cx, x[p]), append(cy, y[p]), append(cw, rows.w[p])
			}
		}
		s, err := refbig.New(cx, cy, cw, intercept).Solve(gamma)
		if err != nil {
			t.Fatal(err)
		}
		for p := k; p < len(x); p += folds {
			miss := number().Sub(refbig.Float(y[p][j]), s.Intercept[j])
			for q, v := range x[p] {
				miss.Sub(miss, number().Mul(refbig.Float(v), s.Coef[j][q]))
			}
			score.Add(score, miss.Mul(miss.Mul(miss, miss), refbig.Float(rows.w[p])))
			weight.Add(weight, refbig.Float(rows.w[p]))
		}
	}
	return score.Quo(score, weight)
}

// TestSparseCVUnderflow: so are errors whose squares, or their products with weights, are no normal
// numbers or none at all.
func TestSparseCVUnderflow(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 3))
	for _, c := range []struct{ target, weight float64 }{{0x1p-500, 1}, {0x1p-536, 1}, {0x1p-540, 4096}, {0x1p-560, 1}, {0x1p-530, 0x1p-30}, {0x1p10, 0x1p-1074}, {0x1p-700, 0x1p300}} {
		const folds, gamma = 3, 1
		rows, x, y := drawSparse(t, r, 12, 9, 1, true)
		for i := range y {
			y[i][0] *= c.target
			rows.y[i], rows.w[i] = y[i][0], rows.w[i]*c.weight
		}
		opts := &Options{Folds: folds, Tol: 1e-8, Candidates: []float64{gamma}}
		opts.complete()
		choice, err := (&sparseFit{rows: rows, opts: opts}).choose(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want, got := leftOutScore(t, rows, x, y, 0, folds, gamma, false), choice.Scores[0][0]
		if !(want.Cmp(refbig.Float(got.Lo)) >= 0 && want.Cmp(refbig.Float(got.Hi)) <= 0) {
			t.Errorf("targets times %g, weights times %g: %v, is %.5g", c.target, c.weight, got, want)
		}
	}
}

// TestSparseFolds: the folds are all rows, and each once.
func TestSparseFolds(t *testing.T) {
	rows, _, _ := drawSparse(t, rand.New(rand.NewPCG(27, 2)), 10, 6, 1, true)
	seen := 0
	for k := range 3 {
		rest, held := rows.split(k, 3)
		if rest.x.Rows+held.x.Rows != 10 || len(rest.x.Val)+len(held.x.Val) != len(rows.x.Val) {
			t.Errorf("fold %d: %d and %d rows", k, rest.x.Rows, held.x.Rows)
		}
		seen += held.x.Rows
		for i := range held.x.Rows {
			if held.y[i] != rows.y[k+3*i] || held.w[i] != rows.w[k+3*i] {
				t.Errorf("row %d of fold %d is another one", i, k)
			}
		}
	}
	if seen != 10 {
		t.Errorf("%d rows are held out", seen)
	}
	if _, err := (&sparseFit{rows: rows, opts: &Options{Folds: 11}}).choose(t.Context()); err == nil {
		t.Error("eleven folds of ten rows")
	}
	if src, err := rows.source(); err != nil || dataset.Once(src) {
		t.Errorf("%v", err)
	}
}
